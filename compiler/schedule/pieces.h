// Passes over a program in pieces (see host_loops): each pass runs on one piece after the other, as on a program of its own.
#pragma once

#include <functional>

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

// Runs a pass on each piece. In a piece, states are parameters, a parameter's direction says how the piece uses it, and the
// only symbols are all strides and the symbols that the piece uses.
using PieceWork = std::function<void(Graph& g, Schedule& piece)>;
void in_pieces(Graph& g, Schedule& s, const PieceWork& pass);

// Joins the ordered kernels of all pieces into one list, in loops. States become temporaries. A kernel depends on a kernel of
// an earlier piece in the same loop if one of them stores to a buffer that the other uses.
void join_pieces(Graph& g, Schedule& s);

}  // namespace kiln::compiler
