// Chooses the stores that share one kernel. Their extents are equal. Of any two stores, neither contains a reduction, or the
// value of one is computed from the value of the other, or both are computed from the same reductions: a gradient updates a
// weight and the state of its optimiser in the loops that make the gradient. Members of DemandWalk.
#include <algorithm>
#include <map>
#include <unordered_set>

#include "compiler/rangeify/demand.h"

#include "compiler/ir/nth.h"

namespace kiln::compiler {
namespace {

constexpr std::size_t max_stores = 8;        // in one kernel; keeps the number of write streams of a loop small
constexpr std::size_t max_candidates = 16;   // groups that a store may join: the latest ones
constexpr std::size_t max_between = 10'000;  // nodes that leads_to() visits at most

}  // namespace

// By node of order_: whether an element of it may depend on an element of `tensor` at another position. Between a tensor and a
// value with an element at the same position there are only elementwise operations.
std::vector<bool> DemandWalk::reads_elsewhere(Id tensor) const {
  std::vector<bool> reads(order_.size(), false), elsewhere(order_.size(), false);
  for (std::size_t i = slot_[tensor]; i < order_.size(); ++i) {
    reads[i] = order_[i] == tensor;
    std::vector<Id> sources;
    for (const std::size_t s : data_sources(g_, order_[i])) sources.push_back(g_.src(order_[i], s));
    if (g_.op(order_[i]) == Op::GATHER) sources.push_back(g_.data(order_[i]));
    for (const Id source : sources) {
      if (!reads[slot_[source]]) continue;
      reads[i] = true;
      elsewhere[i] = elsewhere[i] || elsewhere[slot_[source]] || !is_elementwise(g_.op(order_[i]));
    }
  }
  return elsewhere;
}

// Whether `high` depends on `low`. False also if the search would take too long.
bool DemandWalk::leads_to(Id low, Id high) const {
  std::unordered_set<Id> seen{high};
  std::vector<Id> todo{high};
  while (!todo.empty() && seen.size() <= max_between) {
    const Id id = todo.back();
    todo.pop_back();
    if (id == low) return true;
    for (const std::size_t s : data_sources(g_, id))
      if (const Id from = g_.src(id, s); from >= low && seen.insert(from).second) todo.push_back(from);
  }
  return false;
}

// alone: stores without the same reductions may not share a kernel.
bool DemandWalk::may_join(const StoreGroup& group, Id store, bool alone) const {
  const Id value = stored_value(g_, store);
  for (Id other : group.stores) {
    const Id v = stored_value(g_, other);
    if (alone && !share_reductions(v, value)) return false;
    if (!model_.cost(v).contains_reduce && !model_.cost(value).contains_reduce) continue;
    const Id low = std::min(v, value), high = std::max(v, value);
    if (!share_reductions(v, value) && !leads_to(low, high)) return false;
  }
  return true;
}

// The values with reductions from which elementwise operations make this value; empty: the value is one itself, or has none.
std::vector<Id> DemandWalk::reductions_of(Id value) const {
  std::vector<Id> out;
  std::unordered_set<Id> seen{value};
  std::vector<Id> todo{value};
  while (!todo.empty() && seen.size() <= max_between) {
    const Id id = todo.back();
    todo.pop_back();
    if (!model_.cost(id).contains_reduce) continue;
    if (!is_elementwise(g_.op(id)))
      out.push_back(id);
    else
      for (const std::size_t s : data_sources(g_, id))
        if (seen.insert(g_.src(id, s)).second) todo.push_back(g_.src(id, s));
  }
  std::ranges::sort(out);
  return todo.empty() ? out : std::vector<Id>{};
}
bool DemandWalk::share_reductions(Id a, Id b) const {
  const std::vector<Id> of_a = reductions_of(a);
  return !of_a.empty() && of_a == reductions_of(b);
}

void DemandWalk::form_groups() {
  const std::vector<Id> stores = g_.sources(program_.sink);
  std::map<std::vector<Id>, std::vector<std::size_t>> open;  // by extents
  for (Id store : stores) {
    // If another store reads old elements of the parameter at other positions, the parameter gets a kernel of its own, which
    // runs after the reader. Only stores of values from the same reductions share it, which must run as late anyway. Reads at
    // the same position stay in the group: an iteration loads its elements before it stores. Copies of parameters stay kernels
    // too, because ping_pong can remove them.
    const Id param = g_.state(store);
    const bool is_inout = nth(program_.params, g_.slot(param)).direction != Direction::out;
    bool alone = false;
    if (is_inout) {
      const std::vector<bool> elsewhere = reads_elsewhere(param);
      alone = g_.op(stored_value(g_, store)) == Op::PARAM;
      for (Id other : stores) {
        const Id value = stored_value(g_, other);
        alone = alone || (other != store && (elsewhere[slot_[value]] || value == param));
      }
    }
    const std::vector<Id> shape = shapes_.of(param);
    std::vector<std::size_t>& candidates = open[shape];
    const auto joined =
        std::ranges::find_if(candidates, [&](std::size_t i) { return may_join(groups_[i], store, alone || groups_[i].alone); });
    if (joined != candidates.end()) {
      groups_[*joined].stores.push_back(store);
      if (groups_[*joined].stores.size() == max_stores) candidates.erase(joined);
      continue;
    }
    groups_.push_back({{store}, loop_ranges(shape), {}, alone});
    candidates.push_back(groups_.size() - 1);
    if (candidates.size() > max_candidates) candidates.erase(candidates.begin());
  }
}

}  // namespace kiln::compiler
