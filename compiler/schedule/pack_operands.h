// pack_operands: copies an operand of a matrix product, or of another reduction, into the order in which lanes read it.
//
// Before: an fma REDUCE over r, whose value contains LOAD(b, index). The index depends on r, on the innermost LOOP range j and
//   perhaps on outer LOOP ranges. Each iteration of the other LOOP ranges reads the operand again.
//   Or any other REDUCE with such a LOAD, if all its other LOADs read, for neighbouring j, the same element or neighbours in
//   memory, as in the distances of all pairs of rows.
// After: one more kernel stores the operand with its ranges in the order of the reduction's loops, and the reduction loads it
//   from there. Two layouts:
//   - rows: p[.., r, j], for an operand whose neighbours in j are not neighbours in memory.
//   - panels: p[.., J, r, l] = b[.., r, J * panel + l], for a large operand of constant extents. The reduction loops over J and
//     l in place of j. If the panel does not divide the extent and the result is a parameter, the last panel begins earlier,
//     and its first columns are computed twice with equal results. Other kernels may be fused with one that stores to a
//     temporary, so it stores each element once: panels of half the width, or none.
//   A large left operand of a product whose neighbours in memory are neighbours in a row range i, not in r (the A of A^T B)
//   becomes rows too: p[.., i, r].
//   A left operand of 8 or 16 bits that the product casts to f32 becomes rows of f32.
//   Contiguous operands that are small or seldom read (packed_operand.h), or whose extents are not constants, stay.
//   Both operands of DOT2 become rows or panels of words, because a word is computed from two elements. An operand that does
//   not depend on j has the layout p[.., r].
// Requires: kernel_split ran. pair_products, an optional pass, runs before this pass and not after it.
// Ensures: the same elements are reduced in the same order.
// Why: the layout of rows makes lanes of j contiguous, which would be gathered otherwise. The layout of panels is for the
//   cache: rows of b in place are far apart, perhaps in the same few sets of it, and each line that is read of a panel is the
//   next one in memory.
//   The rows of a transposed left operand are far apart for neighbours in r: each element would be in another line and page.
//   Without the copy, each element of a left operand is cast alone, once for each vector of columns. Vectors of the right one
//   are cast while multiply-adds run.
//   reduce_lowering chooses these lanes (lane_limits.h has the limits that both passes use).
// Example: rows: f32 b [N, K] with b[j, r] in the sum   ->   p [K, N].   Panels: f32 b [K, 1024]   ->   p [64, K, 16]
// Compare: the packing in Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008.
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void pack_operands(Graph& g, Schedule& s);

}  // namespace kiln::compiler
