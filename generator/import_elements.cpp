// Imports elements of tensors in scopes: index modes become index arithmetic; reads, writes and atomics become
// INDEX, UPDATE and ATOMIC.
#include <algorithm>

#include "compiler/ir/index_bounds.h"
#include "compiler/ir/index_poly.h"
#include "generator/import_scopes.h"

namespace kiln::generator {

using namespace compiler;
using record::index_mode;

// Whether the code runs in single work items. Between the barrier intervals of a kernel with workgroups, code is treated
// as outside of kernels.
bool ScopeImporter::in_kernel() const {
  return !at_workgroup() && std::ranges::find(scopes_, record::op::kernel, &Scope::kind) != scopes_.end();
}

ScopeImporter::Changed ScopeImporter::place_of(const record::node& n) {
  const auto variable = variable_of(n);
  return {variable.has_value(), variable.value_or(tensor_of(n)), no_id};
}

// The tensor that the record accesses. A computed tensor is the first source; then `src` loses that source.
ScopeImporter::Tensor ScopeImporter::tensor(const record::node& n, std::span<const Id>& src) {
  Tensor t{place_of(n), no_id, false, {}};
  if (tensor_of(n) == record::computed_tensor) {
    t.computed = src[0];
    src = src.subspan(1);
    t.is_small = differs_in_kernel(t.computed);
  }
  if (t.computed == no_id && t.place.is_variable) t.is_small = is_of_kernel_.at(t.place.number);
  t.extents =
      is_local(tensor_of(n)) ? local_extents_.at(t.place.number - record::local_tensors) : build_.shape_of(contents_of(t));
  return t;
}

// Whether the value depends on the work item of the kernel around.
bool ScopeImporter::differs_in_kernel(Id x) const {
  const auto kernel = std::ranges::find(scopes_, record::op::kernel, &Scope::kind);
  if (kernel == scopes_.end()) return false;
  const Id root[] = {x};
  return std::ranges::any_of(g_.reachable(root), [&](Id id) {
    return g_.op(id) == Op::RANGE && std::any_of(kernel, scopes_.end(), [&](const Scope& s) {
             return std::ranges::find(s.ranges, id) != s.ranges.end();
           });
  });
}

// Whether the condition is the same for all work items of the kernel around. A value that a loop in the kernel
// carries may differ.
bool ScopeImporter::is_shared(Id condition) const {
  if (condition == no_id) return false;
  const auto kernel = std::ranges::find(scopes_, record::op::kernel, &Scope::kind);
  const Id root[] = {condition};
  return std::ranges::none_of(g_.reachable(root), [&](Id id) {
    return (g_.op(id) == Op::RANGE || g_.op(id) == Op::CARRY) && std::any_of(kernel, scopes_.end(), [&](const Scope& s) {
             const bool is_counter = g_.op(id) == Op::RANGE && s.kind == record::op::loop;
             return !is_counter && std::ranges::find(s.ranges, g_.op(id) == Op::RANGE ? id : g_.range_of(id)) != s.ranges.end();
           });
  });
}

// The whole tensor. In a kernel that writes the tensor, only elements of it can be used.
Id ScopeImporter::whole(Id tensor, const Changed& place) {
  const auto kernel = std::ranges::find(scopes_, record::op::kernel, &Scope::kind);
  if (kernel == scopes_.end() || std::ranges::find(kernel->changed, place) == kernel->changed.end()) return tensor;
  if (std::ranges::find(kernel->held, place) != kernel->held.end()) return tensor;
  if (build_.shape_of(tensor).empty()) return build_.element(tensor, {});
  const std::string name = place.is_variable ? "the variable" : "`" + out_.params.at(place.number).name + "`";
  build_.fail("E-scope", "expected elements of " + name + ", which this kernel writes, got all of it");
}

// The integer as an index value. Constants and extents need no cast.
Id ScopeImporter::to_index(Id integer) {
  const DType d = g_.dtype(integer);
  if (g_.is_const(integer)) return g_.index(g_.value(integer));
  if (d == DType::i64 && g_.op(integer) == Op::CAST && g_.dtype(g_.operand(integer)) == DType::index)
    return g_.operand(integer);
  // A u64 that does not fit an index is replaced by 2^62, which is outside of every axis too.
  if (d == DType::u64) integer = build_.elementwise(Op::MIN, {integer, g_.constant(d, std::uint64_t{1} << 62)});
  return build_.index_of(integer);
}

// Whether the axis certainly has an element wherever this index is computed.
bool ScopeImporter::never_empty(Id extent, Id integer) {
  if (proves_nonnegative(g_, index_sub(g_, extent, g_.index(1)), facts_)) return true;
  if (integer == no_id || g_.op(integer) != Op::CAST) return false;
  const Id range = g_.operand(integer);
  return g_.op(range) == Op::RANGE && g_.end(range) == extent;
}

ScopeImporter::Place ScopeImporter::place(index_mode mode, const Tensor& t, std::span<const Id> indices) {
  Place p;
  const auto compare = [&](Op o, Id a, Id b) { return g_.make(o, DType::boolean, {a, b}); };
  const Id zero = g_.index(0), one = g_.index(1);
  for (std::size_t k = 0; k < t.extents.size(); ++k) {
    const Id n = t.extents[k], last = index_sub(g_, n, one);
    if (g_.dtype(indices[k]) == DType::i32 && differs_in_kernel(indices[k])) cap_symbols(n);
    if (is_inside(indices[k], n)) {
      p.index.push_back(g_.operand(indices[k]));
      continue;
    }
    const bool is_total = mode == index_mode::clamp || mode == index_mode::wrap || mode == index_mode::mirror;
    if (is_total && !never_empty(n, indices[k])) p.gate = both(p.gate, compare(Op::LT, zero, n));
    Id i = indices[k];
    // A u64 may not fit an index, but its remainder does.
    const bool is_periodic = mode == index_mode::wrap || mode == index_mode::mirror;
    if (is_periodic && g_.dtype(i) == DType::u64)
      i = build_.elementwise(Op::FLOORMOD,
                             {i, build_.extent_value(DType::u64, mode == index_mode::wrap ? n : index_add(g_, n, n))});
    i = to_index(i);
    switch (mode) {
      case index_mode::clamp: i = index_max(g_, index_min(g_, i, last), zero); break;
      case index_mode::wrap: i = index_floormod(g_, i, n); break;
      case index_mode::mirror: {
        const Id twice = index_mul(g_, n, g_.index(2));
        i = index_floormod(g_, i, twice);
        i = index_min(g_, i, index_sub(g_, index_sub(g_, twice, one), i));
        break;
      }
      case index_mode::constant:
      case index_mode::skip: {
        const Id below = compare(Op::LT, i, n);
        p.gate = both(p.gate, both(compare(Op::LE, zero, i), below));
        break;
      }
      case index_mode::unchecked: break;
    }
    p.index.push_back(i);
  }
  return p;
}

// outside: the value outside of the tensor in mode constant; else no_id.
Id ScopeImporter::element_at(index_mode mode, const Tensor& t, std::span<const Id> indices, Id outside) {
  Place p = place(mode, t, indices);
  // The promise that the index is inside holds only where the program really executes the read.
  if (mode == index_mode::unchecked) p.gate = both(entered_, active());
  const Id value = read(t, contents_of(t), p.gate, p.index);
  if (p.gate == no_id || p.index.empty()) return value;
  return build_.elementwise(Op::WHERE, {p.gate, value, outside == no_id ? g_.constant(g_.dtype(value), 0) : outside});
}

Id ScopeImporter::element(const record::node& n, std::span<const Id> src) {
  const Tensor t = tensor(n, src);
  if (n.s->rank > 0) return elements(n, t, src);
  return element_at(index_mode_of(n), t, src.first(t.extents.size()),
                    index_mode_of(n) == index_mode::constant ? src.back() : no_id);
}

void ScopeImporter::put(const record::node& n, std::span<const Id> src) {
  const Tensor t = tensor(n, src);
  const Place p = place(index_mode_of(n), t, src.subspan(1));
  const Id gate = both(active(), p.gate);
  bound(t.place) = updated(t, value_now(t.place), gate, src[0], p.index, is_unique(n));
}

Id ScopeImporter::atomic(const record::node& n, std::span<const Id> src) {
  const Tensor t = tensor(n, src);
  const std::size_t values = src.size() - t.extents.size();
  const Place p = place(index_mode_of(n), t, src.subspan(values));
  Id old = no_id;
  const Id gate = both(active(), p.gate);
  bound(t.place) = atomic_at(n, t, value_now(t.place), gate, src.first(values), p.index, &old);
  return old;
}

// If several checks fail, the reported one must not depend on their order: the first in the program is reported.
void ScopeImporter::check(const record::node& n, Id holds) {
  Id& state = bound(place_of(n));
  const Id number = g_.constant(DType::i32, n.imm >> 40);
  const Id here = active();
  const Id failed = both(here, negated(holds));
  state = build_.atomic(AtomicKind::min, value_now(place_of(n)), failed, number, {}, no_id);
}

}  // namespace kiln::generator
