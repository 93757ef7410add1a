#include "compiler/schedule/kernel_order.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/ir/scopes.h"

namespace kiln::compiler {
namespace {

bool is_kernel_result(const Graph& g, Id id) { return g.op(id) == Op::GET && g.op(g.scope(id)) == Op::KERNEL; }

// The value that an END stores in a parameter.
Id stored_value(const Graph& g, Id end) {
  const auto [param, value] = g.operands<2>(g.store(end));
  return value;
}

}  // namespace

bool hands_on_state(const Graph& g, Id end) {
  const Id value = stored_value(g, end);
  return g.op(value) == Op::INDEX && is_kernel_result(g, g.data(value));
}

KernelOrder::KernelOrder(const Graph& g, Id sink) : g_(g) {
  for (const Id id : g.reachable(sink))
    if (g.op(id) == Op::STAGE || g.op(id) == Op::KERNEL) {
      add_root(id);
      find_reads(id);
    }
  std::unordered_map<Id, std::size_t> groups;  // by the first range of the ENDs
  for (const Id end : g.src(sink)) {
    if (hands_on_state(g, end))
      add_root(end);
    else if (const auto [it, is_new] = groups.try_emplace(g.src(end, 1), next_.size()); is_new)
      add_root(end);
    else
      root_of_[end] = it->second;
    find_reads(end);
  }
}

void KernelOrder::add_root(Id id) {
  root_of_[id] = next_.size();
  next_.emplace_back();
}

void KernelOrder::find_reads(Id root) {
  std::unordered_set<Id> seen;
  std::vector<Id> open = g_.sources(root);
  if (g_.op(root) == Op::END) open.erase(open.begin(), open.begin() + 1), open.push_back(stored_value(g_, root));
  while (!open.empty()) {
    const Id id = open.back();
    open.pop_back();
    if (!seen.insert(id).second) continue;
    if (!is_storage(g_, id)) {
      open.insert(open.end(), g_.src(id).begin(), g_.src(id).end());
      continue;
    }
    readers_[id].push_back(root);
    if (g_.op(id) != Op::PARAM) next_[root_of_.at(is_kernel_result(g_, id) ? g_.scope(id) : id)].push_back(root_of_.at(root));
  }
}

bool KernelOrder::read_before(Id tensor, Id except, Id root) {
  std::vector<std::size_t> first;
  for (const Id r : readers_[tensor])
    if (r != except) first.push_back(root_of_.at(r));
  const std::size_t then = root_of_.at(root);
  if (reaches_one_of(then, first)) return false;
  for (const std::size_t r : first) next_[r].push_back(then);
  return true;
}

bool KernelOrder::reaches_one_of(std::size_t from, const std::vector<std::size_t>& roots) const {
  std::vector<bool> seen(next_.size(), false);
  std::vector<std::size_t> open{from};
  while (!open.empty()) {
    const std::size_t u = open.back();
    open.pop_back();
    if (seen[u]) continue;
    seen[u] = true;
    if (std::ranges::find(roots, u) != roots.end()) return true;
    open.insert(open.end(), next_[u].begin(), next_[u].end());
  }
  return false;
}

}  // namespace kiln::compiler
