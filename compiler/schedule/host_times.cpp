#include "compiler/schedule/host_times.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/ir/run_expression.h"
#include "compiler/ir/scopes.h"

namespace kiln::compiler {

HostTimes::HostTimes(const Graph& g, Id sink) : g_(g) {
  const Id roots[] = {sink};
  nodes_ = g.reachable(roots);
  regions_ = find_regions(g, roots);
  time_.assign(g.size(), 0);
  last_.assign(regions_.list.size(), 0);
  find_scopes();
  for (const Id n : nodes_) {
    if (g.dtype(n) == DType::index || is_host_carry(n)) continue;
    for (const Id s : data_of(n)) add(n, s);
    if (is_host_loop(n))
      for (const Id bound : {loop_parts(g, n).begin, loop_parts(g, n).end}) add_cuts(n, bound, 0);
    if (g.op(n) == Op::KERNEL && is_host(n))
      for (const Id r : scope_ranges(g, n)) add_cuts(n, g.end(r), 1);
    last_[region(n)] = std::max(last_[region(n)], result_time(n));
  }
}

void HostTimes::find_scopes() {
  host_range_.assign(g_.size(), false);
  for (const Id n : nodes_) {
    if (is_host_loop(n)) {
      loops_.push_back(n);
      host_range_[loop_parts(g_, n).range] = true;
    }
    if (g_.op(n) == Op::KERNEL && is_host(n)) kernels_.push_back(n);
  }
  std::ranges::stable_sort(loops_, {}, [&](Id n) { return depth(region(n)); });
}

std::size_t HostTimes::depth(std::uint32_t region) const {
  std::size_t d = 0;
  for (; region != 0; region = regions_.list[region].parent) ++d;
  return d;
}

std::vector<Id> HostTimes::data_of(Id n) const {
  std::vector<Id> open, out;
  std::unordered_set<Id> seen;
  const auto src = g_.src(n);
  for (std::size_t i = 0; i < src.size(); ++i) {
    const bool is_bound = is_host_loop(n) && i >= 1 && i <= 2, is_target = g_.op(n) == Op::STORE && i == 0;
    if (!is_bound && !is_target) open.push_back(src[i]);
  }
  std::ranges::reverse(open);
  while (!open.empty()) {
    const Id id = open.back();
    open.pop_back();
    if (!seen.insert(id).second) continue;
    if (g_.dtype(id) != DType::index)
      out.push_back(id);
    else if (g_.op(id) != Op::RANGE)
      open.insert(open.end(), g_.src(id).rbegin(), g_.src(id).rend());
  }
  return out;
}

std::vector<Id> HostTimes::cuts_of(Id expression) const {
  std::vector<Id> open{expression}, out;
  std::unordered_set<Id> seen;
  while (!open.empty()) {
    const Id id = open.back();
    open.pop_back();
    if (!seen.insert(id).second || g_.is_const(id) || g_.op(id) == Op::SYM || is_host_range(id)) continue;
    if (is_run_arithmetic(g_, id))
      open.insert(open.end(), g_.src(id).begin(), g_.src(id).end());
    else
      out.push_back(id);
  }
  std::ranges::sort(out);
  return out;
}

void HostTimes::add(Id n, Id source) {
  if (!is_host(source)) return;
  if (is_yield(n, source) || g_.op(n) == Op::STORE) {
    uses_[source].push_back({n, n});
    return;
  }
  const Id user = regions_.lifted(n, region(source));
  uses_[source].push_back({n, user});
  time_[user] = std::max(time_[user], result_time(source));
}

void HostTimes::add_cuts(Id scope, Id expression, std::uint32_t later) {
  for (const Id c : cuts_of(expression)) {
    for (const Id s : data_of(c)) add(c, s);
    const Id user = regions_.lifted(scope, region(c));
    time_[user] = std::max(time_[user], time_[c] + (user == scope ? later : 0));
    last_[region(c)] = std::max(last_[region(c)], time_[c]);
  }
}

std::uint32_t HostTimes::moment(const TensorUse& u, Id of) const {
  if (g_.op(u.node) == Op::STORE || is_yield(u.node, of)) return never;
  return 2 * time_[u.user] + (is_host_loop(u.user) ? 1 : 0);
}

const std::vector<TensorUse>& HostTimes::uses(Id n) const {
  static const std::vector<TensorUse> none;
  const auto it = uses_.find(n);
  return it == uses_.end() ? none : it->second;
}

}  // namespace kiln::compiler
