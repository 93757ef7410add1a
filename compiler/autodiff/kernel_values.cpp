#include "compiler/autodiff/kernel_values.h"

#include <algorithm>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/scopes.h"

namespace kiln::compiler::autodiff {

KernelValues::KernelValues(Emit& e, Id kernel)
    : e_(e), g_(e.g), kernel_(kernel), ranges_(scope_ranges(g_, kernel).begin(), scope_ranges(g_, kernel).end()) {
  for (const Id r : ranges_) {
    extents_.push_back(g_.src(r, 0));
    varies_[r] = true;
  }
}

bool KernelValues::have_extents() const {
  const std::vector<Id> nodes = g_.reachable(extents_);
  return std::ranges::all_of(nodes, [&](Id id) {
    return g_.dtype(id) == DType::index && (g_.op(id) == Op::SYM || g_.is_const(id) || is_elementwise(g_.op(id)));
  });
}

bool KernelValues::is_outside(Id value) { return !varies(value); }

bool KernelValues::varies(Id value) {
  if (const auto known = varies_.find(value); known != varies_.end()) return known->second;
  for (const Id id : g_.reachable(value)) {
    const bool is_state = g_.op(id) == Op::CARRY && g_.range_of(id) == ranges_[0];
    varies_.try_emplace(id, is_state || std::ranges::any_of(g_.src(id), [&](Id s) { return varies_.at(s); }));
  }
  return varies_.at(value);
}

std::optional<Id> KernelValues::tensor(Id value) {
  if (!varies(value)) return operand(value);
  for (const Id id : g_.reachable(value))
    if (varies(id) && !made_.contains(id)) made_[id] = made(id);
  return made_.at(value);
}

std::optional<Id> KernelValues::operand(Id id) {
  if (varies(id)) return made_.at(id);
  if (g_.dtype(id) == DType::index) return g_.make(Op::CAST, DType::i64, {id});
  return g_.dtype(id) < DType::index && e_.rank(id) == 0 ? std::optional(id) : std::nullopt;
}

std::optional<Id> KernelValues::made(Id id) {
  const Op op = g_.op(id);
  if (op == Op::RANGE) {
    const auto axis = static_cast<std::size_t>(std::ranges::find(ranges_, id) - ranges_.begin());
    return axis == ranges_.size() ? std::nullopt : std::optional(e_.iota_along(axis, ranges_.size(), extents_[axis]));
  }
  if (op == Op::INDEX) return read(id);
  return is_elementwise(op) || op == Op::MARK || op == Op::STRAIGHT ? operation(id) : std::nullopt;
}

std::optional<Id> KernelValues::operation(Id id) {
  std::vector<Id> src;
  for (const Id s : g_.sources(id)) {  // a copy: the graph grows
    const std::optional<Id> x = operand(s);
    if (!x) return std::nullopt;
    src.push_back(*x);
  }
  const Op op = g_.op(id);
  if (op == Op::STRAIGHT)
    for (Id& x : src) x = e_.b.broadcast_to(x, extents_);  // the value and the derivative may vary along other ranges
  if (!is_elementwise(op)) return g_.with_src(id, src);
  const DType d = g_.dtype(id) == DType::index ? DType::i64 : g_.dtype(id);
  return op == Op::CAST ? e_.b.cast(src[0], d) : e_.b.elementwise(op, src, d);
}

// An element that the work item has written is the last written value whose index is equal.
std::optional<Id> KernelValues::read(Id id) {
  const IndexGate at = index_gate(g_, id);
  std::vector<Id> index = g_.sources(id, 1), writes;
  if (!index.empty()) index[0] = at.first;
  Id data = g_.data(id);
  for (; g_.op(data) == Op::UPDATE && varies(data); data = g_.state(data)) writes.push_back(data);
  if (g_.op(data) == Op::CARRY && g_.range_of(data) == ranges_[0]) data = scope_inits(g_, kernel_)[g_.slot(data)];
  std::optional<Id> value = varies(data) ? std::nullopt : element(data, index);
  for (auto w = writes.rbegin(); value && w != writes.rend(); ++w) value = after(*w, index, *value);
  if (!value || at.gate == no_id) return value;
  const std::optional<Id> gate = tensor(at.gate);
  return gate ? std::optional(e_.where(*gate, *value, e_.b.constant(g_.dtype(id), 0))) : std::nullopt;
}

std::optional<Id> KernelValues::element(Id data, std::span<const Id> index) {
  if (index.empty()) return data;
  if (const std::optional<Id> all = whole(data, index)) return all;
  std::vector<Id> places;
  for (const Id i : index) {
    const std::optional<Id> place = tensor(i);
    if (!place) return std::nullopt;
    places.push_back(*place);
  }
  return e_.b.gather(data, places);
}

// The element after the write; before: its value before it.
std::optional<Id> KernelValues::after(Id write, std::span<const Id> index, Id before) {
  const WriteParts w = write_parts(g_, write);
  const std::vector<Id> to(w.index.begin(), w.index.end());  // a copy: the graph grows
  const std::optional<Id> value = tensor(w.value);
  std::optional<Id> same = tensor(w.gate);
  if (!value || !same) return std::nullopt;
  for (std::size_t a = 0; a < to.size(); ++a) {
    if (to[a] == index[a]) continue;
    if (g_.is_const(to[a]) && g_.is_const(index[a])) return before;
    const std::optional<Id> x = tensor(to[a]), y = tensor(index[a]);
    if (!x || !y) return std::nullopt;
    same = e_.both(*same, e_.equal(*x, *y));
  }
  return e_.where(*same, *value, before);
}

// The data as it is, if each index is another range, in their order, that has all places of its axis.
std::optional<Id> KernelValues::whole(Id data, std::span<const Id> index) {
  const Extents shape = e_.shape(data);
  Extents to(ranges_.size(), g_.index(1));
  std::size_t next = 0;
  for (std::size_t a = 0; a < index.size(); ++a) {
    const std::optional<std::size_t> range = whole_range(index[a], shape[a]);
    if (!range || *range < next) return std::nullopt;
    to[*range] = shape[a];
    next = *range + 1;
  }
  return e_.reshape(data, to);
}

// Whether the integer is an index value: a call checks that the places of its axes fit i32.
bool KernelValues::is_position(Id integer) const {
  const DType d = g_.dtype(integer);
  return (d == DType::i32 || d == DType::i64) && g_.op(integer) == Op::CAST && g_.dtype(g_.operand(integer)) == DType::index;
}

std::optional<std::size_t> KernelValues::whole_range(Id index, Id extent) {
  const Id last = index_sub(g_, extent, g_.index(1)), zero = g_.index(0);
  for (;;) {
    const Op op = g_.op(index);
    if (op == Op::CAST && is_position(g_.operand(index))) {
      index = g_.operand(g_.operand(index));
    } else if (op == Op::MIN || op == Op::MAX) {
      const Id bound = op == Op::MIN ? last : zero;
      const auto [a, b] = g_.operands<2>(index);
      if (a != bound && b != bound) return std::nullopt;
      index = a == bound ? b : a;
    } else {
      break;
    }
  }
  const auto at = std::ranges::find(ranges_, index);
  if (at == ranges_.end() || g_.src(index, 0) != extent) return std::nullopt;
  return static_cast<std::size_t>(at - ranges_.begin());
}

}  // namespace kiln::compiler::autodiff
