// product_versions: gives a matrix product of symbolic extents versions. The extents of a call decide which one it runs.
//
// Before: a kernel with an fma REDUCE that reads a contiguous operand, whose extents pack_operands does not know. Its rows are
//   the iterations of the LOOP ranges on which the operand does not depend.
// After: several kernels in place of one. An index expression for each, 0 or 1, says whether the call runs it. It multiplies
//   the extent of the kernel's outermost range, so the other kernels have 0 iterations.
//   - panels: the operand is large. It has at least fewest_panels panels of columns, does not fit the cache, and is read for at
//     least walks_for_panels rows (packed_operand.h). One kernel copies it into panels, and another one reads the panels.
//   - one row: there is one row. Its ranges are constants.
//   - few rows, if the operand is a copy that pack_operands makes: there are fewer than walks_for_rows
//     (packed_operand.h). It reads what the copy reads, and the copy has no iterations. Then there is no version for one row.
//   - in place: all other calls.
//   Or a striped REDUCE for each pair of rows inside another REDUCE, which repeats the loads of one row, as in the search of
//   the nearest row. After: a kernel for rows in place, and one that reads a transposed copy of the rows, which a third kernel
//   makes. The copy is for rows of at most 64 elements that are repeated at least walks_for_rows times. Constant rows of at
//   most 8 elements stay. If the facts about symbols decide an expression, there are fewer versions.
// Requires: dependencies ran. ping_pong, an optional pass, runs before this pass and not after it. The other passes that know a
//   whole kernel by its loops ran before, too: no version stores a whole buffer for all extents.
// Ensures: each call runs exactly one version. It reduces the same elements in the same order. Kernels that depended on the old
//   kernel depend on all of its versions. Kernels with tile steps, and kernels that the program wrote, stay.
// Why: small operands are fastest in place, and large ones in panels (see pack_operands). With one row, each row of the operand
//   is read once, as it is in memory. Only the call knows which it has.
// Example: y[i < M, j < N] = sum of a[i, r] * b[r, j]   ->
//   y[j < N * one] = sum of a[0, r] * b[r, j]
//   y[i < M * (1 - one - large), j < N] = sum of a[i, r] * b[r, j]
//   p[J, r < K * large, l < 64] = b[r, J * 64 + l];   y[i < M * large, J * 64 + l] = sum of a[i, r] * p[J, r, l]
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void product_versions(Graph& g, Schedule& s);

}  // namespace kiln::compiler
