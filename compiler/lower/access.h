// The operands of accesses by name, and how the lanes of a LOAD or STORE find their elements.
#pragma once

#include <cassert>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// The linear index of a LOAD or STORE.
inline Id index_of(const Graph& g, Id access) {
  assert(g.op(access) == Op::LOAD || g.op(access) == Op::STORE);
  return g.src(access, 1);
}

// The value that a STORE or ATOMIC stores or combines.
inline Id value_of(const Graph& g, Id access) {
  assert(g.op(access) == Op::STORE || g.op(access) == Op::ATOMIC);
  return g.src(access, 2);
}

enum class Access : std::uint8_t {
  scalar,      // one element at a scalar index
  contiguous,  // RAMP of stride 1: one vector that starts at the base
  strided,     // RAMP of another stride, without a gate: one access for each lane, at constant distances
  even,        // other vectors whose lanes have a constant distance that the call knows (even_lanes.h)
  same,        // BROADCAST: all lanes load one element (LOAD only)
  scattered    // any other vector of indices: one access for each lane
};

// Whether the index has the form that even_lanes makes: BROADCAST(first) + BROADCAST(distance) * RAMP{0} args {1}.
inline bool is_even(const Graph& g, Id index) {
  if (g.op(index) != Op::ADD) return false;
  const auto [first, steps] = g.operands<2>(index);
  if (g.op(first) != Op::BROADCAST || g.op(steps) != Op::MUL) return false;
  const auto [distance, lane] = g.operands<2>(steps);
  return g.op(distance) == Op::BROADCAST && g.op(lane) == Op::RAMP && g.stride(lane) == 1 && g.is_const(g.operand(lane)) &&
         g.value(g.operand(lane)) == 0;
}

inline Access access_of(const Graph& g, Id node) {
  const Id index = index_of(g, node);
  const bool gated = g.src(node).size() > 3, wide = g.lanes(index) > 1;
  if (!wide) return Access::scalar;
  if (g.op(index) == Op::RAMP && g.stride(index) == 1) return Access::contiguous;
  if (g.op(index) == Op::RAMP && !gated) return Access::strided;
  if (g.op(index) == Op::BROADCAST && g.op(node) == Op::LOAD) return Access::same;
  return is_even(g, index) ? Access::even : Access::scattered;
}

}  // namespace kiln::compiler
