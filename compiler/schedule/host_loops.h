// Host loops. What: a program with loops outside of kernels becomes pieces without any, and a table of loops that says how
// often they run. What a loop carries lies in a parameter or in a state that a piece before the loop fills and the last piece
// of a turn stores anew; what a piece needs of an earlier one lies in a state as well. The position of a loop is a symbol, and
// so is an integer of the data that a bound or a kernel's extent asks for: an earlier piece stores it. Before: a tensor-level
// program. After: the same, or pieces in the order in which they run, `state` parameters and symbols that the run sets.
// Precondition: scalar_kernels ran. Postcondition: no FOR but inside kernels, no kernel whose extent is data, no element read
// outside of kernels; a program that has none of these is as it was.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void host_loops(Graph& g, Schedule& s);

}  // namespace kiln::compiler
