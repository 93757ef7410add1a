// pack_windows: copies the input of a convolution or pool, with its border, into the order in which the windows read it.
//
// Before: a REDUCE over window ranges k, whose operand reads one tensor at s * j + d * k for LOOP ranges j, along one or more
//   axes. Neighbouring windows are s > 1 elements apart, or the REDUCE is a sum of products with padding or planes (below).
// After: one more kernel stores the operand for each u = s * j + d * k, and the reduction loads it from there, without a gate.
//   - If the innermost LOOP range j has steps s > 1, axis u of the copy becomes [u mod s, u // s], so that neighbouring j are
//     neighbours in memory.
//   - An operand without windows is copied if it is padded, or if the innermost LOOP range walks through memory in steps and
//     the REDUCE has several ranges, as for the filters of a convolution whose result has its channels side by side.
//   - If the innermost LOOP range is in no window, and its neighbours are apart in the tensor, it is the last axis of the copy.
//   - Planes: if the two innermost LOOP ranges i and j of a long sum of products are such axes, or j is one and i walks through
//     the tensor without windows, they become one range f over a plane of the copy: f = i * pitch + j, where pitch is the row
//     length of the plane. A new kernel stores the sums for all f, also for places between two rows. The old kernel loads its
//     own sums from there.
//   - Planes by taps: if it takes less time than the sums between the rows, the copy has a plane for each place k in the window
//     along the rows, and element i, j of it is u = s * j + d * k. The rows of such planes are as long as the results', so that
//     no sum is dropped, and the old kernel stores its results itself.
//   - Kernels that need parts of one copy share it (window_copies.h), as the phases of a derivative of a convolution do.
// Requires: kernel_split ran.
// Ensures: the same elements are reduced in the same order.
// Why: windows overlap, so each element is read several times. Without the copy, every read has a comparison with the border or
//   gathers elements that are s apart. Vectors along short rows have idle lanes; vectors along planes have few.
// Example: y [64, 112] of x [64, 224], windows of 3, steps of 2, padding 1
//   ->  p [64, 2, 113], where p[c, h, q] is x[c, 2*q + h - 1], or 0 outside of x.   Element k of the window of y[c, j] is
//   p[c, k % 2, j + k // 2].
// Example of planes by taps: y [16, 9, 10] of x [8, 9, 10], windows of 3 x 3, padding 1
//   ->  p [8, 3, 11, 10], where p[c, k, i, j] is x[c, i - 1, j + k - 1]. Element h, k of the window of y[o, i, j] is
//   p[c, k, i + h, j], so that 10 * i + j is one range.
// Compare: the padded planes of direct convolutions; Zhang et al., High Performance Zero-Memory Overhead Direct Convolutions,
//   2018. Planes by taps: Cho and Brand, MEC: Memory-efficient Convolution for Deep Neural Network, 2017.
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void pack_windows(Graph& g, Schedule& s);

}  // namespace kiln::compiler
