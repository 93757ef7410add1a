#include "compiler/schedule/unit_order.h"

#include <algorithm>
#include <unordered_set>

namespace kiln::compiler {
namespace {

bool is_kernel_result(const Graph& g, Id id) { return g.op(id) == Op::GET && g.op(g.src(id, 0)) == Op::KERNEL; }
bool is_tensor(const Graph& g, Id id) { return g.op(id) == Op::PARAM || g.op(id) == Op::STAGE || is_kernel_result(g, id); }

}  // namespace

UnitOrder::UnitOrder(const Graph& g, Id sink) : g_(g) {
  const Id roots[] = {sink};
  for (const Id id : g.reachable(roots))
    if (g.op(id) == Op::STAGE || g.op(id) == Op::KERNEL) {
      add_unit(id, true);
      find_reads(id);
    }
  Id last = no_id;
  for (const Id end : g.src(sink)) {
    add_unit(end, last == no_id || !std::ranges::equal(g.src(end).subspan(1), g.src(last).subspan(1)));
    find_reads(end);
    last = end;
  }
}

std::size_t UnitOrder::add_unit(Id id, bool is_new) {
  if (is_new) next_.emplace_back();
  return unit_of_[id] = next_.size() - 1;
}

void UnitOrder::find_reads(Id unit) {
  std::unordered_set<Id> seen;
  std::vector<Id> open(g_.src(unit).begin(), g_.src(unit).end());
  if (g_.op(unit) == Op::END) open.erase(open.begin(), open.begin() + 1), open.push_back(g_.src(g_.src(unit, 0), 1));
  while (!open.empty()) {
    const Id id = open.back();
    open.pop_back();
    if (!seen.insert(id).second) continue;
    if (!is_tensor(g_, id)) {
      open.insert(open.end(), g_.src(id).begin(), g_.src(id).end());
      continue;
    }
    readers_[id].push_back(unit);
    if (g_.op(id) != Op::PARAM) next_[unit_of_.at(is_kernel_result(g_, id) ? g_.src(id, 0) : id)].push_back(unit_of_.at(unit));
  }
}

bool UnitOrder::read_before(Id tensor, Id except, Id unit) {
  std::vector<std::size_t> first;
  for (const Id r : readers_[tensor])
    if (r != except) first.push_back(unit_of_.at(r));
  const std::size_t then = unit_of_.at(unit);
  if (reaches_one_of(then, first)) return false;
  for (const std::size_t r : first) next_[r].push_back(then);
  return true;
}

bool UnitOrder::reaches_one_of(std::size_t from, const std::vector<std::size_t>& units) const {
  std::vector<bool> seen(next_.size(), false);
  std::vector<std::size_t> open{from};
  while (!open.empty()) {
    const std::size_t u = open.back();
    open.pop_back();
    if (seen[u]) continue;
    seen[u] = true;
    if (std::ranges::find(units, u) != units.end()) return true;
    open.insert(open.end(), next_[u].begin(), next_[u].end());
  }
  return false;
}

}  // namespace kiln::compiler
