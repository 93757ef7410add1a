// Positions in i32 are exact only up to 2^31 - 1, ones counted in f32 up to 2^24, and an extent without a declared maximum may
// be larger. A reduction that collapses as long as they are exact becomes a choice: its closed form where the extents are small
// enough, else its loop, whose range is empty where they are.
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

// The same value; `reduce` itself where no assumption on the extents helps.
Id collapsed_by_assumption(Graph& g, const Facts& facts, Id reduce);

}  // namespace kiln::compiler
