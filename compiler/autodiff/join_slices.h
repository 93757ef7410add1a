// Contributions of slices to one adjoint. The transpose of a slice pads with 0. Where slices of one axis do not overlap, as the
// parts of a `split` or the layers of a tensor of weights, their contributions are one `concat`: each element comes from one
// contribution, and nothing is added to it.
//
// Example: pad(a, before 0, to 5) + pad(b, before 2, to 5), a and b of extent 2  ->  concat(a, b, zeros of extent 1)
#pragma once

#include "compiler/autodiff/emit.h"

namespace kiln::compiler::autodiff {

// terms: contributions of one shape, in the order in which they arrive. Each group of pads that do not overlap becomes one term
// at the place of its first pad. Pads with a symbolic width join if each begins where another one ends.
std::vector<Id> join_slices(Emit& e, std::vector<Id> terms);

}  // namespace kiln::compiler::autodiff
