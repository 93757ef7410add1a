// share_kernels: kernels that differ in nothing but where their data lies become one.
//
// before: kernels that number their buffers and ranges each in its own way, and read inputs at constant places of their own
// (the weights of layer 7 in a tensor of all layers). after: buffers are numbered in the order of the kernel's nodes, ranges
// from 0; where that makes kernels equal that were not, an input is passed from its place on, as a view (a buffer with a
// parameter and an offset). Equal kernels have the same sink: they are lowered and emitted once. precondition: the memory plan;
// it knows no views. postcondition: equal values; views come last in the schedule's buffers and are only loaded from.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void share_kernels(Graph& g, Schedule& s);

}  // namespace kiln::compiler
