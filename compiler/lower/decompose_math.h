// decompose_math: expands transcendental operations into basic operations.
//
// Before: EXP, SIN, POW and the other operations of is_math (ir/op.h) on any float type.
// After: none of these operations; polynomials take their place. SCALE stays where the target has an instruction for it.
// Requires: K level.
// Why: the interpreter evaluates the same polynomials (math/expand_math.h), so compiled results are equal bit for bit.
// A minus leaves odd and even functions, for which f(-x) is -f(x) or f(x) in every bit: programs ask for both (erf(d),
// erf(-d)). Example: EXP(x) on f16  ->  CAST f16 (the polynomial of exp on CAST f32 x), rounded once
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/target/target.h"

namespace kiln::compiler {

Id decompose_math(Graph& g, Id sink, const Target& target);

}  // namespace kiln::compiler
