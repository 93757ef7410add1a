// Pack operands. What: the right operand of a large matrix product is first copied into panels of a few columns, each
// contiguous. Before: fma REDUCE over r of LOAD(b, r*N + j) for a LOOP range j that is walked again and again by other
// LOOP ranges; in memory the rows of a panel are N elements apart, and where that is near a power of two they fall into the
// same few sets of every cache. After: one more kernel stores p[J, r, l] = b[r, J*panel + l], and the product walks J, then the
// other ranges, then l, and loads p. Extents of r and j are constants and the operand is larger than a cache; smaller ones
// stay. Precondition: kernel split ran. Postcondition: the same elements are multiplied in the same order.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void pack_operands(Graph& g, Schedule& s);

}  // namespace kiln::compiler
