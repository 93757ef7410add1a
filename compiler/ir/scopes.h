// Access to the parts of loops, kernels and writes by name. The spans are valid until the graph gains a node.
#pragma once

#include <span>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

struct LoopParts {  // FOR
  Id range, begin, end;
  std::span<const Id> init, yield;
  std::int64_t step;
  bool conditional;  // the loop also ends if carried value 0 is false
};
LoopParts loop_parts(const Graph& g, Id loop);
// Whether the begin or end of a FOR among the (indirect) sources of these nodes depends on the range.
bool bounds_loops(const Graph& g, std::span<const Id> nodes, Id range);

struct KernelParts {  // KERNEL
  std::span<const Id> ranges, init, final;
};
KernelParts kernel_parts(const Graph& g, Id kernel);

struct WriteParts {                 // UPDATE, ATOMIC
  Id state, gate, value, expected;  // expected: no_id except for compare_exchange
  std::span<const Id> index;
};
WriteParts write_parts(const Graph& g, Id write);
// Whether an UPDATE has the promise of op.h that no other work item accesses its element.
inline bool is_unique(const Graph& g, Id write) { return g.op(write) == Op::UPDATE && !g.args(write).empty(); }

// The gate of an INDEX and its first index without the gate. gate: no_id if there is none. first: no_id for rank 0.
struct IndexGate {
  Id gate, first;
};
IndexGate index_gate(const Graph& g, Id index);

// Whether the node is a FOR over the work items of a workgroup between two barriers.
bool is_workgroup_loop(const Graph& g, Id id);

// Whether a program of ranges reads the tensor's elements from memory: a PARAM, a STAGE, or a result of a KERNEL.
bool is_storage(const Graph& g, Id tensor);

inline bool is_scope(Op op) { return op == Op::FOR || op == Op::KERNEL; }
inline bool is_write(Op op) { return op == Op::UPDATE || op == Op::ATOMIC; }
// The RANGEs that a FOR or KERNEL owns, and its operands at entry: bounds and initial values.
std::span<const Id> scope_ranges(const Graph& g, Id scope);
std::span<const Id> entry_values(const Graph& g, Id scope);
// The initial values, by slot.
std::span<const Id> scope_inits(const Graph& g, Id scope);

}  // namespace kiln::compiler
