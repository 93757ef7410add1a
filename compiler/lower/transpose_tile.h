// transpose_tile: replaces gathers by contiguous loads along another range, and shuffles that transpose the loaded tile.
//
// Before: C copies, one for each of C neighbouring iterations of a range i; W lanes over a range j, C <= W. Some LOAD is
//   contiguous in i but not in j, so that each of its vectors would be gathered.
// After: W contiguous LOADs of C elements along i, one for each lane of j, and SHUFFLEs that transpose them. In each copy
//   one of the transposed vectors replaces the LOAD.
//   Under a mask, the lanes behind the end of j have the line of the last element: their values are not stored.
// Requires: some lane is active, the active lanes come first. The LOAD is in no inner loop, and has no gate that depends on j.
// Example: y[i, j] = x[j, i], 4 copies and 4 lanes  ->  4 LOADs x[j + l, i .. i + 3], 8 SHUFFLEs, 4 STOREs
#pragma once

#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/lower/expand.h"

namespace kiln::compiler {

// Transposes a square of vectors: lane j of vector i becomes lane i of vector j. Their number is a power of two.
void transpose(Graph& g, std::vector<Id>& square);

// The LOADs below the stores whose indices are contiguous in `rows` but not in `lanes`.
std::vector<Id> loads_to_transpose(const Graph& g, std::span<const Id> stores, Id rows, Id lanes);

// Adds to Copy::values the vector of each of these LOADs. The numbers of copies and of lanes are powers of two, and there
// are at most as many copies as lanes.
void transpose_tile(Graph& g, RangeIds& loops, std::span<const Id> loads, Id rows, Id lanes, std::vector<Copy>& copies);

}  // namespace kiln::compiler
