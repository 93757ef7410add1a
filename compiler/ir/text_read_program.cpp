// Reads programs at tensor level. The checked Builder makes the nodes; types and shapes in the text must equal the derived
// ones.
#include <optional>

#include "compiler/ir/call_symbols.h"
#include "compiler/ir/literal.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/text.h"
#include "compiler/ir/text_reader.h"

namespace kiln::compiler {
namespace {

// The parts of one line. The node is built at the end of the line.
struct Statement {
  Op op = Op::CONST;
  std::optional<DType> dtype;
  std::optional<std::vector<Id>> shape;
  std::vector<Id> operands;
  std::optional<std::vector<Id>> begin, before;
  std::optional<std::vector<std::int64_t>> step, axes;
  std::optional<std::int64_t> axis, id, slot, loop_step;
  std::optional<PadMode> mode;
  std::optional<ReduceKind> kind;
  std::optional<AtomicKind> atomic;
  std::optional<MarkKind> mark;
  bool or_zero = false, conditional = false, workgroup = false, unique = false, exclusive = false, reversed = false;
  std::uint64_t bits = 0;
  std::string name;
};

class ProgramReader {
 public:
  ProgramReader(Graph& g, std::string_view text, std::string_view file) : r_(g, text, file) { r_.build.infer_minimums(); }

  Program read() {
    r_.program.name = r_.header("program", true);
    while (r_.scan.next_statement()) {
      const auto w = r_.scan.peek_word();
      if (r_.symbol_or_param(w)) continue;
      if (w == "store")
        store();
      else
        node();
    }
    r_.build.apply_minimums(r_.program);
    check_call(r_.graph, r_.program);
    r_.program.sink = r_.build.sink(r_.program.params, stores_);
    return std::move(r_.program);
  }

 private:
  void store();
  void node();
  void attribute(Statement& s);
  void body(Statement& s);
  Id make(const Statement& s);
  Id make_movement(const Statement& s);
  Id make_shear(const Statement& s);
  Id make_derivative(const Statement& s);
  Id make_scope(const Statement& s);
  Id make_write(const Statement& s);
  void want(const Statement& s, std::size_t operands) const;
  void want_at_least(const Statement& s, std::size_t operands) const;
  template <class T>
  const T& need(const std::optional<T>& v, const Statement& s, const char* what) const {
    if (!v) r_.scan.reject("`" + std::string(kiln::compiler::name(s.op)) + "` expected " + what + ", got none");
    return *v;
  }

