// Writes the text form, declared in text.h.
#include <algorithm>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/layout.h"
#include "compiler/ir/literal.h"
#include "compiler/ir/shapes.h"
#include "compiler/ir/text.h"

namespace kiln::compiler {
namespace {

std::string quoted(std::string_view s) {
  std::string out = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n' || c == '\t')
      out += c == '\n' ? "\\n" : "\\t";
    else
      out += c;
  }
  return out + "\"";
}

std::string_view direction_name(Direction d) {
  switch (d) {
    case Direction::in: return "in";
    case Direction::out: return "out";
    case Direction::inout: return "inout";
    case Direction::state: return "state";
  }
  return {};
}

class Writer {
 public:
  Writer(const Graph& g, TextOptions options) : g_(g), options_(options) {}

  std::string take() { return std::move(out_); }

  void line(std::string_view s) {
    out_ += s;
    out_ += '\n';
  }

  std::string type(Id id) const {
    std::string t(name(g_.dtype(id)));
    if (g_.lanes(id) != 1) t += "x" + std::to_string(g_.lanes(id));
    return t;
  }
  std::string ref(Id id) const { return "%" + std::to_string(numbers_.at(id)); }

  // An extent or offset in a list: infix if that reads back to the same node.
  std::string extent(Id id) const {
    auto t = index_text(g_, id);
    return t ? *t : ref(id);
  }
  std::string extents(std::span<const Id> list) const {
    std::string s = "[";
    for (std::size_t i = 0; i < list.size(); ++i) s += (i > 0 ? ", " : "") + extent(list[i]);
    return s + "]";
  }
  static std::string numbers(std::span<const std::int64_t> list) {
    std::string s = "[";
    for (std::size_t i = 0; i < list.size(); ++i) s += (i > 0 ? ", " : "") + std::to_string(list[i]);
    return s + "]";
  }
  std::string operand(Id id) const {
    if (g_.dtype(id) != DType::index) return ref(id);
    auto t = index_text(g_, id);
    return t ? "(" + *t + ")" : ref(id);
  }
  std::string operands(std::span<const Id> list) const {
    std::string s;
    for (std::size_t i = 0; i < list.size(); ++i) s += (i > 0 ? ", " : "") + operand(list[i]);
    return s;
  }
  std::string location(Id id) const { return location(g_.loc(id)); }
  std::string location(SourceLoc l) const {
    if (!options_.locations || (l.file == 0 && l.line == 0)) return {};
    return " @ " + quoted(g_.string(l.file)) + ":" + std::to_string(l.line) + ":" + std::to_string(l.column);
  }

  void number(Id id) {
    if (numbers_.size() < g_.size()) numbers_.resize(g_.size(), no_id);
    numbers_[id] = next_++;
  }
  bool numbered(Id id) const { return id < numbers_.size() && numbers_[id] != no_id; }

  void symbols_and_params(const Program& p);
  void generic_node(Id id);
  std::string generic_args(Id id) const;
  void generic_nodes(std::span<const Id> roots);
  void tensor_nodes(const Program& p, Shapes& shapes);
  void tensor_node(Id id, Shapes& shapes);
  std::string tensor_operands(Id id) const;

 private:
  const Graph& g_;
  TextOptions options_;
  std::vector<Id> numbers_;
  Id next_ = 0;
  std::string out_;
};

void Writer::symbols_and_params(const Program& p) {
  for (const Symbol& s : p.symbols) {
    if (s.kind == Symbol::Kind::stride) continue;  // the parameter's line implies it
    line("symbol " + s.name + " min " + std::to_string(s.min) +
         (s.min_needed_at.empty() ? "" : " needed_at " + quoted(s.min_needed_at)) + " max " + std::to_string(s.max) +
         " multiple_of " + std::to_string(s.multiple_of) +
         (s.kind == Symbol::Kind::counter   ? " counter"
          : s.kind == Symbol::Kind::count   ? " count"
          : s.kind == Symbol::Kind::element ? " element " + std::to_string(s.buffer)
                                            : ""));
  }
  for (const Parameter& q : p.params)
    line(std::string(direction_name(q.direction)) + " " + std::string(name(q.dtype)) + " " + extents(q.extents) +
         layout_text(q) + " " + q.name);
  for (const DataCheck& c : p.checks) line("check " + quoted(c.text) + location(c.loc));
}

std::string Writer::generic_args(Id id) const {
  const auto args = g_.args(id);
  const Op op = g_.op(id);
  if (args.empty()) return {};
  std::string s = " {";
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (i > 0) s += ", ";
    const std::int64_t a = args[i];
    const auto u = static_cast<std::uint64_t>(a);
    const bool over_ranges = op == Op::REDUCE && !g_.src(id).empty() && g_.op(g_.src(id).back()) == Op::RANGE;
    if (op == Op::CONST && i == 0)
      s += literal_text(g_.dtype(id), u);
    else if (op == Op::RANGE && i == 1 && u < 6)
      s += name(g_.range_kind(id));
    else if (op == Op::SCAN && i == 0 && u <= static_cast<std::uint64_t>(ReduceKind::min))
      s += name(g_.scan_kind(id));
    else if (op == Op::REDUCE && i == 0 && u <= static_cast<std::uint64_t>(ReduceKind::dot))
      s += name(g_.reduce_kind(id));
    else if (over_ranges && i == 1 && u < 2)
      s += a == 0 ? "sequential" : "striped";
    else if (op == Op::PAD && i == 0 && u < 4)
      s += name(g_.pad_mode(id));
    else if (op == Op::ATOMIC && i == 0 && u < 8)
      s += name(g_.atomic_kind(id));
    else
      s += std::to_string(a);
  }
  return s + "}";
}

