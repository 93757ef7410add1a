// product_versions: replaces a matrix product of symbolic extents by versions. The extents of a call decide which one runs.
//
// Before: a kernel with an fma REDUCE of a contiguous operand, for a number of rows that is not constant. Rows are the
//   iterations of the LOOP ranges on which the operand does not depend.
// After: several versions in place of one kernel. Each version has a factor, an index expression that is 1 if the call runs
//   this version, else 0. The extent of its outermost range is multiplied by the factor: the other versions do nothing.
//   - panels: the operand has at least fewest_panels panels of columns, and its size and the number of rows reach
//     lowest_panel_limit (packed_operand.h). One kernel copies it into panels, and another one reads the panels.
//   - one row: there is one row. The ranges of rows are replaced by 0.
//   - few rows, if the operand is a copy that pack_operands makes: there are fewer than walks_for_rows (packed_operand.h).
//     It reads the source of the copy, and the kernel that copies does nothing. Then there is no version for one row.
//   - in place: all other calls.
//   Or a striped REDUCE inside another REDUCE, a sum for each pair of rows, as in the search of the nearest row. The outer
//   REDUCE repeats the loads of one row. After: a version in place, and a version of two kernels, which copy the rows
//   transposed and read the copy. The copy is for rows of at most 64 elements that are read at least walks_for_rows times.
//   Rows of a constant length of at most 8 stay. If the facts about symbols decide a factor, there are fewer versions.
//   Or a kernel, perhaps with tile steps, that reduces along rows of symbolic length. After: this kernel, and a version for
//   short rows (short_rows.h).
// Requires: dependencies ran. ping_pong, an optional pass, runs before this pass and not after it. The other passes that know a
//   whole kernel by its loops ran before, too: no version stores a whole buffer for all extents.
// Ensures: each call runs exactly one version. It reduces the same elements in the same order. Kernels that depended on the old
//   kernel depend on all of its versions. Kernels that the program wrote stay.
// Why: small operands are fastest in place, and large ones in panels (see pack_operands). With one row, each row of the operand
//   is read once, as it is in memory. Only the call knows the extents.
// Example: y[i < M, j < N] = sum of a[i, r] * b[r, j]   ->
//   y[j < N * one] = sum of a[0, r] * b[r, j]
//   y[i < M * (1 - one - large), j < N] = sum of a[i, r] * b[r, j]
//   p[J, r < K * large, l < 16] = b[r, J * 16 + l];   y[i < M * large, J * 16 + l] = sum of a[i, r] * p[J, r, l]
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void product_versions(Graph& g, Schedule& s);

}  // namespace kiln::compiler
