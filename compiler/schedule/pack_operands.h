// pack_operands: copies the right operand of a large matrix product into contiguous panels.
//
// Before: an fma REDUCE over r of LOAD(b, r*N + j) for the innermost LOOP range j; other LOOP ranges walk b again and again.
// After: one more kernel stores p[J, r, l] = b[r, J*panel + l]. The product loops over J, then the other ranges, then l, and
//   loads p.
//   Operands that fit a cache, or whose extents are not constants, stay.
// Requires: kernel_split ran.
// Ensures: the same elements are multiplied in the same order.
// Why: rows of a panel are N elements apart in b. If N is near a power of two, they fall into the same few sets of every cache.
// Example: f32 b [K, 1024]   ->   p [64, K, 16]: a panel has 16 columns, so a row of a panel is one cache line.
// Compare: the packing in Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008.
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void pack_operands(Graph& g, Schedule& s);

}  // namespace kiln::compiler
