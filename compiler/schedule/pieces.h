// A program in pieces (see host_loops): passes run on one piece after the other, as on a program of its own.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

// Runs a pass on each piece. There, a state is a parameter, and each parameter has the direction in which the piece uses it,
// and symbols are those that it uses.
void in_pieces(Graph& g, Schedule& s, void (*pass)(Graph& g, Schedule& s));

// After the dependencies inside of pieces: one list of kernels, in loops; states become temporaries. A kernel depends on those
// of earlier pieces in the same loop that write what it uses or use what it writes.
void join_pieces(Graph& g, Schedule& s);

}  // namespace kiln::compiler
