// copy_slices: lets a kernel update a tensor in place although it also reads a row or a column of it.
//
// Before: a kernel stores each element of a parameter or state x, and loads from x that element and others. The other elements
//   depend on fewer LOOP ranges, so they are a small part of x: a row, a column, one element.
// After: one more kernel for each such load copies these elements to a temporary, and the kernel loads them from there.
// Requires: kernel_split ran. These kernels stay: kernels of the program; kernels with tile steps; with more than four such
//   loads; with loads of more than an eighth of x; if x has a constant size that fits in the first-level cache twice.
// Ensures: the same values are computed. A changed kernel reads no element of x but the one that it stores.
// Why: a kernel that reads other elements of x cannot store to x before all iterations have read it. dependencies would make it
//   store to another tensor as large as x, and a copy or a second buffer in each iteration of a host loop.
// Example: step k of Floyd and Warshall's shortest paths: x[i, j] = min(x[i, j], x[i, k] + x[k, j])
//   ->  c[i] = x[i, k]     r[j] = x[k, j]     x[i, j] = min(x[i, j], c[i] + r[j])
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void copy_slices(Graph& g, Schedule& s);

}  // namespace kiln::compiler
