// The regions of a tensor-level program: which nodes are evaluated together at each turn of a FOR or each point of a KERNEL,
// and in which order. A node belongs to the region of the innermost FOR or KERNEL on whose RANGEs (or CARRY of one) it depends,
// and to the root region otherwise; so what does not change in a loop is evaluated outside of it.
//
// The order of a region is that of ids, except that every reader of a state comes before the writer that takes the state:
// memory may then be changed in place. Readers and writers inside a nested FOR or KERNEL count as that FOR or KERNEL. In a
// KERNEL's region (and loops in it) such an order must exist. Elsewhere states are plain values: where a reader needs the
// writer's result, the reader comes later, and an evaluator must keep the old contents for it.
#pragma once

#include <span>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

struct Region {
  Id owner = no_id;          // FOR or KERNEL; the root region has none
  std::uint32_t parent = 0;  // region of the owner
  bool in_kernel = false;    // of a KERNEL, or of a FOR inside one
  std::vector<Id> nodes;     // in order
};

struct Regions {
  std::vector<Region> list;          // list[0] is the root region; others in ascending order of owners, inner before outer
  std::vector<std::uint32_t> of;     // by node: its region (0 for nodes that the roots do not reach)
  std::vector<std::uint32_t> owned;  // by node: the region that a FOR or KERNEL owns, else 0

  // The node of region `outer` that m counts as there: m, or the FOR or KERNEL around it. `outer` encloses m's region.
  Id lifted(Id m, std::uint32_t outer) const;
};

// Linear (but for the queues of nodes that become ready) and iterative. Throws Diagnostic E-verify, rules range-owner, escape,
// scope-entry and state-order.
Regions find_regions(const Graph& g, std::span<const Id> roots);

// Where the state of a chain of writes comes from, by node: for CARRY and GET of a FOR and for UPDATE and ATOMIC the origin of
// the state they hand on; any other node is its own. Inside kernels, memory is shared by the states of one origin: CARRY of a
// KERNEL's first RANGE, or LOCAL.
std::vector<Id> state_origins(const Graph& g, std::span<const Id> roots);

}  // namespace kiln::compiler
