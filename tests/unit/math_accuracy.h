// Error of the transcendentals' expansions against MPFR, in units in the last place of the result's type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/dtype.h"
#include "compiler/ir/op.h"

namespace kiln::tests {

struct Accuracy {
  double ulp = 0;                                        // largest error seen
  double x = 0, y = 0;                                   // where (y: second operand of pow)
  double got = 0;                                        // what the expansion gave there
  std::size_t wrong_specials = 0;                        // NaN or infinity where the reference has none, or the other way round
  double special_x = 0, special_y = 0, special_got = 0;  // the last of those
};

// The functions, in a fixed order.
std::vector<compiler::Op> transcendentals();

// `count` inputs over the full range of the type (f32 or f64): uniform bit patterns, the range where the result is finite and
// not constant, neighbourhoods of zeros and poles. Deterministic; `threads` workers share the inputs.
Accuracy measure(compiler::Op op, compiler::DType d, std::size_t count, unsigned threads);

}  // namespace kiln::tests
