// window_rows: finds the range along which neighbouring iterations of written-out code load the same vectors: the rows of an
// image under windows that overlap, the rows of all pairs of points, whose components take shuffles, or the phases of columns
// that are apart for windows with steps. A few iterations side by side load each vector once.
//
// Requires: scalar code without loops.
// Example: y[i, j] = x[i, j] + x[i + 1, j] + x[i + 2, j]: iteration i + 1 loads two of the three rows that iteration i loads.
#pragma once

#include <span>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// The index of that range in `ranges`; ranges.size(): there is none. The last range becomes lanes.
std::size_t window_rows(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges);

}  // namespace kiln::compiler
