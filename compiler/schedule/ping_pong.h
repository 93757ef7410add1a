// ping_pong: removes copies of whole buffers from host loops. The buffers rotate from iteration to iteration instead.
//
// Before: kernels in host loops. Some copy a whole buffer to another one (u = t), so that the next iteration reads it.
// After: these copies are gone. The loop's kernels use rotating buffers (Buffer::among): each is one of several buffers,
//   selected by the number of iterations made so far. After the loop a value that is needed later may be in another buffer than
//   its own. Then a copy after the loop restores it. Such copies are in loops of at most one iteration.
// Requires: dependencies ran.
// Ensures: buffers that are used outside of the loop have the same values there. A rotating buffer is used in one loop only.
// Example: for i: { t = f(u); u = t }   ->   for i: { v = f(w) }, where w is u in the first iteration, t in the second, and so
//   on, and v is the other buffer; for (one iteration if the number of iterations was odd): u = t
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void ping_pong(Graph& g, Schedule& s);

}  // namespace kiln::compiler
