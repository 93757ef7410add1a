// inline_kernels: computes an elementwise kernel inside of the kernels that read its result.
//
// Before: kernel P stores, for each place of its LOOP ranges, a value to a temporary t: an element of a temporary that a
//   reduction has stored, or a few cheap operations on it. Each kernel that loads t has no reductions either.
// After: each reader computes the value where it loaded t, and t is in no kernel's list of buffers. P is gone.
//   A value that is no LOAD moves only if t has one reader, with about as many iterations as t has elements. A reader's
//   condition becomes a condition of the value's loads.
// Requires: pack_windows and pack_operands ran. A value that the program asked to store (Buffer::whole) moves only if it is an
//   element of another temporary, where it is stored too.
// Ensures: the same values are computed from the same elements.
// Why: a convolution over planes (pack_windows) leaves a kernel that drops the sums between the rows. The kernel
//   that copies its result with a border, or joins the phases of a derivative, can read the sums itself.
// Example: k1: t[112*i + j] = max(s[115*i + j], 0)     k2: p[114*i + j] = 0 < i and 0 < j ? t[112*i + j - 113] : 0
//   ->  k2: p[114*i + j] = 0 < i and 0 < j ? max(s[115*i + j - 116], 0) : 0
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void inline_kernels(Graph& g, Schedule& s);

}  // namespace kiln::compiler
