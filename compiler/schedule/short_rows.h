// Short rows: a version of a kernel for calls whose rows have few elements. product_versions adds it.
//
// Before: a kernel, perhaps with tile steps, whose outermost range counts rows. It reduces elements of its own row along the
//   row, and the number of these elements is a symbol.
// After: a kernel over tiles of 64 rows. Its innermost ranges count the rows of a tile, so that they become lanes.
//   - A tile step copies a tile of each such input, transposed, into a tile buffer: element e of row r is at e * 64 + r. The
//     other tile steps read the copy. Outputs with short rows are written transposed, and a last tile step copies them.
//   - A value of the row that contains a REDUCE, and that is used in a loop along the row or in another REDUCE, has a tile
//     step of its own. So no loop around the lanes repeats a REDUCE.
//   - Loops along the row have at most 32 iterations, so that each stripe of a sum has at most one element.
//   - The last tile ends at the last row. Some rows may be computed twice, with equal results.
// Kernels stay if they have an fma REDUCE or many operations, divide the number of the row by a symbol (in lanes each row would
// divide), load a whole buffer that they store, access rows in another way,
//   or have rows that end behind the buffer.
// Ensures: each REDUCE reduces the same elements in the same order.
// Why: a row of few elements fills a small part of a vector, and its sum is a tree of shuffles for each row.
// Example: y[i < N] = sum over k < D of x[i * D + k]   ->   for T:
//   t[e, r] = x[row(r) * D + e]; y[row(r)] = sum over k < min(D, 32) of t[k, r];   row(r) = min(T * 64, N - 64) + r
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/schedule.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

struct ShortRows {
  Kernel kernel;
  Id factor;              // 1 if the rows of the call are short, and fill a tile; else 0: the kernel must not run
  std::vector<Id> sizes;  // the symbolic numbers of elements that must be small
};

// nullopt: the kernel has another form, or rows of constant length, which need no version. Adds tile buffers to the schedule.
std::optional<ShortRows> short_rows(Graph& g, Schedule& s, const Kernel& k, const Facts& facts);

}  // namespace kiln::compiler
