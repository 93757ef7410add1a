// kernel_split: makes kernels over buffers from a graph of values over ranges.
//
// Before: SINK(END(STORE(PARAM, value), RANGEs)...). Values contain STAGEs (values that need storage), KERNELs, and INDEX.
// After: one kernel for each STAGE, each KERNEL of the program, and each group of neighbouring ENDs with equal ranges:
//   SINK(END(STORE(BUFFER slot, linear index, value), LOOP RANGEs)...). Each INDEX becomes LOAD(BUFFER slot, linear index), and
//   an INDEX with a gate becomes LOAD(BUFFER slot, linear index, 0, gate), which is 0 where the gate is false. Linear indices
//   are row-major, or use a parameter's own strides. RANGE ids count from 0 in each kernel. LOOP ranges of one
//   iteration are left out, but a kernel keeps at least one range.
//   An output that copies a STAGE in its order, perhaps under another shape, becomes the buffer of that STAGE, without a copy.
// Requires: range_assignment ran.
// Ensures: the kernel of a STAGE comes before the kernels that load it.
// Example: y [M, N] = transpose of x [N, M]:
//   END(STORE(y, INDEX(x, j, i)), i, j)   ->   END(STORE(BUFFER 0, N*i + j, LOAD(BUFFER 1, M*j + i)), i, j)
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void kernel_split(Graph& g, Schedule& s);

}  // namespace kiln::compiler
