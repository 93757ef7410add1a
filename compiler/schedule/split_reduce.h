// Split reduce. What: a long reduction to one value gets a kernel whose iterations threads can share. Before: a kernel of one
// iteration, STORE(y, 0, f(REDUCE over r of v)). After, where v holds a reduction of its own for each r (the rows of an image):
// a kernel stores t[r] = v, and the REDUCE reads t. After, where the order is striped and r is long: a kernel stores
// t[b] = the striped REDUCE of block b, 65536 values, and a striped REDUCE combines the blocks, which is the order of the whole
// by definition. f16 and bf16 blocks are stored as f32, because a reduction rounds once. Reductions that are short for every
// extent stay. Precondition: ranges are simplified. Postcondition: the same bits.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void split_reduce(Graph& g, Schedule& s);

}  // namespace kiln::compiler
