#include "compiler/ir/regions.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>

#include "compiler/ir/nth.h"
#include "compiler/ir/region_order.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/verify_nodes.h"

namespace kiln::compiler {
namespace {

// Sets of open RANGEs, by number; 0 is the empty set. There are few sets, and none is larger than scopes nest deeply.
class RangeSets {
 public:
  RangeSets() { number({}); }

  const std::vector<Id>& operator[](std::uint32_t set) const { return *sets_[set]; }
  std::uint32_t number(std::vector<Id> set) {
    const auto [it, made] = numbers_.emplace(std::move(set), static_cast<std::uint32_t>(sets_.size()));
    if (made) sets_.push_back(&it->first);
    return it->second;
  }
  std::uint32_t merge(std::uint32_t a, std::uint32_t b) {
    if (a == b || b == 0) return a;
    if (a == 0) return b;
    const auto [it, made] = merged_.emplace(std::uint64_t{std::min(a, b)} << 32 | std::max(a, b), 0);
    if (!made) return it->second;
    std::vector<Id> out;
    std::ranges::set_union(*sets_[a], *sets_[b], std::back_inserter(out));
    return it->second = number(std::move(out));
  }
  std::uint32_t without(std::uint32_t a, std::span<const Id> gone) {
    std::vector<Id> out;
    for (Id r : *sets_[a])
      if (std::ranges::find(gone, r) == gone.end()) out.push_back(r);
    return out.size() == sets_[a]->size() ? a : number(std::move(out));
  }
  bool intersects(std::uint32_t a, std::span<const Id> with) const {
    return std::ranges::any_of(*sets_[a], [&](Id r) { return std::ranges::find(with, r) != with.end(); });
  }

 private:
  std::map<std::vector<Id>, std::uint32_t> numbers_;
  std::vector<const std::vector<Id>*> sets_;
  std::unordered_map<std::uint64_t, std::uint32_t> merged_;  // by pair of sets; never iterated
};

class Finder {
 public:
  Finder(const Graph& g, std::span<const Id> roots) : g_(g), roots_(roots), reached_(g.reachable(roots)) {}

  Regions find() {
    r_.of.assign(g_.size(), 0);
    r_.owned.assign(g_.size(), 0);
    r_.list.emplace_back();
    if (std::ranges::none_of(reached_, [&](Id id) { return g_.op(id) == Op::RANGE || is_write(g_.op(id)); })) {
      r_.list[0].nodes = std::move(reached_);
      return std::move(r_);
    }
    find_owners();
    find_open_ranges();
    name_regions();
    order_regions(g_, reached_, r_);
    return std::move(r_);
  }

 private:
  void find_owners() {
    owner_.assign(g_.size(), no_id);
    for (Id id : reached_) {
      if (!is_scope(g_.op(id))) continue;
      for (Id r : scope_ranges(g_, id)) {
        if (owner_[r] != no_id)
          violated(g_, id, "range-owner", "RANGEs that no other scope has, got one of node %" + std::to_string(owner_[r]));
        owner_[r] = id;
      }
      r_.owned[id] = static_cast<std::uint32_t>(r_.list.size());
      r_.list.push_back({id, 0, g_.op(id) == Op::KERNEL, {}});
    }
  }

  void check_entry(Id scope) const {
    const auto own = scope_ranges(g_, scope);
    const auto check = [&](Id s) {
      if (sets_.intersects(open_[s], own))
        violated(g_, scope, "scope-entry",
                 "bounds, extents and initial values that do not depend on its own RANGEs and CARRYs");
    };
    for (Id s : entry_values(g_, scope)) check(s);
    for (Id r : own) check(g_.end(r));
  }

  void find_open_ranges() {
    open_.assign(g_.size(), 0);
    for (Id id : reached_) {
      std::uint32_t set = 0;
      for (Id s : g_.src(id)) set = sets_.merge(set, open_[s]);
      if (g_.op(id) == Op::RANGE) {
        if (owner_[id] == no_id) violated(g_, id, "range-owner", "a FOR or KERNEL that has this RANGE");
        set = sets_.merge(set, sets_.number({id}));
      }
      if (is_scope(g_.op(id))) {
        check_entry(id);
        set = sets_.without(set, scope_ranges(g_, id));
      }
      open_[id] = set;
    }
    for (Id root : roots_)
      for (Id r : sets_[open_[root]])
        violated(g_, r, "escape",
                 "that values of its region are used outside only through GET of node %" + std::to_string(owner_[r]));
  }

  // A node's region belongs to the owner with the smallest id among its open RANGEs. That scope is innermost, because a scope
  // has a smaller id than the scopes around it.
  void name_regions() {
    for (Id id : reached_) {
      Id innermost = no_id;
      for (Id r : sets_[open_[id]]) innermost = std::min(innermost, owner_[r]);
      if (innermost != no_id) r_.of[id] = r_.owned[innermost];
    }
    for (std::size_t i = r_.list.size(); i-- > 1;) {
      Region& region = r_.list[i];
      region.parent = r_.of[region.owner];
      region.in_kernel = region.in_kernel || r_.list[region.parent].in_kernel;
    }
  }

  const Graph& g_;
  std::span<const Id> roots_;
  std::vector<Id> reached_;
  Regions r_;
  RangeSets sets_;
  std::vector<Id> owner_;            // by RANGE: the FOR or KERNEL that owns it
  std::vector<std::uint32_t> open_;  // by node: its open RANGEs, a number of sets_
};

}  // namespace

Regions find_regions(const Graph& g, std::span<const Id> roots) { return Finder(g, roots).find(); }

Id Regions::lifted(Id m, std::uint32_t outer) const {
  while (of[m] != outer) m = list[of[m]].owner;
  return m;
}

Id continued_state(const Graph& g, Id id) {
  if (is_write(g.op(id))) return g.state(id);
  if (g.op(id) == Op::CARRY) return g.src(id, 1);
  if (g.op(id) == Op::GET && g.op(g.scope(id)) == Op::FOR) return nth(scope_inits(g, g.scope(id)), g.slot(id));
  return no_id;
}

std::vector<Id> state_origins(const Graph& g, std::span<const Id> roots) {
  const auto reached = g.reachable(roots);
  std::vector<Id> out(g.size(), no_id);
  std::vector<bool> of_kernel(g.size(), false);  // by RANGE: whether a KERNEL owns it
  for (Id id : reached)
    if (g.op(id) == Op::KERNEL)
      for (Id r : scope_ranges(g, id)) of_kernel[r] = true;
  for (Id id : reached) {
    const bool at_entry = g.op(id) == Op::CARRY && of_kernel[g.range_of(id)];
    const Id before = at_entry ? no_id : continued_state(g, id);
    out[id] = before == no_id ? id : out[before];
  }
  return out;
}

}  // namespace kiln::compiler
