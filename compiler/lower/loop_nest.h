// loop_nest: builds the nested FORs of a kernel from its stores and a plan.
//
// Before: STOREs over ranges, and a LoopPlan for each range.
// After: FORs around copies of the stores (expand.h); every FOR has a RANGE of its own. A range with step s becomes a main loop
//   with step s and a loop for the rest, which is absent if s divides the extent. The main loop over lanes covers the interior
//   of a range; the borders are vectors with gates, or separate loops of single iterations (interior.h). If only the call knows
//   the length of rows, long rows, whose stores are aligned, and short rows have loops of their own. The pieces of
//   a concatenation have loops one after the other, too (range_parts.h). In the interior the pixels and channels of a row
//   become one contiguous range if all accesses permit it.
//   Copies that share loads are simplified, so that equal loads are one node. Of a constant number of such rows, the blocks at
//   the borders are written out, and only they have the borders' conditions. Beside a vector of half the lanes at the end of a
//   row, a loop with twice as many copies comes first, so that its accumulators fill the registers. A rest of few copies and
//   one iteration of the main loop are two nearly equal groups, so that no accumulators wait for each other. The outermost loop
//   runs from SYM("$begin") to SYM("$end"): a chunk that the runtime chooses.
// Requires: reductions lowered.
// Example: STORE over i < N with 8 lanes  ->  FOR i in $begin..m step 8 { 8 lanes }, FOR i in m..$end { one iteration }, where
//   m = $begin + ($end - $begin) / 8 * 8
#pragma once

#include <span>

#include "compiler/lower/rewrite.h"
#include "compiler/lower/vectorize_plan.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

// Whether borders of padding and clamping get loops of their own.
enum class Borders : std::uint8_t { split, stay };

// The last vector of a range that the lanes do not divide. masked: some of its lanes are inactive.
// shifted: it begins earlier, so that all lanes are active, and some elements are computed and stored twice. Without mask
// registers, a masked store takes longer than all other work of a short row.
enum class LastVector : std::uint8_t { masked, shifted };
inline LastVector last_vector(const Target& target) {
  return target.has_mask_registers() ? LastVector::masked : LastVector::shifted;
}

// Returns the effects of the kernel: its outermost FORs, one after the other.
std::vector<Id> loop_nest(Graph& g, RangeIds& loops, std::span<const Id> stores, std::span<const LoopPlan> plan,
                          const Facts& facts, Borders borders = Borders::split, LastVector last = LastVector::masked);

// The same for stores inside another loop. The outermost range runs from 0 to its extent.
std::vector<Id> inner_nest(Graph& g, RangeIds& loops, std::span<const Id> stores, std::span<const LoopPlan> plan,
                           const Facts& facts, LastVector last);

}  // namespace kiln::compiler
