// Which stores share one kernel: equal extents, and either no reduction in them or one value computed on the way to the other.
#include <algorithm>

#include "compiler/rangeify/demand.h"

namespace kiln::compiler {
namespace {

constexpr std::size_t max_stores = 8;  // keeps the number of write streams of one loop small

}  // namespace

// Per node of order_: whether it depends on `node` (or is it).
std::vector<bool> DemandWalk::depends_on(Id node) const {
  std::vector<bool> hit(order_.size(), false);
  for (std::size_t i = slot_[node]; i < order_.size(); ++i) {
    hit[i] = order_[i] == node;
    for (std::size_t s : data_sources(g_, order_[i])) hit[i] = hit[i] || hit[slot_[g_.src(order_[i], s)]];
  }
  return hit;
}

bool DemandWalk::may_join(const StoreGroup& group, Id store) const {
  if (group.stores.size() >= max_stores) return false;
  const Id value = g_.src(store, 1);
  for (Id other : group.stores) {
    const Id v = g_.src(other, 1);
    if (!model_.cost(v).contains_reduce && !model_.cost(value).contains_reduce) continue;
    const Id low = std::min(v, value), high = std::max(v, value);
    if (!depends_on(low)[slot_[high]]) return false;
  }
  return true;
}

void DemandWalk::form_groups() {
  const std::vector<Id> stores(g_.src(program_.sink).begin(), g_.src(program_.sink).end());
  std::vector<bool> joinable;
  std::vector<std::vector<Id>> extents;
  for (Id store : stores) {
    // A parameter whose old value another store reads is written alone: its kernel comes after the other's.
    const Id param = g_.src(store, 0);
    const bool is_inout = program_.params[static_cast<std::size_t>(g_.arg(param, 0))].direction != Direction::out;
    bool alone = false;
    if (is_inout) {
      const std::vector<bool> readers = depends_on(param);
      for (Id other : stores) alone = alone || (other != store && readers[slot_[g_.src(other, 1)]]);
    }
    const std::vector<Id> shape = shapes_.of(param);
    std::size_t at = groups_.size();
    for (std::size_t i = 0; i < groups_.size() && !alone && at == groups_.size(); ++i)
      if (joinable[i] && extents[i] == shape && may_join(groups_[i], store)) at = i;
    if (at == groups_.size()) {
      groups_.push_back({{}, loop_ranges(shape), {}});
      joinable.push_back(!alone);
      extents.push_back(shape);
    }
    groups_[at].stores.push_back(store);
  }
}

}  // namespace kiln::compiler
