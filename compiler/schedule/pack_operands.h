// pack_operands: copies an operand of a matrix product, or of another reduction, into the order in which lanes read it.
//
// Before: an fma REDUCE over r, whose value contains LOAD(b, index) for an index that depends on r, on the innermost LOOP range
//   j and perhaps on outer LOOP ranges; the other LOOP ranges walk the operand again and again. Or any other REDUCE, if this
//   LOAD is the only one whose neighbours in j are not neighbours in memory, as in the distances of all pairs of rows.
// After: one more kernel stores the operand with its ranges in the order of the reduction's loops, and the reduction loads it
//   from there. Two layouts:
//   - rows: p[.., r, j], for an operand whose neighbours in j are not neighbours in memory.
//   - panels: p[.., J, r, l] = b[.., r, J * panel + l], for a large operand of constant extents. The reduction loops over J and
//     l in place of j. If the panel does not divide the extent, the last panel begins earlier, and its first columns are
//     computed twice with equal results.
//   Contiguous operands that fit a cache, or whose extents are not constants, stay.
//   Both operands of DOT2 become rows or panels of words, because a word is computed from two elements. An operand that does
//   not depend on j has the layout p[.., r].
// Requires: kernel_split ran; pair_products ran, if it runs.
// Ensures: the same elements are reduced in the same order.
// Why: without it, lanes of j would be gathered, and rows of b that are N elements apart fall into the same few sets of a cache
//   if N is near a power of two.
//   reduce_lowering chooses these lanes (lane_limits.h has the limits that both passes use).
// Example: f32 b [K, 1024]   ->   p [16, K, 64]
// Compare: the packing in Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008.
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void pack_operands(Graph& g, Schedule& s);

}  // namespace kiln::compiler
