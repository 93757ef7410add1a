// The regions of a tensor-level program: which nodes are evaluated together, in each iteration of a FOR or in each work item of
// a KERNEL, and in which order. A node belongs to the region of the innermost FOR or KERNEL on whose RANGEs (or CARRY of one)
// it depends, else to the root region. So a node that does not depend on a loop is evaluated outside of it.
//
// The order of a region is ascending ids, except that all readers of a state come before the state's writer, so that memory can
// be changed in place. Readers and writers inside a nested FOR or KERNEL count as that FOR or KERNEL. In the region of a
// KERNEL, and of loops in it, this order must exist. In other regions states are plain values: if a reader needs the writer's
// result, the reader comes later, and an evaluator must keep the old contents for it.
#pragma once

#include <span>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

struct Region {
  Id owner = no_id;          // FOR or KERNEL; the root region has none
  std::uint32_t parent = 0;  // region of the owner
  bool in_kernel = false;    // the owner is a KERNEL, or a FOR inside a KERNEL
  std::vector<Id> nodes;     // in order
};

struct Regions {
  std::vector<Region> list;          // list[0] is the root region; then by ascending owner, inner before outer
  std::vector<std::uint32_t> of;     // by node: its region (0 for nodes that the roots do not reach)
  std::vector<std::uint32_t> owned;  // by node: the region that a FOR or KERNEL owns, else 0

  // The node of region `outer` that contains m: m itself, or the FOR or KERNEL around it. `outer` must enclose m's region.
  Id lifted(Id m, std::uint32_t outer) const;
};

// Iterative; linear except for priority queues. Throws Diagnostic E-verify: rules range-owner, escape, scope-entry,
// state-order.
Regions find_regions(const Graph& g, std::span<const Id> roots);

// The state that UPDATE, ATOMIC, CARRY, and GET of a FOR continue; no_id: another node, which begins a chain of states.
Id continued_state(const Graph& g, Id id);

// By node: the node at which its chain of writes begins. CARRY and GET of a FOR, UPDATE and ATOMIC have the origin of the state
// that they continue; any other node is its own origin. Inside kernels, states with the same origin (CARRY of a KERNEL's first
// RANGE, or LOCAL) share memory.
std::vector<Id> state_origins(const Graph& g, std::span<const Id> roots);

}  // namespace kiln::compiler
