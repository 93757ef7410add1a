// Fuse rows. What: kernels that hand on rows become one kernel with phases, which walks each turn of rows while it is in cache.
// Before: kernel A stores T over ranges (i, j) and kernel B, over ranges (i, k), loads of T only elements of its own row i, or
// of rows close by. After: END(A's STORE, t, j), END(B's STORE, t, k): the outermost range t counts turns of one row, or of
// several (END(.., t, i, j), row t*rows + i), and A's and B's ENDs follow each other. What only this kernel uses is kept for
// one turn: T is a buffer with a window. Rows beside the turn's own that B looks at, A computes in that turn as well; they have
// places of their own in the window. A product that another product reads stays apart, since each is fastest with tiles over
// many rows. Precondition: kernel split ran; a temporary is stored by one kernel. Postcondition: the same elements are computed
// from the same elements.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void fuse_rows(Graph& g, Schedule& s);

}  // namespace kiln::compiler
