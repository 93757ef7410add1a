// register_block: plans the loops of a kernel with an fma reduction, so that its accumulators fill the registers. It also plans
// other kernels that load the same vectors in all iterations of an outer range, such as distances of all pairs and outer sums.
//
// Before: LOOP ranges, the innermost of which becomes lanes, and an outer range i. With an fma reduction: a load of the
//   reduction does not depend on i. Else: no vector load depends on i, and there are reductions, or at least 8 vector loads.
// After: a plan with the loops [ranges before i] [blocks of i] [ranges between] [lanes] [copies of i]. The copies times the
//   registers of the lanes are the accumulators. If the lanes are short and their columns go on in a range around them, as in
//   the panels of pack_operands, neighbouring iterations of that range are copies, too. A block has so many iterations of i
//   that their part of the copies' operand fits the second-level cache, and at least 126. The lanes' operand is read once for
//   each block. A short range i has no blocks.
// Requires: reductions lowered; the last range may become lanes.
// Why: each load of a vector serves all copies, and each broadcast serves all registers of the lanes. Accumulators that fill
//   the registers hide the latency of the multiply-add.
//   Two or three copies, such as the channels of an image, have more vectors side by side, or copies of a
//   second short range, as the rows of a small window. With 32 registers, up to 11 rows are copies at once beside lanes of
//   2 registers, and 2 to 5 rows have more vectors: the lanes' operand, as the weights of a layer, is then read once.
//   Reductions with many accumulators have few copies or one, and then the loop over i inside the lanes keeps the operand of
//   the lanes in the first-level cache.
// Example: c[i, j] += a[i, k] * b[k, j] for 32 registers of 16 lanes  ->  blocks of i, j by 64 lanes, i by 6 copies: 24
//   accumulators, 4 registers for b and one for a.
// Compare: Van Zee and van de Geijn, BLIS: A Framework for Rapidly Instantiating BLAS Functionality, 2015.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/lower/vectorize_plan.h"

namespace kiln::compiler {

// fma_loops: the FORs of the fma reductions. widest: bytes of the widest value. can_mask: lanes may be inactive. nullopt: no
// load is shared.
std::optional<std::vector<LoopPlan>> register_block(const Graph& g, std::span<const Id> stores, std::span<const Id> fma_loops,
                                                    std::span<const Id> ranges, int widest, bool can_mask,
                                                    const Target& target);

}  // namespace kiln::compiler
