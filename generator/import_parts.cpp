// Imports accesses to several elements, t(rows) or t(i) of a matrix. Inside a kernel the elements are accessed one by
// one. Outside, a read is a GATHER, and a write is a KERNEL over the elements. The KERNEL uses atomics, because the
// indices may name an element twice.
#include <algorithm>
#include <optional>

#include "compiler/ir/index_poly.h"
#include "generator/import_scopes.h"

namespace kiln::generator {

using namespace compiler;
using record::index_mode;

namespace {

// The atomic operation for `o`; nullopt: there is none. On integers the order of work items does not change its result. On
// floats the work items keep their order.
std::optional<AtomicKind> atomic_of(record::op o) {
  switch (o) {
    case record::op::add:
    case record::op::sub: return AtomicKind::add;
    case record::op::and_: return AtomicKind::bit_and;
    case record::op::or_: return AtomicKind::bit_or;
    case record::op::xor_: return AtomicKind::bit_xor;
    default: return std::nullopt;
  }
}

Op operation_of(record::op o) {
  switch (o) {
    case record::op::add: return Op::ADD;
    case record::op::sub: return Op::SUB;
    case record::op::mul: return Op::MUL;
    case record::op::fdiv: return Op::FDIV;
    case record::op::cdiv: return Op::CDIV;
    case record::op::cmod: return Op::CMOD;
    case record::op::and_: return Op::AND;
    case record::op::or_: return Op::OR;
    case record::op::xor_: return Op::XOR;
    case record::op::shl: return Op::SHL;
    default: return Op::SHR;
  }
}

}  // namespace

ScopeImporter::Part ScopeImporter::part(const record::node& n, const Tensor& t, std::span<const Id> src, std::size_t values) {
  Part p{index_mode_of(n), t, read_.extents(*n.s), {}, {}};
  p.values.assign(src.begin(), src.begin() + static_cast<std::ptrdiff_t>(values));
  p.index.assign(src.begin() + static_cast<std::ptrdiff_t>(values), src.end());
  return p;
}

// The operand without expansions that at_position() does itself.
Id ScopeImporter::unbroadcast(Id x) {
  for (;;) {
    if (g_.op(x) != Op::EXPAND && g_.op(x) != Op::RESHAPE) return x;
    const std::vector<Id> to = build_.shape_of(x), from = build_.shape_of(g_.data(x));
    if (from.size() > to.size()) return x;
    const auto added = static_cast<std::ptrdiff_t>(to.size() - from.size());
    const bool is_aligned =
        g_.op(x) == Op::EXPAND || (std::equal(from.begin(), from.end(), to.begin() + added) &&
                                   std::all_of(to.begin(), to.begin() + added, [&](Id e) { return g_.is_index_const(e, 1); }));
    if (!is_aligned) return x;
    x = g_.data(x);
  }
}

// The begin k, if x is the tensor iota + k in i64 that a range makes; no_id for other tensors.
Id ScopeImporter::begin_of_line(Id x) {
  if (g_.op(x) != Op::ADD || g_.dtype(x) != DType::i64) return no_id;
  if (std::ranges::count_if(build_.shape_of(x), [&](Id e) { return !g_.is_index_const(e, 1); }) > 1) return no_id;
  auto [line, first] = g_.operands<2>(x);
  first = unbroadcast(first);
  while (g_.op(line) == Op::RESHAPE || g_.op(line) == Op::EXPAND) line = g_.data(line);
  return g_.op(line) == Op::IOTA && build_.shape_of(first).empty() ? first : no_id;
}

// The value of an operand for one element of the part. The operand's shape broadcasts to the part's first `rank` axes.
Id ScopeImporter::at_position(Id x, std::span<const Id> position, std::size_t rank) {
  x = unbroadcast(x);
  const std::vector<Id> extents = build_.shape_of(x);
  if (extents.empty()) return x;
  std::vector<Id> at;
  for (std::size_t k = 0; k < extents.size(); ++k)
    at.push_back(g_.is_index_const(extents[k], 1) ? g_.index(0) : position[rank - extents.size() + k]);
  if (const Id first = begin_of_line(x); first != no_id) {
    Id along = g_.index(0);
    for (std::size_t k = 0; k < extents.size(); ++k)
      if (!g_.is_index_const(extents[k], 1)) along = at[k];
    const Id place = g_.is_const(along) ? g_.constant(DType::i64, static_cast<std::uint64_t>(g_.value(along)))
                                        : g_.make(Op::CAST, DType::i64, {along});
    return build_.elementwise(Op::ADD, {first, place});
  }
  if (!in_kernel() || g_.op(x) == Op::PARAM) return build_.element(x, at);
  return element_of(x, at);
}

// The indices in the tensor of one element of the part: integers, one for each axis of the tensor.
std::vector<Id> ScopeImporter::indices_at(const Part& p, std::span<const Id> position) {
  const std::size_t rest = p.tensor.extents.size() - p.index.size(), rank = position.size() - rest;
  std::vector<Id> out;
  for (const Id i : p.index) out.push_back(at_position(i, position, rank));
  for (const Id i : position.last(rest)) out.push_back(g_.make(Op::CAST, DType::i64, {i}));
  return out;
}

// The indices of all elements, in row-major order. Only for parts inside of kernels, whose extents are constants.
std::vector<std::vector<Id>> ScopeImporter::positions(std::span<const Id> extents) {
  std::vector<std::vector<Id>> out{{}};
  for (const Id extent : extents) {
    std::vector<std::vector<Id>> longer;
    for (const std::vector<Id>& at : out)
      for (std::int64_t i = 0; i < *index_value(g_, extent); ++i) {
        longer.push_back(at);
        longer.back().push_back(g_.index(i));
      }
    out = std::move(longer);
  }
  return out;
}

Id ScopeImporter::joined(DType d, std::span<const Id> elements, std::span<const Id> extents) {
  if (elements.empty()) return build_.broadcast_to(g_.constant(d, 0), extents);
  std::vector<Id> parts;
  const Id one[] = {g_.index(1)};
  for (const Id e : elements) parts.push_back(build_.reshape(e, one));
  return build_.reshape(parts.size() == 1 ? parts[0] : build_.concat(parts, 0), extents);
}

// A read outside of kernels. Index modes become integer arithmetic around a GATHER, which clamps.
Id ScopeImporter::gathered(const Part& p, std::span<const Id> src) {
  Id inside = no_id;
  std::vector<Id> index;
  for (std::size_t k = 0; k < p.index.size(); ++k) {
    Id i = p.index[k];
    const Id n = p.tensor.extents[k];
    const bool is_periodic = p.mode == index_mode::wrap || p.mode == index_mode::mirror;
    if (is_periodic && g_.dtype(i) == DType::u64) {
      const Id period = p.mode == index_mode::wrap ? n : index_add(g_, n, n);
      i = build_.elementwise(Op::FLOORMOD, {i, build_.extent_value(DType::u64, period)});
    }
    if (is_periodic || p.mode == index_mode::constant) i = build_.cast(i, DType::i64);
    const Id extent = build_.extent_value(DType::i64, n);
    if (p.mode == index_mode::wrap) i = build_.elementwise(Op::FLOORMOD, {i, extent});
    if (p.mode == index_mode::mirror) {
      i = build_.elementwise(Op::FLOORMOD, {i, build_.extent_value(DType::i64, index_add(g_, n, n))});
      const Id one = g_.index(1);
      const Id last = build_.extent_value(DType::i64, index_sub(g_, index_add(g_, n, n), one));
      i = build_.elementwise(Op::MIN, {i, build_.elementwise(Op::SUB, {last, i})});
    }
    if (p.mode == index_mode::constant) {
      const Id not_below = build_.elementwise(Op::LE, {g_.constant(DType::i64, 0), i});
      inside = both(inside, both(not_below, build_.elementwise(Op::LT, {i, extent})));
    }
    index.push_back(i);
  }
  const Id value = build_.gather(contents_of(p.tensor), index);
  if (inside == no_id) return value;
  std::vector<Id> along = build_.shape_of(inside);  // the axes after the indexed ones have extent 1
  along.resize(along.size() + p.tensor.extents.size() - p.index.size(), g_.index(1));
  return build_.elementwise(Op::WHERE, {build_.reshape(inside, along), value, src.back()});
}

Id ScopeImporter::elements(const record::node& n, const Tensor& t, std::span<const Id> src) {
  const bool is_constant = index_mode_of(n) == index_mode::constant;
  const Part p = part(n, t, is_constant ? src.first(src.size() - 1) : src, 0);
  if (!in_kernel()) return gathered(p, src);
  std::vector<Id> out;
  for (const std::vector<Id>& at : positions(p.extents))
    out.push_back(element_at(p.mode, t, indices_at(p, at), is_constant ? src.back() : no_id));
  return joined(ir_dtype(n.d), out, p.extents);
}

// Whether the indices certainly name no element twice: each is one place, or elements outside are skipped and each axis of the
// part belongs to one index of the form iota + k.
bool ScopeImporter::is_injective(const Part& p) {
  const bool may_meet = p.mode != index_mode::skip && p.mode != index_mode::unchecked;
  const std::size_t rank = p.extents.size() - (p.tensor.extents.size() - p.index.size());
  std::vector<bool> named(rank);
  for (const Id i : p.index) {
    const Id x = unbroadcast(i);
    if (build_.shape_of(x).empty()) continue;
    if (may_meet || begin_of_line(x) == no_id) return false;
    const std::vector<Id> extents = build_.shape_of(x);
    for (std::size_t k = 0; k < extents.size(); ++k)
      if (!g_.is_index_const(extents[k], 1)) named[rank - extents.size() + k] = true;
  }
  for (std::size_t k = 0; k < rank; ++k)
    if (!named[k] && !g_.is_index_const(p.extents[k], 1)) return false;
  return true;
}

// The state after the write of one element.
Id ScopeImporter::written(const record::node& n, const Part& p, Id state, std::span<const Id> position, Id* old) {
  const Place at = place(p.mode, p.tensor, indices_at(p, position));
  const Id gate = both(active(), at.gate), value = at_position(p.values[0], position, position.size());
  if (n.o == record::op::atomic) {
    std::vector<Id> values{value};
    if (p.values.size() == 2) values.push_back(at_position(p.values[1], position, position.size()));
    return atomic_at(n, p.tensor, state, gate, values, at.index, old);
  }
  const bool is_apart = is_unique(n) || (!in_kernel() && is_injective(p));
  if (n.o == record::op::put)
    return in_kernel() || is_apart ? updated(p.tensor, state, gate, value, at.index, is_apart)
                                   : build_.atomic(AtomicKind::exchange, state, gate, value, at.index);
  const auto o = operation_of(n);
  if (const auto kind = atomic_of(o); kind && !in_kernel() && !is_apart) {
    const Id change = o == record::op::sub ? build_.elementwise(Op::NEG, {value}) : value;
    return build_.atomic(*kind, state, gate, change, places(p.tensor, at.index));
  }
  const Id now = read(p.tensor, state, gate, at.index);
  return updated(p.tensor, state, gate, build_.elementwise(operation_of(o), {now, value}), at.index, is_apart);
}

// A write inside a kernel, one element after another.
Id ScopeImporter::write_small(const record::node& n, const Part& p) {
  const Changed& c = p.tensor.place;
  std::vector<Id> old;
  for (const std::vector<Id>& at : positions(p.extents)) {
    Id before = no_id;
    bound(c) = written(n, p, value_now(c), at, &before);
    if (n.o == record::op::atomic) old.push_back(before);
  }
  return n.o == record::op::atomic ? joined(ir_dtype(n.d), old, p.extents) : no_id;
}

// A write outside of kernels: a kernel over the elements.
Id ScopeImporter::scatter(const record::node& n, const Part& p, bool wants_old) {
  const Changed& c = p.tensor.place;
  std::vector<Id> ranges;
  for (const Id e : p.extents) ranges.push_back(build_.range(e, ids_++));
  Id each = no_id;
  std::vector<Id> before{value_now(c)},
      after{written(n, p, build_.carry(ranges[0], before[0], 0), ranges, wants_old ? &each : nullptr)};
  if (wants_old) {
    before.push_back(build_.broadcast_to(g_.constant(ir_dtype(n.d), 0), p.extents));
    const Id old = build_.carry(ranges[0], before[1], 1);
    after.push_back(build_.update(old, no_id, each, ranges));
  }
  const Id kernel = build_.kernel(ranges, before, after);
  bound(c) = build_.get(kernel, 0);
  return wants_old ? build_.get(kernel, 1) : no_id;
}

// A write outside of kernels whose operation has no atomic form: a loop over the elements.
void ScopeImporter::scatter_in_order(const record::node& n, const Part& p) {
  const Changed& c = p.tensor.place;
  const Id count = index_product(g_, p.extents), range = build_.range(count, ids_++), before = value_now(c);
  std::vector<Id> position(p.extents.size());
  Id rest = range;
  for (std::size_t k = position.size(); k-- > 0;) {
    position[k] = k == 0 ? rest : index_floormod(g_, rest, p.extents[k]);
    rest = index_floordiv(g_, rest, p.extents[k]);
  }
  const Id after = written(n, p, build_.carry(range, before, 0), position);
  bound(c) = build_.get(build_.loop(range, g_.index(0), count, std::span(&before, 1), std::span(&after, 1)), 0);
}

Id ScopeImporter::write_elements(const record::node& n, std::span<const Id> src, bool wants_old) {
  const bool compares = n.o == record::op::atomic && atomic_kind_of(n) == AtomicKind::compare_exchange;
  const Tensor t = tensor(n, src);
  const Part p = part(n, t, src, compares ? 2 : 1);
  if (in_kernel()) return write_small(n, p);
  if (n.o == record::op::accumulate && !atomic_of(operation_of(n)) && !is_injective(p)) return scatter_in_order(n, p), no_id;
  return scatter(n, p, wants_old);
}

}  // namespace kiln::generator
