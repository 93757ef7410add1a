// Proofs about index values by polynomial bounds: each RANGE is replaced by 0 or by end - 1, after the sign of its coefficient,
// until what is left is non-negative by the facts of the symbols. False means "not proven", never "false".
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/symbolic/bounds.h"

namespace kiln::compiler {

bool prove_ge0(const Graph& g, Id a, const Facts& facts);       // a >= 0
bool prove_lt(const Graph& g, Id a, Id b, const Facts& facts);  // a < b
bool prove_le(const Graph& g, Id a, Id b, const Facts& facts);  // a <= b

}  // namespace kiln::compiler
