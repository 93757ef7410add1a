// interleaved_access: replaces accesses with a small stride by contiguous accesses and shuffles.
//
// Before: LOADs and STOREs at RAMP{base} of a stride s from 2 to 16, for example with lanes over rows of s components.
// After: contiguous LOADs of the same addresses, and SHUFFLEs for each component (interleave_shuffles.h). The STOREs of all
//   s components become contiguous STOREs of SHUFFLEs in the order of memory. The same elements are stored. Every loaded
//   element is between the first and the last element that the active lanes of the replaced LOADs read. A LOAD stays if its
//   inactive lanes have a value that is no constant.
// Before: LOADs of a longer constant stride, whose lanes have no conditions of their own, of as many consecutive columns as
//   fill 16 bytes, as in sums of rows of 17 to 64 elements that are written out.
// After: contiguous LOADs of 16 bytes of each lane's row, and SHUFFLEs that transpose them. If the number of columns is no
//   multiple of those in 16 bytes, the last part of a row shares elements with the one before.
// Requires: loops are made, indices are exact.
// Why: one contiguous access is cheaper than one access for each lane.
// Example: 8 lanes of p(i, 0) and of p(i, 1), at base + 2 * lane and base + 1 + 2 * lane
//   ->  two LOADs of 8 contiguous elements; SHUFFLE takes the even lanes, another SHUFFLE the odd lanes
#pragma once

#include <cstdint>

#include "compiler/lower/rewrite.h"
#include "compiler/target/target.h"

namespace kiln::compiler {

// The most components that the pass takes apart: elements between neighbouring lanes of an access.
inline constexpr std::int64_t most_components = 16;

// The cost of one lane of an access, if this pass replaces accesses to so many of the `stride` components together. The unit is
// a contiguous access of one register. lanes: of a register. Infinite: the pass does not replace accesses with this stride.
double interleaved_cost(std::int64_t stride, std::int64_t components, DType d, int lanes);

Id interleaved_access(Graph& g, Id sink, const Target& target);

}  // namespace kiln::compiler