void Writer::generic_node(Id id) {
  std::string sources;
  for (Id s : g_.src(id)) sources += (sources.empty() ? " " : ", ") + ref(s);
  number(id);
  line(ref(id) + " = " + std::string(name(g_.op(id))) + " " + type(id) + generic_args(id) + sources +
       (g_.name(id).empty() ? "" : " " + quoted(g_.name(id))) + location(id));
}

void Writer::generic_nodes(std::span<const Id> roots) {
  for (Id id : g_.reachable(roots)) generic_node(id);
}

// The text of a tensor-level node behind its type and shape.
std::string Writer::tensor_operands(Id id) const {
  const auto src = g_.src(id);
  const auto args = g_.args(id);
  switch (g_.op(id)) {
    case Op::CONST: return literal_text(g_.dtype(id), static_cast<std::uint64_t>(args[0]));
    case Op::PARAM:
    case Op::SYM: return std::string(g_.name(id));
    case Op::IOTA: return {};
    case Op::RESHAPE:
    case Op::EXPAND: return ref(src[0]);
    case Op::PERMUTE: return ref(src[0]) + ", axes " + numbers(args);
    case Op::SLICE: return ref(src[0]) + ", begin " + extents(src.subspan(1, args.size())) + ", step " + numbers(args);
    case Op::PAD:
      return ref(src[0]) + ", " + ref(src[1]) + ", before " + extents(src.subspan(2, (src.size() - 2) / 2)) + ", mode " +
             std::string(name(g_.pad_mode(id)));
    case Op::SHEAR:
    case Op::UNSHEAR: return ref(src[0]) + ", axes " + numbers(args.first(2)) + ", step " + numbers(args.subspan(2));
    case Op::GRADIENT:
    case Op::TANGENT:
    case Op::LAPLACIAN: return operands(src) + (args.empty() ? "" : ", or_zero");
    case Op::MARK: return ref(src[0]) + ", " + std::string(name(g_.mark_kind(id))) + ", id " + std::to_string(args[1]);
    case Op::CUSTOM: return operands(src) + ", id " + std::to_string(args[0]);
    case Op::COTANGENT: return "id " + std::to_string(args[0]);
    case Op::CONCAT: return operands(src) + ", axis " + std::to_string(args[0]);
    case Op::REDUCE: return operands(src) + ", " + std::string(name(g_.reduce_kind(id))) + ", axes " + numbers(args.subspan(1));
    case Op::SCAN:
      return operands(src) + ", " + std::string(name(g_.scan_kind(id))) + ", axis " + std::to_string(args[1]) +
             (args[2] != 0 ? ", exclusive" : "") + (args[3] != 0 ? ", reversed" : "");
    case Op::RANGE:
      return operands(src) + ", id " + std::to_string(args[0]) +
             (g_.range_kind(id) == RangeKind::workgroup ? ", workgroup" : "");
    case Op::LOCAL: return ref(src[0]) + ", id " + std::to_string(args[0]);
    case Op::CARRY:
    case Op::GET: return operands(src) + ", slot " + std::to_string(args[0]);
    case Op::UPDATE: return operands(src) + (args.empty() ? "" : ", unique");
    case Op::ATOMIC: return operands(src) + ", " + std::string(name(g_.atomic_kind(id)));
    case Op::FOR:
      return operands(src) + (args[1] != 1 ? ", step " + std::to_string(args[1]) : "") + (args.size() > 2 ? ", while" : "");
    default: return operands(src);
  }
}

void Writer::tensor_node(Id id, Shapes& shapes) {
  const std::string body = tensor_operands(id);
  const auto shape = shapes(id);
  // A derived extent may be too long to write (the sum of a CONCAT). The text then leaves the shape out, and the reader derives
  // it.
  const bool writable = std::ranges::all_of(shape, [&](Id e) { return numbered(e) || index_text(g_, e); });
  number(id);
  const DType d = g_.dtype(id);
  line(ref(id) + " = " + std::string(name(g_.op(id))) + (d == DType::none ? "" : " " + type(id)) +
       (d >= DType::index || !writable ? std::string() : " " + extents(shape)) + (body.empty() ? "" : " " + body) +
       location(id));
}

