#include "compiler/autodiff/activity.h"

#include <algorithm>

#include "compiler/ir/open_ranges.h"
#include "compiler/ir/scopes.h"

namespace kiln::compiler::autodiff {

Id next_of_slot(const Graph& g, Id scope, std::size_t slot) {
  return g.op(scope) == Op::FOR ? loop_parts(g, scope).yield[slot] : kernel_parts(g, scope).final[slot];
}

namespace {

// The nodes below y that can depend on an x, ascending, if none of them belongs to a scope; else all nodes below y.
std::vector<Id> nodes_below(const Graph& g, Id y, std::span<const Id> xs) {
  const Id first = *std::ranges::min_element(xs);
  std::unordered_set<Id> seen;
  std::vector<Id> open{y};
  while (!open.empty()) {
    const Id id = open.back();
    open.pop_back();
    if (id < first || !seen.insert(id).second) continue;
    const Op op = g.op(id);
    if (op == Op::CARRY || op == Op::GET || op == Op::INDEX || op == Op::OLD || op == Op::RANGE || is_write(op) || is_scope(op))
      return g.in_order(y);
    for (const Id s : g.src(id)) open.push_back(s);
  }
  std::vector<Id> out(seen.begin(), seen.end());
  std::ranges::sort(out);
  return out;
}

}  // namespace

Activity::Activity(const Rules& rules, Id y, std::span<const Id> xs)
    : rules_(rules), g_(rules.e.g), nodes_(nodes_below(g_, y, xs)) {
  for (const Id id : nodes_)
    if (is_scope(g_.op(id)))
      for (const Id range : scope_ranges(g_, id)) owners_[range] = id;
  const std::unordered_set<Id> is_x(xs.begin(), xs.end());
  for (std::size_t before = nodes_.size() + 1; before != active_.size();) {
    before = active_.size();
    for (const Id id : nodes_)
      if (is_x.contains(id) || std::ranges::any_of(influences(id), [&](Id s) { return active_.contains(s); }))
        active_.insert(id);
    if (owners_.empty()) break;
  }
  if (!active_.contains(y)) return;
  std::vector<Id> open{y};
  between_.insert(y);
  while (!open.empty()) {
    const Id id = open.back();
    open.pop_back();
    for (const Id s : influences(id))
      if (active_.contains(s) && between_.insert(s).second) open.push_back(s);
  }
  find_regions();
}

Id Activity::owner(Id range) const {
  const auto at = owners_.find(range);
  return at == owners_.end() ? no_id : at->second;
}

// The nodes on which the derivative of a node depends.
std::vector<Id> Activity::influences(Id node) const {
  const Op op = g_.op(node);
  if (is_scope(op)) return {};
  const auto of_slot = [&](Id scope, std::size_t slot) {
    return std::vector<Id>{scope_inits(g_, scope)[slot], next_of_slot(g_, scope, slot)};
  };
  if (op == Op::GET && !rules_.scatters.contains(node)) return of_slot(g_.scope(node), g_.slot(node));
  if (op == Op::CARRY)
    if (const Id scope = owner(g_.range_of(node)); scope != no_id) return of_slot(scope, g_.slot(node));
  std::vector<Id> out;
  for (const Edge& edge : rules_.edges(node))
    if (op != Op::ATOMIC || edge.place == 0 || edge.place == 2) out.push_back(edge.from);
  return out;
}

bool Activity::depends(Id node) const {
  return std::ranges::any_of(influences(node), [&](Id s) { return active_.contains(s); });
}

std::vector<Edge> Activity::edges(Id node) const {
  std::vector<Edge> out = rules_.edges(node);
  std::erase_if(out, [&](const Edge& edge) { return !active_.contains(edge.from); });
  return out;
}

bool Activity::is_of_kernel_around(Id range) const { return rules_.is_of_kernel(range) && owner(range) == no_id; }

std::vector<std::size_t> Activity::slots(Id scope) const {
  std::vector<std::size_t> out;
  const std::size_t n = scope_inits(g_, scope).size();
  std::vector<bool> wanted(n, false);
  for (const Id id : between_) {
    if (!depends(id)) continue;  // an x, which needs no scope
    const bool own = g_.op(id) == Op::GET     ? g_.scope(id) == scope && !rules_.scatters.contains(id)
                     : g_.op(id) == Op::CARRY ? owner(g_.range_of(id)) == scope
                                              : false;
    if (own) wanted[g_.slot(id)] = true;
  }
  for (std::size_t k = 0; k < n; ++k)
    if (wanted[k]) out.push_back(k);
  return out;
}

void Activity::find_regions() {
  const auto is_range = [&](Id id) { return g_.op(id) == Op::RANGE; };
  if (std::ranges::none_of(nodes_, is_range)) return;
  OpenRanges open(g_);
  for (const Id id : nodes_) {
    open.visit(id);
    if (std::ranges::any_of(open.of(id), [&](Id range) { return rules_.is_in_kernel(range); })) in_kernel_.insert(id);
  }
  for (const Id id : between_) {
    if (!depends(id)) continue;
    if (g_.op(id) == Op::GET && !rules_.scatters.contains(id)) copied_.insert(g_.scope(id));
    if (g_.op(id) == Op::CARRY && owner(g_.range_of(id)) != no_id) copied_.insert(owner(g_.range_of(id)));
  }
  // A scope comes behind its region, so the outer scopes are the later ones.
  const auto in_copied = [&](Id id) {
    return std::ranges::any_of(open.of(id), [&](Id range) { return copied_.contains(owner(range)); });
  };
  for (auto it = nodes_.rbegin(); it != nodes_.rend(); ++it)
    if (is_scope(g_.op(*it)) && in_copied(*it)) copied_.insert(*it);
  for (const Id id : nodes_)
    if (in_copied(id) || (is_range(id) && copied_.contains(owner(id)))) inside_.insert(id);
}

}  // namespace kiln::compiler::autodiff
