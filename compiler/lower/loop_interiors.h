// loop_interiors: cuts the loop of a reduction at the iterations in which padding, clamping or wrapping acts.
//
// Before: a FOR over lanes, or over scalars, that carries values, has no effects and no loop inside. Its LOADs have gates or
//   indices that compare the range with values that are the same in all iterations.
// After: three FORs, one after the other, which carry the same values: the iterations before, inside and behind. Inside each
//   condition holds in all lanes and each clamp or wrap does nothing, so the LOADs are contiguous and without gates. The
//   elements keep their order, so the result has the same bits.
// Requires: reductions lowered.
// Why: the border is one or two iterations, but all iterations would pay for it.
// Example: for r in 0..n step 32: a += r >= 1 ? x[r - 1] : 0  ->  for r in 0..32; for r in 32..n: a += x[r - 1]
#pragma once

#include <cstdint>

#include "compiler/ir/graph.h"
#include "compiler/lower/rewrite.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

// Which loops: those over vectors, or those whose values are all scalars, in kernels that the program wrote.
enum class LoopLanes : std::uint8_t { some, none };

Id loop_interiors(Graph& g, RangeIds& loops, Id sink, const Facts& facts, LoopLanes lanes = LoopLanes::some);

}  // namespace kiln::compiler
