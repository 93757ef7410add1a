// The twins of atomic operations.
#include "compiler/autodiff/twins.h"
#include "compiler/ir/scopes.h"

namespace kiln::compiler::autodiff {
namespace {

// Whether the operation replaces the element: of min and max the first of equal values stays.
Id takes_place(Emit& e, Id atomic, Id value, Id expected) {
  Graph& g = e.g;
  const AtomicKind kind = g.atomic_kind(atomic);
  if (kind == AtomicKind::exchange) return no_id;
  const Id old = e.b.old(atomic);
  if (kind == AtomicKind::max) return e.less(old, value);
  if (kind == AtomicKind::min) return e.less(value, old);
  const int size = bytes(g.dtype(value));
  const DType bits = size == 2 ? DType::u16 : size == 4 ? DType::u32 : DType::u64;
  const Id now = e.b.bitcast(old, bits), wanted = e.b.bitcast(expected, bits);
  return e.equal(now, wanted);
}

}  // namespace

// An addition adds the tangent. Another operation, where it replaces the element, replaces the tangent.
void Twins::atomic(Id node) {
  const Id copy = copies_.at(node);
  if (!is_float(g_.dtype(node))) refuse(node, "");
  const WriteParts w = write_parts(g_, copy);
  const std::vector<Id> index(w.index.begin(), w.index.end());
  const Id number = e_.number(g_.dtype(node), 0);
  const bool adds = g_.atomic_kind(copy) == AtomicKind::add, is_read = read_atomics_.contains(node);
  const Id gate = w.gate, state = w.state, value = w.value, expected = w.expected;
  const Id wins = adds ? no_id : takes_place(e_, copy, value, expected);
  const Id replaces = wins == no_id ? gate : e_.both(gate, wins);
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    Id twin = part_or_zero(k, state);
    std::vector<Id> olds;
    const auto add = [&](Id s, Id v, const std::vector<Id>& at) {
      const Id made = e_.b.atomic(AtomicKind::add, s, gate, v, at);
      if (is_read) olds.push_back(e_.b.old(made));
      return made;
    };
    const auto replace = [&](Id s, Id v, const std::vector<Id>& at) {
      return e_.b.atomic(AtomicKind::exchange, s, replaces, v, at);
    };
    const Id change = part_or_zero(k, value);
    if (adds ? is_read || parts_[k].contains(value) : is_read) {
      const Id nothing = e_.zeros(g_.dtype(number), with_lead(k, {}));
      twin = written(k, twin, adds ? change : nothing, index, add);
    }
    if (!adds) twin = written(k, twin, change, index, replace);
    parts_[k][copy] = twin;
    if (is_read) old_[copy].push_back(leads_[k] == no_id ? olds[0] : joined_directions(e_, olds));
  }
}

void Twins::old(Id node) {
  const Id copy = copies_.at(node), atomic = g_.operand(copy);
  for (std::size_t k = 0; k < parts_.size(); ++k) parts_[k][copy] = old_.at(atomic)[k];
}

}  // namespace kiln::compiler::autodiff
