// The results of a FOR with a constant number of turns, without the FOR. Reverse mode does not go through loops.
//
// before: %c = carry %r, %x; %v = sin %c; for %r in (0)..(2), init %x, yield %v
// after:  sin (sin x)
// A FOR that may end earlier, as a condition outside of kernels does, selects after each turn:
//   for %r in (0)..(1) while %p, init p, x, yield .., v  ->  where(p, v, x)
#pragma once

#include "compiler/autodiff/rules.h"

namespace kiln::compiler::autodiff {

// Whether the node is a result of such a FOR: few turns with few operations, and no barrier, local array or atomic operation.
bool is_short_loop(const Rules& rules, Id get);
// The values that the FOR carries, after its turns.
std::vector<Id> after_turns(Rules& rules, Id loop);

}  // namespace kiln::compiler::autodiff
