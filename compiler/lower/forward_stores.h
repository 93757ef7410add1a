// forward_stores: LOADs in kernels that the program wrote do not wait for STOREs to other elements.
//
// Before: LOADs of states that STOREs of the same iteration made.
// After: a LOAD of the element that a STORE has just stored is the stored value. A LOAD of another element names the state
//   before that STORE, if the distance of the two elements is a constant.
// Requires: indices are exact.
// Ensures: the same values.
// Why: LOADs of one state can share vectors (interleaved_access), and a LOAD does not wait for a STORE to finish.
// Example: v(i, 0) = a; v(i, 1) = v(i, 0) * v(i, 1)  ->  the product is of a and of v(i, 1) at the begin of the iteration
#pragma once

#include "compiler/ir/graph.h"

namespace kiln::compiler {

Id forward_stores(Graph& g, Id sink);

}  // namespace kiln::compiler
