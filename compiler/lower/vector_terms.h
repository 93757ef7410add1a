// vector_terms: computes the terms of a sum in order as vectors, in a loop whose iterations run one after another.
//
// Before: a FOR that carries scalars and has no effects. Its next values are few operations on the carried values and on terms,
//   which take more operations and do not depend on carried values.
// After: a FOR over blocks of iterations. It computes the terms of a block as vectors, and takes their lanes in the order of
// the
//   iterations. A FOR over single iterations for the rest.
// Requires: K level, scalar code, decompose_math ran.
// Ensures: the same bits, because the order stays.
// Example: FOR i { s = s + sqrt(x[i]) }  ->  FOR i step 8 { v = sqrt(x[i .. i + 7]); s = s + v[0]; .. s = s + v[7] }, and the
// old
//   FOR for the last iterations
#pragma once

#include "compiler/lower/rewrite.h"
#include "compiler/target/target.h"

namespace kiln::compiler {

// The loop that replaces the FOR; no_id: its terms are too few operations, or cannot be vectors.
Id vector_terms(Graph& g, RangeIds& loops, Id loop, const Target& target);

}  // namespace kiln::compiler
