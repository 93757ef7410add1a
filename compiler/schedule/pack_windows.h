// pack_windows: copies the input of a convolution or pooling, with its border, into the order in which the windows read it.
//
// Before: a REDUCE over window ranges k, whose operand reads one tensor at s * j + d * k for LOOP ranges j, in one or more
// axes.
//   The operand has a gate (the padding), or neighbouring windows are s > 1 elements apart.
// After: one more kernel stores the operand for each u = s * j + d * k, so that the border is in memory. The reduction loads it
//   from there, without a gate. If the innermost LOOP range j has steps s > 1, the copy's last two axes are [u mod s, u // s],
//   so that neighbouring j are neighbours in memory.
// Requires: kernel_split ran.
// Ensures: the same elements are reduced in the same order.
// Why: windows overlap, so each element is read several times. Without the copy, every read has a comparison with the border or
//   gathers elements that are s apart, and vectors of neighbouring windows cannot share registers.
// Example: y [64, 112] of x [64, 224], windows of 3, steps of 2, padding 1
//   ->  p [64, 2, 113] = x[c, 2*q + h - 1], or 0 outside;   the window of y[c, j] reads p[c, k % 2, j + k // 2]
// Compare: the padded, phase-split input planes of direct convolutions; Zhang et al., High Performance Zero-Memory Overhead
//   Direct Convolutions, 2018.
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void pack_windows(Graph& g, Schedule& s);

}  // namespace kiln::compiler