void Writer::tensor_nodes(const Program& p, Shapes& shapes) {
  std::vector<Id> early, roots;  // early: nodes for the extents of parameters, which must come before the parameters
  for (const Parameter& q : p.params)
    for (Id e : q.extents)
      if (!index_text(g_, e)) early.push_back(e);
  const std::vector<Id> stores = p.sink == no_id ? std::vector<Id>{} : g_.sources(p.sink);
  for (Id s : stores) roots.push_back(g_.src(s, 1));
  const auto emit = [&](std::span<const Id> from) {
    // Index nodes are written as text inside their users if possible. Only other nodes get a line.
    const auto all = g_.reachable(from);
    std::vector<bool> needed(g_.size(), false);
    for (Id r : from) needed[r] = true;
    for (auto it = all.rbegin(); it != all.rend(); ++it) {
      if (needed[*it] && g_.dtype(*it) == DType::index && index_text(g_, *it)) needed[*it] = false;
      if (!needed[*it]) continue;
      for (Id s : g_.src(*it)) needed[s] = true;
    }
    for (Id id : all)
      if (needed[id] && !numbered(id)) tensor_node(id, shapes);
  };
  if (!early.empty()) emit(early);
  symbols_and_params(p);
  emit(roots);
  for (Id s : stores) line("store " + std::string(g_.name(g_.src(s, 0))) + ", " + ref(g_.src(s, 1)) + location(s));
}

}  // namespace

std::string write_program(Graph& g, const Program& p, TextOptions options) {
  Shapes shapes(g);
  if (p.sink != no_id) {  // derives every shape now, because that may create nodes and the writer needs a fixed graph
    for (Id id : g.reachable(p.sink)) shapes(id);
  }
  Writer w(g, options);
  w.line("program " + p.name);
  w.tensor_nodes(p, shapes);
  return w.take();
}

std::string write_nodes(const Graph& g, std::span<const Id> roots, TextOptions options) {
  Writer w(g, options);
  w.line("nodes");
  w.generic_nodes(roots);
  for (Id r : roots) w.line("root " + w.ref(r));
  return w.take();
}

std::string write_schedule(const Graph& g, const Schedule& s, TextOptions options) {
  Writer w(g, options);
  std::vector<Id> roots;
  for_each_node(s, [&](Id id) {
    if (id != no_id) roots.push_back(id);
  });
  w.line("schedule " + s.program.name + (s.after.empty() ? "" : " after " + s.after));
  w.generic_nodes(roots);
  w.symbols_and_params(s.program);
  if (s.program.sink != no_id) w.line("sink " + w.ref(s.program.sink));
  const auto list = [](const auto& v) { return Writer::numbers(std::vector<std::int64_t>(v.begin(), v.end())); };
  const auto entry = [&](const char* key, Id id) { return id == no_id ? "" : key + w.ref(id); };
  const auto number = [](const char* key, int n, int none) { return n == none ? "" : key + std::to_string(n); };
  for (const Buffer& b : s.buffers)
    w.line("buffer " + std::string(name(b.dtype)) + " size " + w.ref(b.size) +
           (b.param >= 0 ? " param " + std::to_string(b.param) : "") + (b.whole ? " whole" : "") + entry(" tile ", b.tile) +
           entry(" tile_storage ", b.tile_storage) + entry(" offset ", b.offset) + number(" after ", b.after, -1) +
           (b.among.empty() ? "" : " among " + list(b.among)) + entry(" count ", b.count));
  const auto lowered = [&](std::size_t i) {
    if (s.lowered.empty()) return std::string();
    const LoweredKernel& l = s.lowered[i];
    return " trip_count " + w.ref(l.trip_count) + " work " + w.ref(l.work) + " alignment " + std::to_string(l.alignment) +
           (l.parallel ? " parallel" : " serial");
  };
  for (const HostLoop& l : s.loops)
    w.line("loop" + number(" in ", l.parent, -1) + entry(" counter ", l.counter) + " begin " + w.ref(l.begin) + " end " +
           w.ref(l.end) + " step " + std::to_string(l.step) + number(" while ", l.condition, -1) + entry(" count ", l.count));
  for (const Segment& p : s.segments)
    w.line("segment" + entry(" sink ", p.sink) + " reads " + list(p.reads) + " writes " + list(p.writes) +
           number(" in ", p.loop, -1));
  for (std::size_t i = 0; i < s.kernels.size(); ++i) {
    const Kernel& k = s.kernels[i];
    w.line("kernel " + (k.name.empty() ? "_" : k.name) + " sink " + w.ref(k.sink) + " buffers " + list(k.buffers) +
           " depends_on " + list(k.depends_on) + (k.is_explicit ? " explicit" : "") +
           (k.at_entry ? " at_entry " + list(*k.at_entry) : "") + number(" segment ", k.segment, 0) +
           number(" in ", k.loop, -1) + lowered(i));
  }
  if (s.workspace_bytes != no_id) w.line("workspace " + w.ref(s.workspace_bytes));
  return w.take();
}

}  // namespace kiln::compiler
