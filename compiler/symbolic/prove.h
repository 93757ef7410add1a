// Proofs about index values by bounds of polynomials. Each RANGE is replaced by 0 or by end - 1, as the sign of its
// coefficient requires, until the rest is non-negative by the facts of the symbols. False means "not proven".
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/symbolic/bounds.h"

namespace kiln::compiler {

bool prove_ge0(const Graph& g, Id a, const Facts& facts);       // a >= 0
bool prove_lt(const Graph& g, Id a, Id b, const Facts& facts);  // a < b
bool prove_le(const Graph& g, Id a, Id b, const Facts& facts);  // a <= b

}  // namespace kiln::compiler
