// inline_kernels: computes an elementwise kernel inside of the kernels that read its result.
//
// Before: kernel P stores, for each place of its LOOP ranges, a value without a reduction to a temporary t. Each kernel that
//   loads t is without reductions, too.
// After: each reader computes the value where it loaded t. P is gone, and nothing is stored to t.
//   A value that is no LOAD is computed again by each read, so it moves only if t has one reader that reads each element about
//   once. A reader's condition becomes a condition of the loads of the value.
// Requires: pack_windows and pack_operands ran. A value that the program asked to store (Buffer::whole) moves only if it is an
//   element of another temporary, where it is stored too.
// Ensures: the same values are computed from the same elements.
// Why: fold_stages has left no such pair. The pair comes from pack_windows: a convolution over planes leaves a kernel that
// drops
//   the sums between the rows, and the next convolution copies the result with its border.
// Example: k1: t[112*i + j] = max(s[115*i + j], 0)     k2: p[114*i + j] = 0 < i and 0 < j ? t[112*i + j - 113] : 0
//   ->  k2: p[114*i + j] = 0 < i and 0 < j ? max(s[115*i + j - 116], 0) : 0
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void inline_kernels(Graph& g, Schedule& s);

}  // namespace kiln::compiler
