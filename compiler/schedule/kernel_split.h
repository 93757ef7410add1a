// Kernel split. What: gives every STAGE a Buffer and makes one kernel of it, and one of each group of ENDs with common ranges.
// Before: SINK(END(STORE(PARAM, value), RANGEs)...) with STAGE and INDEX below. After: kernels SINK(END(STORE(BUFFER slot,
// linear index, value), LOOP RANGEs)...), reads are LOAD(BUFFER slot, linear index [, 0, gate]) in row-major order or by the
// strides of a parameter that has its own, RANGE ids count from 0 in each kernel. A stage that an output parameter copies in
// its order, as another shape perhaps, lives in that parameter's buffer, and the copy goes. Precondition: range assignment ran.
// Postcondition: kernels stand in an order in which stages come before their readers.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void kernel_split(Graph& g, Schedule& s);

// STORE of one kernel end: END is {STORE, RANGEs...}.
inline Id store_of(const Graph& g, Id end) { return g.src(end, 0); }

}  // namespace kiln::compiler
