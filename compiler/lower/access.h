// Tells how the lanes of a LOAD or STORE find their elements.
#pragma once

#include "compiler/ir/graph.h"

namespace kiln::compiler {

enum class Access : std::uint8_t {
  scalar,      // one element at a scalar index
  contiguous,  // RAMP of stride 1: one vector that starts at the base
  strided,     // RAMP of another stride, without a gate: one access for each lane, at constant distances
  same,        // BROADCAST, without a gate: all lanes load one element (LOAD only)
  scattered    // any other vector of indices: one access for each lane
};

inline Access access_of(const Graph& g, Id node) {
  const Id index = g.src(node, 1);
  const bool gated = g.src(node).size() > 3, wide = g.lanes(index) > 1;
  if (!wide) return Access::scalar;
  if (g.op(index) == Op::RAMP && g.arg(index, 0) == 1) return Access::contiguous;
  if (g.op(index) == Op::RAMP && !gated) return Access::strided;
  if (g.op(index) == Op::BROADCAST && !gated && g.op(node) == Op::LOAD) return Access::same;
  return Access::scattered;
}

}  // namespace kiln::compiler
