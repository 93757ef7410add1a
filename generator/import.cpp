#include "generator/import.h"

#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/call_symbols.h"
#include "compiler/ir/compact.h"
#include "compiler/ir/layout.h"
#include "compiler/ir/literal.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/verify.h"
#include "generator/import_scopes.h"

namespace kiln::generator {
namespace {

using namespace compiler;

constexpr std::string_view record_names[] = {
#define KILN_X(n) #n,
    KILN_RECORD_OPS(KILN_X)
#undef KILN_X
};

// The IR's operation of the same name. The record's `and_` is the IR's `and`.
std::optional<Op> ir_op(record::op o) {
  std::string_view n = nth(record_names, o);
  if (n.ends_with('_')) n.remove_suffix(1);
  return op_from_name(n);
}

// The kinds of the record become kinds of the IR by number.
#define KILN_X(n) static_assert(static_cast<int>(record::reduce_kind::n) == static_cast<int>(ReduceKind::n));
KILN_REDUCE_KINDS(KILN_X)
#undef KILN_X
#define KILN_X(n) static_assert(static_cast<int>(record::pad_mode::n) == static_cast<int>(PadMode::n));
KILN_PAD_MODES(KILN_X)
#undef KILN_X
#define KILN_X(n) static_assert(static_cast<int>(record::atomic_kind::n) == static_cast<int>(AtomicKind::n));
KILN_ATOMIC_KINDS(KILN_X)
#undef KILN_X
#define KILN_X(n) static_assert(static_cast<int>(record::mark_kind::n) == static_cast<int>(MarkKind::n));
KILN_MARK_KINDS(KILN_X)
#undef KILN_X

std::uint64_t canonical_bits(DType d, std::uint64_t v) {
  const int unused = 64 - (d == DType::boolean ? 8 : bits(d));
  if (is_signed_int(d)) return static_cast<std::uint64_t>(static_cast<std::int64_t>(v << unused) >> unused);
  return v << unused >> unused;
}

class Importer {
 public:
  Importer(Graph& g, const record::program& p) : g_(g), build_(g), in_(p), read_(g, p), scopes_(g, build_, read_, p, out_) {}

  Program import() {
    locate(in_.loc);
    build_.infer_minimums();
    out_.name = in_.name;
    for (int i = 0; i < in_.n_symbols; ++i) symbol(in_.symbols[i]);
    for (int i = 0; i < in_.n_params; ++i) parameter(in_.params[i]);
    for (int i = 0; i < in_.n_checks; ++i) check(in_.checks[i]);
    locate(in_.loc);
    if (in_.n_checks > 0) out_.params.push_back({check_parameter, Direction::inout, DType::i32, {}, g_.loc()});
    declare_strides(out_);
    scopes_.begin();
    store_loc_.resize(out_.params.size());
    const auto used = used_nodes();
    values_.reserve(used.size());
    for (int i = 0; i < in_.n_nodes; ++i) {
      locate(in_.nodes[i].loc);
      const bool is_dead = in_.nodes[i].o == record::op::element && !nth(used, i);
      values_.push_back(is_dead ? no_id : node(i, nth(used, i)));
      scopes_.made(i, values_.back());
    }
    finish();
    locate(in_.loc);
    build_.apply_minimums(out_);
    check_call(g_, out_);
    return std::move(out_);
  }

 private:
  // By node: whether another node uses it. `t(i) = v` also records a read of t(i), which no node uses.
  std::vector<bool> used_nodes() const {
    std::vector<bool> used(narrow<std::size_t>(in_.n_nodes));
    for (int i = 0; i < in_.n_nodes; ++i)
      for (int k = 0; k < in_.nodes[i].n_sources; ++k) nth(used, in_.sources[in_.nodes[i].source_begin + k]) = true;
    return used;
  }

  void locate(const record::source_loc& l) { g_.set_loc({g_.intern(l.file == nullptr ? "" : l.file), l.line, l.column}); }

  void symbol(const record::symbol& s) {
    out_.symbols.push_back({s.name, s.min, s.max, s.multiple_of});
    build_.declare(out_.symbols.back());
  }

  void parameter(const record::parameter& p) {
    out_.params.push_back(
        {p.name, static_cast<Direction>(p.direction), ir_dtype(p.d), extents(*p.s), g_.loc(), p.free_strides});
  }

  void check(const record::check& c) {
    locate(c.loc);
    out_.checks.push_back({c.text, g_.loc()});
  }

