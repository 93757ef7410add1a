#include "compiler/ir/verify_scopes.h"

#include <algorithm>
#include <vector>

#include "compiler/ir/nth.h"
#include "compiler/ir/regions.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/verify_nodes.h"

namespace kiln::compiler {
namespace {

constexpr VerifyRule scope_table[] = {
    {"T", "range-owner", "each RANGE belongs to one FOR or KERNEL"},
    {"T", "escape", "values of a region are used outside only through GET"},
    {"T", "scope-entry", "bounds, extents and initial values do not depend on the scope's own RANGEs and CARRYs"},
    {"T", "state-order", "in a KERNEL, every reader of a state can come before the writer that takes it"},
    {"T", "kernel-nesting", "no KERNEL inside another"},
    {"T", "kernel-whole", "no GATHER and no STAGE inside a KERNEL"},
    {"T", "carry-slot", "a CARRY has its scope's first RANGE and the initial value of its slot"},
    {"T", "kernel-state", "a KERNEL's final states, and states that its loops carry, come from the CARRY of their slot"},
    {"T", "kernel-write", "in a KERNEL, writes go to its states and to LOCALs, in the region that holds the state"},
    {"T", "one-writer", "in a KERNEL, a state is taken by one writer"},
    {"T", "merged-effect", "in a KERNEL, no scope takes one state in two slots"},
    {"T", "state-use", "in a KERNEL, its states are read by INDEX only"},
};

class ScopeVerifier {
 public:
  ScopeVerifier(const Graph& g, std::span<const Id> roots)
      : g_(g), regions_(find_regions(g, roots)), origins_(state_origins(g, roots)), taken_by_(g.size(), no_id) {
    scope_of_.assign(g.size(), no_id);
    for (const Region& r : regions_.list)
      if (r.owner != no_id)
        for (Id range : scope_ranges(g, r.owner)) scope_of_[range] = r.owner;
  }

  void check() {
    for (const Region& r : regions_.list)
      for (Id id : r.nodes) {
        if (g_.op(id) == Op::CARRY) check_carry(id);
        if (g_.op(id) == Op::KERNEL && r.in_kernel) violated(g_, id, "kernel-nesting", "a KERNEL that is not inside another");
      }
    for (const Region& r : regions_.list)
      for (Id id : r.nodes) {
        if (g_.op(id) == Op::KERNEL) check_kernel(id);
        if (!r.in_kernel) continue;
        if (g_.op(id) == Op::GATHER || g_.op(id) == Op::STAGE)
          violated(g_, id, "kernel-whole", "GATHER and STAGE outside of KERNELs");
        if (is_write(g_.op(id))) check_write(id);
        if (g_.op(id) == Op::FOR) check_loop(id);
        check_uses(id);
      }
  }

 private:
  bool is_state(Id id) const {  // whether it is a state of memory that the work items of a KERNEL share
    const Id o = origins_[id];
    return g_.op(o) == Op::CARRY;
  }
  bool is_memory(Id id) const { return is_state(id) || g_.op(origins_[id]) == Op::LOCAL; }

  void check_carry(Id id) const {
    const auto [range, value] = g_.operands<2>(id);
    const Id scope = scope_of_[range];
    const auto init = scope_inits(g_, scope);
    const auto slot = g_.slot(id);
    if (scope_ranges(g_, scope)[0] != range || slot >= init.size() || init[slot] != value)
      violated(g_, id, "carry-slot",
               "the first RANGE of node %" + std::to_string(scope) + " and the initial value of its slot");
  }

  void check_kernel(Id id) {
    const KernelParts k = kernel_parts(g_, id);
    for (std::size_t i = 0; i < k.final.size(); ++i) {
      check_origin(id, k.final[i], i);
      take(id, k.final[i]);
    }
  }

  // The state in slot i at the end of an iteration must come from CARRY i of the same scope.
  void check_origin(Id scope, Id state, std::size_t i) const {
    Id at = state;
    while (regions_.of[at] == regions_.owned[scope]) {
      if (is_write(g_.op(at))) {
        at = g_.state(at);
      } else if (g_.op(at) == Op::GET && g_.op(g_.scope(at)) == Op::FOR) {
        at = nth(scope_inits(g_, g_.scope(at)), g_.slot(at));
      } else {
        break;
      }
    }
    const bool same = g_.op(at) == Op::CARRY && g_.range_of(at) == scope_ranges(g_, scope)[0] && g_.slot(at) == i;
    if (!same)
      violated(g_, scope, "kernel-state",
               "writes to CARRY {" + std::to_string(i) + "} of its RANGE in slot " + std::to_string(i));
  }

  void check_write(Id id) {
    const Id state = g_.state(id);
    if (!is_memory(state))
      violated(g_, id, "kernel-write", "a state of its KERNEL or a LOCAL, got node %" + std::to_string(state));
    take_here(id, state);
  }

  void check_loop(Id id) {
    const LoopParts l = loop_parts(g_, id);
    for (std::size_t i = 0; i < l.init.size(); ++i) {
      if (!is_memory(l.init[i])) continue;
      take_here(id, l.init[i]);
      check_origin(id, l.yield[i], i);
      take(id, l.yield[i]);
    }
  }

  void take_here(Id writer, Id state) {
    if (regions_.of[state] != regions_.of[writer])
      violated(g_, writer, "kernel-write", "a state of its own region; a loop carries those of outer ones");
    take(writer, state);
  }

  void take(Id writer, Id state) {
    const Id other = taken_by_[state];
    taken_by_[state] = writer;
    if (other == no_id) return;
    if (other == writer) violated(g_, writer, "merged-effect", "node %" + std::to_string(state) + " in one slot");
    violated(g_, writer, "one-writer",
             "a state that no other writer takes, got %" + std::to_string(state) + ", taken by %" + std::to_string(other));
  }

  void check_uses(Id id) const {
    const Op op = g_.op(id);
    const auto src = g_.src(id);
    for (std::size_t i = 0; i < src.size(); ++i) {
      const Id s = src[i];
      if (!is_memory(s) || (g_.op(s) != Op::CARRY && g_.op(s) != Op::GET && !is_write(g_.op(s)))) continue;
      if (is_scope(op) && regions_.of[s] == regions_.owned[id]) continue;  // a value that one iteration gives to the next
      const bool hands_on = is_scope(op) || op == Op::CARRY || op == Op::GET || op == Op::OLD;
      const bool first = i == 0 && (op == Op::INDEX || is_write(op));
      if (is_state(s) && !hands_on && !first) violated(g_, id, "state-use", "INDEX to read node %" + std::to_string(s));
      const Id here = regions_.lifted(id, regions_.of[s]);
      if (here == id || op == Op::CARRY || g_.op(here) != Op::FOR) continue;
      if (std::ranges::find(loop_parts(g_, here).init, s) != loop_parts(g_, here).init.end())
        violated(g_, id, "state-order", "the CARRY of node %" + std::to_string(s) + ", which the loop around it writes");
    }
  }

  const Graph& g_;
  Regions regions_;
  std::vector<Id> origins_, scope_of_, taken_by_;
};

}  // namespace

std::span<const VerifyRule> scope_rules() { return scope_table; }

void verify_scopes(const Graph& g, std::span<const Id> roots) { ScopeVerifier(g, roots).check(); }

}  // namespace kiln::compiler
