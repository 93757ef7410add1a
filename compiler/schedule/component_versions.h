// component_versions: versions of a program for calls whose rows have 2 to 8 components.
//
// Before: a tensor-level program without host loops and without kernels. The last axis of some parameter has the symbol D as
//   its extent, and another axis of it has a symbolic extent or at least 64 elements: the rows. The program works along rows of
//   D elements: it reduces or scans them, or it combines them with a value of the row or with a row that all rows share. D is
//   in no sum, as the extent of a padded axis is.
// After: a segment for each D from 2 to 8, in which D is a constant, and the old program as a segment for the other calls. Each
//   is in a host loop of one iteration or none, because D of the call decides.
// Ensures: a call runs one segment.
// Why: rows of a constant number of components are read and written as whole registers, and their values stay in registers.
//   Code for any D reads row by row, or copies the rows first, and takes up to 20 times as long.
// Example: y[N] = sum of x[N, D] along the rows   ->   for t < (1 if D = 2, else 0): y[N] = sum of x[N, 2]; the same for 3 to
// 8;
//   for t < (0 if D is 2 to 8, else 1): y[N] = sum of x[N, D]
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void component_versions(Graph& g, Schedule& s);

}  // namespace kiln::compiler
