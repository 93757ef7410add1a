// One REDUCE without its loops, as far as possible.
#pragma once

#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {

// The same value; `reduce` itself when nothing is known.
Id collapsed(Graph& g, Simplifier& simplify, Id reduce);

}  // namespace kiln::compiler