  Id extent(const record::extent& e) { return read_.extent(e); }
  std::vector<Id> extents(const record::shape& s) { return read_.extents(s); }
  std::vector<std::int64_t> numbers(const record::node& n, int from, int count) const { return read_.numbers(n, from, count); }
  std::vector<Id> attr_extents(const record::node& n, int count) { return read_.extents(n, count); }
  std::vector<Id> sources(const record::node& n) {
    std::vector<Id> out;
    for (int i = 0; i < n.n_sources; ++i) out.push_back(value(in_.sources[n.source_begin + i]));
    return out;
  }

  Id value(int position);
  Id store(std::size_t slot, Id value);
  Id node(int position, bool is_used);
  Id movement(Op op, const record::node& n, std::span<const Id> src);
  Id roll(const record::node& n, Id x);
  Id reduce(const record::node& n, std::span<const Id> src);
  Id derivative(const record::node& n, std::span<const Id> src);
  Id scan(const record::node& n, std::span<const Id> src);
  void finish();

  Graph& g_;
  Builder build_;
  const record::program& in_;
  Program out_;
  RecordReader read_;
  ScopeImporter scopes_;
  std::vector<Id> values_;
  std::vector<SourceLoc> store_loc_;
};

// The value of a node. A value from another barrier interval of a kernel with workgroups is loaded if it is kept. Otherwise it
// is computed again, with the cheap values that it depends on.
Id Importer::value(int position) {
  if (!scopes_.is_elsewhere(position)) return nth(values_, position);
  if (scopes_.brought(position) != no_id) return scopes_.brought(position);
  std::set<int> again{position};
  for (auto it = again.rbegin(); it != again.rend(); ++it) {
    if (!scopes_.is_cheap(*it)) continue;
    const record::node& n = in_.nodes[*it];
    for (int i = 0; i < n.n_sources; ++i)  // sources have smaller numbers, so the walk reaches them
      if (const int s = in_.sources[n.source_begin + i]; scopes_.is_elsewhere(s) && scopes_.brought(s) == no_id)
        again.insert(s);
  }
  const LocScope restored(g_);
  for (const int i : again) {
    locate(in_.nodes[i].loc);
    scopes_.brought(i, scopes_.is_cheap(i) ? node(i, true) : scopes_.saved(i));
  }
  return scopes_.brought(position);
}

Id Importer::store(std::size_t slot, Id value) {
  const Parameter& p = out_.params.at(slot);
  const Id node = build_.store(build_.param(slot, p), p, value);  // checks the value, and may broadcast it
  scopes_.assign(slot, g_.src(node, 1));
  store_loc_[slot] = g_.loc();
  return scopes_.assigned(slot);
}

Id Importer::movement(Op op, const record::node& n, std::span<const Id> src) {
  switch (op) {
    case Op::RESHAPE: return build_.reshape(src[0], extents(*n.s));
    case Op::EXPAND: return build_.expand(src[0], extents(*n.s));
    case Op::PERMUTE: return build_.permute(src[0], numbers(n, 0, n.n_attrs));
    case Op::SLICE: {
      const auto begin = attr_extents(n, n.n_attrs / 2), shape = extents(*n.s);
      return build_.slice(src[0], begin, numbers(n, n.n_attrs / 2, n.n_attrs / 2), shape);
    }
    case Op::PAD: {
      const auto mode = static_cast<PadMode>(numbers(n, n.n_attrs - 1, 1)[0]);
      const auto before = attr_extents(n, n.n_attrs - 1), shape = extents(*n.s);
      return build_.pad(src[0], src[1], mode, before, shape);
    }
    default: return build_.concat(src, numbers(n, 0, 1)[0]);
  }
}

// Pads one side of the axis by wrapping, then cuts the axis to the old extent. The width is taken modulo max(n, 1), which is
// valid for n = 0 too.
Id Importer::roll(const record::node& n, Id x) {
  const auto numbers = this->numbers(n, 0, 2);
  const auto axis = narrow<std::size_t>(numbers[0]);
  const std::int64_t shift = numbers[1];
  const std::vector<Id> shape = build_.shape_of(x);
  const Id size = index_max(g_, shape[axis], g_.index(1));
  const Id width = index_floormod(g_, g_.index(shift < 0 ? -shift : shift), size);
  if (g_.is_index_const(width, 0)) return x;
  std::vector<Id> before(shape.size(), g_.index(0)), begin = before, padded = shape;
  (shift < 0 ? begin : before)[axis] = width;
  padded[axis] = index_add(g_, shape[axis], width);
  const Id fill = build_.constant(g_.dtype(x), 0);
  const Id wrapped = build_.pad(x, fill, PadMode::wrap, before, padded);
  return build_.slice(wrapped, begin, std::vector<std::int64_t>(shape.size(), 1), shape);
}

Id Importer::reduce(const record::node& n, std::span<const Id> src) {
  const auto kind = static_cast<ReduceKind>(numbers(n, 0, 1)[0]);
  const auto axes = numbers(n, 1, n.n_attrs - 1);
  return operands_of(kind) == 2 ? build_.reduce(kind, src[0], src[1], axes) : build_.reduce(kind, src[0], axes);
}

Id Importer::derivative(const record::node& n, std::span<const Id> src) {
  const bool or_zero = (n.imm & record::unused_is_zero) != 0;
  const auto number = narrow<std::int64_t>(n.imm & 0xffffffffu);
  switch (n.o) {
    case record::op::gradient: return build_.gradient(src[0], src[1], src[2], or_zero);
    case record::op::tangent: return build_.tangent(src[0], src.subspan(1), or_zero);
    case record::op::laplacian: return build_.laplacian(src[0], src[1], or_zero);
    case record::op::cotangent: return build_.cotangent(ir_dtype(n.d), extents(*n.s), number);
    case record::op::custom:
      return build_.custom(src[0], src.subspan(1, src.size() / 2), src.subspan(1 + src.size() / 2), number);
    default: {
      const auto kind = static_cast<record::mark_kind>(n.imm >> 32);
      return kind == record::mark_kind::straight ? build_.straight(src[0], src[1])
                                                 : build_.mark(src[0], static_cast<MarkKind>(kind), number);
    }
  }
}

Id Importer::scan(const record::node& n, std::span<const Id> src) {
  const auto a = numbers(n, 0, 4);
  return build_.scan(static_cast<ReduceKind>(a[0]), src[0], a[1], a[2] != 0, a[3] != 0);
}

Id Importer::node(int position, bool is_used) {
  const record::node& n = in_.nodes[position];
  const DType d = ir_dtype(n.d);
  const auto src = sources(n);
  if (ScopeImporter::handles(n.o)) return scopes_.node(position, src, is_used);
  Id id = no_id;
  switch (n.o) {
    case record::op::param: return scopes_.whole(n.imm);
    case record::op::store: return store(n.imm, src.at(0));
    case record::op::constant: id = build_.constant(d, canonical_bits(d, n.imm)); break;
    case record::op::dim: id = build_.extent_value(d, attr_extents(n, 1)[0]); break;
    case record::op::iota: id = build_.iota(d, extent(n.s->extents[0])); break;
    case record::op::roll: id = roll(n, src.at(0)); break;
    case record::op::shear: {
      const auto a = numbers(n, 0, 4);
      id = build_.shear(src[0], a[0], a[1], a[2], a[3], extent(n.s->extents[a[1]]));
      break;
    }
    case record::op::reduce: id = reduce(n, src); break;
    case record::op::scan: id = scan(n, src); break;
    case record::op::stage: id = build_.stage(src[0]); break;
    case record::op::gradient:
    case record::op::tangent:
    case record::op::mark:
    case record::op::custom:
    case record::op::laplacian:
    case record::op::cotangent: id = derivative(n, src); break;
    default: {
      const auto op = ir_op(n.o);
      if (!op) throw std::logic_error("an operation of the record tables that the IR does not have");
      id = is_movement(*op) ? movement(*op, n, src) : build_.elementwise(*op, src, d);
    }
  }
  const auto shape = build_.shape_of(id), recorded = n.s != nullptr ? extents(*n.s) : shape;
  if (g_.dtype(id) != d || shape != recorded)
    throw std::logic_error(where(g_, g_.loc()) + ": `" + std::string(name(g_.op(id))) + "` was recorded as " +
                           std::string(name(d)) + " " + build_.shape_text(recorded) + " but is " +
                           std::string(name(g_.dtype(id))) + " " + build_.shape_text(shape));
  return id;
}

void Importer::finish() {
  std::vector<Id> effects;
  for (std::size_t slot = 0; slot < out_.params.size(); ++slot) {
    const Parameter& p = out_.params[slot];
    g_.set_loc(store_loc_[slot].line != 0 ? store_loc_[slot] : p.loc);
    if (const Id now = scopes_.assigned(slot); now != no_id) effects.push_back(build_.store(build_.param(slot, p), p, now));
  }
  out_.sink = build_.sink(out_.params, effects);
}

}  // namespace

compiler::Program import_program(compiler::Graph& g, const record::program& p) {
  compiler::Schedule out;
  out.program = Importer(g, p).import();
  compiler::verify(g, out.program);
  g = compiler::in_order(g, out);
  return std::move(out.program);
}

}  // namespace kiln::generator
