// Passes over a program in segments (see host_loops): each pass runs on one segment after the other, as on a program of its
// own.
#pragma once

#include <functional>

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

// Runs a pass on each segment, as a program of its own. Its parameters include states, and have the directions in which the
// segment uses them. Its symbols are all strides, and the other symbols that the segment uses.
using SegmentPass = std::function<void(Graph& g, Schedule& segment)>;
void in_segments(Graph& g, Schedule& s, const SegmentPass& pass);

// Joins the ordered kernels of all segments into one list, in loops. States become temporaries. A kernel depends on a kernel of
// an earlier segment in the same loop if one of them stores to a buffer that the other uses.
void join_segments(Graph& g, Schedule& s);

}  // namespace kiln::compiler