  TextReader r_;
  std::vector<Id> stores_;
};

void ProgramReader::store() {
  Scanner& s = r_.scan;
  s.accept_word("store");
  int slot = 0;
  const auto n = s.word("a parameter's name");
  const Parameter* p = r_.find_param(n, slot);
  if (p == nullptr) s.reject("expected a parameter declared above, got `" + std::string(n) + "`");
  s.expect(',');
  const Id value = r_.node();
  r_.location();
  for (Id other : stores_)
    if (r_.graph.name(r_.graph.state(other)) == n)
      s.reject("expected one store for each parameter, got `" + std::string(n) + "` again");
  stores_.push_back(r_.build.store(r_.build.param(slot, *p), *p, value));
}

void ProgramReader::attribute(Statement& s) {
  Scanner& c = r_.scan;
  if (c.accept_word("axes")) {
    s.axes = r_.number_list();
  } else if (c.accept_word("step")) {
    if (s.op == Op::FOR)
      s.loop_step = c.integer("a step");
    else
      s.step = r_.number_list();
  } else if (c.accept_word("begin")) {
    s.begin = r_.index_list();
  } else if (c.accept_word("before")) {
    s.before = r_.index_list();
  } else if (c.accept_word("axis")) {
    s.axis = c.integer("an axis");
  } else if (c.accept_word("mode")) {
    s.mode = pad_mode_from_name(c.peek_word());
    if (!s.mode) c.fail("constant, edge, reflect or wrap");
    c.accept_word(c.peek_word());
  } else if (c.accept_word("id")) {
    s.id = c.integer("an id");
  } else if (c.accept_word("slot")) {
    s.slot = c.integer("a slot");
  } else if (c.accept_word("while")) {
    s.conditional = true;
  } else if (s.op == Op::RANGE && c.accept_word("workgroup")) {
    s.workgroup = true;
  } else if (s.op == Op::UPDATE && c.accept_word("unique")) {
    s.unique = true;
  } else if (s.op == Op::ATOMIC && atomic_kind_from_name(c.peek_word())) {
    s.atomic = atomic_kind_from_name(c.peek_word());
    c.accept_word(c.peek_word());
  } else if (c.accept_word("or_zero")) {
    s.or_zero = true;
  } else if (s.op == Op::MARK && mark_kind_from_name(c.peek_word())) {
    s.mark = mark_kind_from_name(c.peek_word());
    c.accept_word(c.peek_word());
  } else if (s.op == Op::SCAN && c.accept_word("exclusive")) {
    s.exclusive = true;
  } else if (s.op == Op::SCAN && c.accept_word("reversed")) {
    s.reversed = true;
  } else if ((s.op == Op::REDUCE || s.op == Op::SCAN) && reduce_kind_from_name(c.peek_word())) {
    s.kind = reduce_kind_from_name(c.peek_word());
    c.accept_word(c.peek_word());
  } else {
    c.fail("an operand %n or (extent), or an attribute");
  }
}

void ProgramReader::body(Statement& s) {
  Scanner& c = r_.scan;
  if (s.op == Op::CONST) {
    s.bits = c.literal(need(s.dtype, s, "a type"));
  } else if (s.op == Op::PARAM || s.op == Op::SYM) {
    s.name = c.word("a name");
  } else if (!c.at_line_end() && c.peek() != '@') {
    do {
      if (c.peek() == '%') {
        s.operands.push_back(r_.node());
      } else if (c.accept('(')) {
        s.operands.push_back(r_.index());
        c.expect(')');
      } else {
        attribute(s);
      }
    } while (c.accept(','));
  }
}

void ProgramReader::node() {
  const std::uint64_t number = r_.definition();
  Statement s;
  s.op = r_.operation();
  int lanes = 1;
  if (r_.at_type()) s.dtype = r_.type(lanes);
  if (lanes != 1) r_.scan.reject("expected a type without lanes at tensor level");
  if (r_.scan.peek() == '[') s.shape = r_.index_list();
  body(s);
  r_.location();
  const Id id = make(s);
  if (s.dtype && *s.dtype != r_.graph.dtype(id))
    r_.scan.reject("expected the derived type " + std::string(name(r_.graph.dtype(id))) + ", got " +
                   std::string(name(*s.dtype)));
  if (s.shape) {
    const auto derived = r_.build.shape_of(id);
    if (derived != *s.shape)
      r_.scan.reject("expected the derived shape " + r_.build.shape_text(derived) + ", got " + r_.build.shape_text(*s.shape));
  }
  r_.define(number, id);
}

void ProgramReader::want(const Statement& s, std::size_t n) const {
  if (s.operands.size() != n)
    r_.scan.reject("`" + std::string(name(s.op)) + "` expected " + std::to_string(n) + " operands, got " +
                   std::to_string(s.operands.size()));
}

void ProgramReader::want_at_least(const Statement& s, std::size_t n) const {
  if (s.operands.size() < n)
    r_.scan.reject("`" + std::string(name(s.op)) + "` expected at least " + std::to_string(n) + " operands, got " +
                   std::to_string(s.operands.size()));
}

Id ProgramReader::make_shear(const Statement& s) {
  want(s, 1);
  const auto &axes = need(s.axes, s, "`axes [k, o]`"), &step = need(s.step, s, "`step [stride, dilation]`");
  const auto& shape = need(s.shape, s, "a shape");
  if (axes.size() != 2 || step.size() != 2 || axes[1] < 0 || axes[1] >= std::ssize(shape))
    r_.scan.reject("`" + std::string(name(s.op)) + "` expected two axes of its shape and two steps");
  const auto make = s.op == Op::SHEAR ? &Builder::shear : &Builder::unshear;
  return (r_.build.*make)(s.operands[0], axes[0], axes[1], step[0], step[1], nth(shape, axes[1]));
}

Id ProgramReader::make_derivative(const Statement& s) {
  Builder& b = r_.build;
  const std::span<const Id> operands = s.operands;
  switch (s.op) {
    case Op::GRADIENT: want(s, 3); return b.gradient(operands[0], operands[1], operands[2], s.or_zero);
    case Op::TANGENT: want_at_least(s, 3); return b.tangent(operands[0], operands.subspan(1), s.or_zero);
    case Op::LAPLACIAN: want(s, 2); return b.laplacian(operands[0], operands[1], s.or_zero);
    case Op::MARK: {
      want(s, 1);
      const MarkKind kind = need(s.mark, s, "a kind such as stop");
      return b.mark(operands[0], kind, need(s.id, s, "`id n`"));
    }
    case Op::STRAIGHT: want(s, 2); return b.straight(operands[0], operands[1]);
    case Op::CUSTOM: {
      want_at_least(s, 1);
      const std::size_t n = operands.size() / 2;
      return b.custom(operands[0], operands.subspan(1, n), operands.subspan(1 + n), need(s.id, s, "`id n`"));
    }
    default: {
      want(s, 0);
      const DType d = need(s.dtype, s, "a type");
      const auto& shape = need(s.shape, s, "a shape");
      return b.cotangent(d, shape, need(s.id, s, "`id n`"));
    }
  }
}

Id ProgramReader::make_movement(const Statement& s) {
  Builder& b = r_.build;
  if (s.op == Op::CONCAT) return b.concat(s.operands, need(s.axis, s, "`axis n`"));
  if (s.op == Op::PAD) {
    const PadMode mode = s.mode.value_or(PadMode::constant);
    auto operands = s.operands;
    if (operands.size() == 1) operands.push_back(b.constant(r_.graph.dtype(operands[0]), 0));
    if (operands.size() != 2) want(s, 2);
    const auto &before = need(s.before, s, "`before [...]`"), &shape = need(s.shape, s, "a shape");
    return b.pad(operands[0], operands[1], mode, before, shape);
  }
  want(s, 1);
  const Id x = s.operands[0];
  if (s.op == Op::PERMUTE) return b.permute(x, need(s.axes, s, "`axes [...]`"));
  const auto& shape = need(s.shape, s, "a shape");
  if (s.op == Op::RESHAPE) return b.reshape(x, shape);
  if (s.op == Op::EXPAND) return b.expand(x, shape);
  const auto& begin = need(s.begin, s, "`begin [...]`");
  return b.slice(x, begin, s.step ? *s.step : std::vector<std::int64_t>(begin.size(), 1), shape);
}

Id ProgramReader::make_scope(const Statement& s) {
  Builder& b = r_.build;
  const std::span<const Id> operands = s.operands;
  switch (s.op) {
    case Op::RANGE:
      want(s, 1);
      return b.range(operands[0], need(s.id, s, "`id n`"), s.workgroup ? RangeKind::workgroup : RangeKind::loop);
    case Op::LOCAL: {
      want(s, 1);
      const DType d = need(s.dtype, s, "a type");
      const auto& shape = need(s.shape, s, "a shape");
      return b.local(d, operands[0], shape, need(s.id, s, "`id n`"));
    }
    case Op::CARRY: want(s, 2); return b.carry(operands[0], operands[1], need(s.slot, s, "`slot n`"));
    case Op::GET: want(s, 1); return b.get(operands[0], need(s.slot, s, "`slot n`"));
    case Op::FOR: {
      want_at_least(s, 3);
      const std::size_t n = (operands.size() - 3) / 2;
      return b.loop(operands[0], operands[1], operands[2], operands.subspan(3, n), operands.subspan(3 + n),
                    s.loop_step.value_or(1), s.conditional);
    }
    default: {  // KERNEL
      std::size_t n = 0;
      while (n < operands.size() && r_.graph.op(operands[n]) == Op::RANGE) ++n;
      const std::size_t m = (operands.size() - n) / 2;
      return b.kernel(operands.first(n), operands.subspan(n, m), operands.subspan(n + m));
    }
  }
}

Id ProgramReader::make_write(const Statement& s) {
  Builder& b = r_.build;
  const std::span<const Id> operands = s.operands;
  switch (s.op) {
    case Op::INVALID: want(s, 0); return r_.graph.make(Op::INVALID, DType::index, {});
    case Op::INDEX: want_at_least(s, 1); return b.element(operands[0], operands.subspan(1));
    case Op::UPDATE: want_at_least(s, 3); return b.update(operands[0], operands[1], operands[2], operands.subspan(3), s.unique);
    case Op::OLD: want(s, 1); return b.old(operands[0]);
    default: {  // ATOMIC
      const AtomicKind kind = need(s.atomic, s, "a kind such as add");
      const bool expects = kind == AtomicKind::compare_exchange;
      want_at_least(s, expects ? 4 : 3);
      return b.atomic(kind, operands[0], operands[1], operands[2], operands.subspan(expects ? 4 : 3),
                      expects ? operands[3] : no_id);
    }
  }
}

Id ProgramReader::make(const Statement& s) {
  Builder& b = r_.build;
  if (s.op == Op::SHEAR || s.op == Op::UNSHEAR) return make_shear(s);
  if (is_movement(s.op)) return make_movement(s);
  if (is_derivative(s.op)) return make_derivative(s);
  if (s.op == Op::GATHER) return want_at_least(s, 2), b.gather(s.operands[0], std::span(s.operands).subspan(1));
  if (s.op == Op::STAGE) return want(s, 1), b.stage(s.operands[0]);
  if (is_elementwise(s.op)) {
    want(s, narrow<std::size_t>(arity(s.op)));
    const bool to = s.op == Op::CAST || s.op == Op::BITCAST;
    return b.elementwise(s.op, s.operands, to ? need(s.dtype, s, "a type") : DType::none);
  }
  switch (s.op) {
    case Op::CONST: return b.constant(*s.dtype, s.bits);
    case Op::PARAM: {
      int slot = 0;
      const Parameter* p = r_.find_param(s.name, slot);
      if (p == nullptr) r_.scan.reject("expected a parameter declared above, got `" + s.name + "`");
      return b.param(slot, *p);
    }
    case Op::IOTA: {
      const auto& shape = need(s.shape, s, "a shape");
      if (shape.size() != 1) r_.scan.reject("`iota` expected a shape of rank 1, got rank " + std::to_string(shape.size()));
      return b.iota(need(s.dtype, s, "a type"), shape[0]);
    }
    case Op::REDUCE: {
      const auto& axes = need(s.axes, s, "`axes [...]`");
      const ReduceKind kind = need(s.kind, s, "a kind such as sum");
      want(s, operands_of(kind));
      return operands_of(kind) == 2 ? b.reduce(kind, s.operands[0], s.operands[1], axes) : b.reduce(kind, s.operands[0], axes);
    }
    case Op::SCAN: {
      const std::int64_t axis = need(s.axis, s, "`axis n`");
      const ReduceKind kind = need(s.kind, s, "a kind such as sum");
      want(s, 1);
      return b.scan(kind, s.operands[0], axis, s.exclusive, s.reversed);
    }
    case Op::RANGE:
    case Op::LOCAL:
    case Op::CARRY:
    case Op::GET:
    case Op::FOR:
    case Op::KERNEL: return make_scope(s);
    case Op::INVALID:
    case Op::INDEX:
    case Op::UPDATE:
    case Op::ATOMIC:
    case Op::OLD: return make_write(s);
    default: r_.scan.reject("expected an operation of the tensor level, got `" + std::string(name(s.op)) + "`");
  }
}

}  // namespace

Program read_program(Graph& g, std::string_view text, std::string_view file) {
  const LocScope restored(g);
  Program p = ProgramReader(g, text, file).read();
  return p;
}

}  // namespace kiln::compiler
