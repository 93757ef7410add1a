// Errors of the expansions of transcendental functions, compared with MPFR, in units in the last place of the result's type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/dtype.h"
#include "compiler/ir/op.h"

namespace kiln::tests {

struct Accuracy {
  double ulp = 0;                  // largest error
  double x = 0, y = 0;             // its operands (y: second operand of pow)
  double got = 0;                  // the expansion's result there
  std::size_t wrong_specials = 0;  // results with NaN or infinity where the reference has none, or the reverse
  double special_x = 0, special_y = 0, special_got = 0;  // the last of these results
};

// The functions, in a fixed order.
std::vector<compiler::Op> transcendentals();

// `count` inputs over the full range of the type (f32 or f64): uniform bit patterns, the range with finite and varying results,
// neighbourhoods of zeros and poles. Deterministic. `threads` workers share the inputs.
Accuracy measure(compiler::Op op, compiler::DType d, std::size_t count, unsigned threads);

// All values of f32, for a function of one operand.
inline constexpr std::size_t every_float = std::size_t{1} << 32;
Accuracy measure_every_float(compiler::Op op, unsigned threads);

}  // namespace kiln::tests
