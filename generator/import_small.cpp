// Elements of tensors that are not in memory: a few values of one work item, for example the three of `var<f32, 3>(0)`. A read
// selects one of them. A write makes all of them again.
#include <algorithm>

#include "generator/import_scopes.h"

namespace kiln::generator {

using namespace compiler;

// A mask: whether the index equals this position. no_id: it always does.
Id ScopeImporter::is_position(std::span<const Id> index, std::span<const Id> position) {
  Id mask = no_id;
  for (std::size_t k = 0; k < index.size(); ++k)
    if (index[k] != position[k]) mask = both(mask, g_.make(Op::EQ, DType::boolean, {index[k], position[k]}));
  return mask;
}

// The element at a constant position.
Id ScopeImporter::element_of(Id x, std::span<const Id> position) {
  if (position.empty()) return x;
  const std::vector<Id> one(position.size(), g_.index(1));
  return build_.reshape(build_.slice(x, position, std::vector<std::int64_t>(position.size(), 1), one), {});
}

Id ScopeImporter::read(const Tensor& t, Id state, Id gate, std::span<const Id> index) {
  if (!t.is_small) return build_.element(state, places(t, index), gate);
  if (std::ranges::all_of(index, [&](Id i) { return g_.is_const(i); })) return element_of(state, index);
  Id out = no_id;
  for (const std::vector<Id>& at : positions(t.extents)) {
    const Id value = element_of(state, at);
    out = out == no_id ? value : build_.elementwise(Op::WHERE, {is_position(index, at), value, out});
  }
  return out;
}

Id ScopeImporter::updated(const Tensor& t, Id state, Id gate, Id value, std::span<const Id> index, bool unique) {
  if (!t.is_small) return build_.update(state, gate, value, places(t, index), unique);
  std::vector<Id> out;
  for (const std::vector<Id>& at : positions(t.extents)) {
    const Id old = element_of(state, at), mask = both(gate, is_position(index, at));
    out.push_back(mask == no_id ? value : build_.elementwise(Op::WHERE, {mask, value, old}));
  }
  return joined(g_.dtype(state), out, t.extents);
}

// Bits as an integer: -0.0 differs from 0.0, and a NaN equals itself.
Id ScopeImporter::bits_of(Id x) {
  if (!is_float(g_.dtype(x))) return x;
  const int size = bytes(g_.dtype(x));
  return build_.bitcast(x, size == 2 ? DType::u16 : size == 4 ? DType::u32 : DType::u64);
}

// Returns the state after the operation. *old: the element before it.
Id ScopeImporter::atomic_at(const record::node& n, const Tensor& t, Id state, Id gate, std::span<const Id> values,
                            std::span<const Id> index, Id* old) {
  const AtomicKind kind = atomic_kind_of(n);
  if (!t.is_small) {
    const Id after = build_.atomic(kind, state, gate, values[0], places(t, index), values.size() == 2 ? values[1] : no_id);
    if (old != nullptr) *old = build_.old(after);
    return after;
  }
  const Id now = read(t, state, no_id, index);
  Id value = values[0];
  if (kind == AtomicKind::compare_exchange)
    value = build_.elementwise(Op::WHERE, {build_.elementwise(Op::EQ, {bits_of(now), bits_of(values[1])}), value, now});
  else if (kind != AtomicKind::exchange)
    value = build_.elementwise(operation_of(kind), {now, value});
  if (old != nullptr) *old = gate == no_id ? now : build_.elementwise(Op::WHERE, {gate, now, g_.constant(g_.dtype(now), 0)});
  return updated(t, state, gate, value, index);
}

}  // namespace kiln::generator
