// An independent reference for elementwise operations: wide integers, x87 extended floats and tables. Shares no compiler code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/dtype.h"
#include "compiler/ir/op.h"

namespace kiln::compiler::testing {

using Bits = std::uint64_t;  // an element, zero-extended

struct Expected {
  Bits exact = 0;         // the only right answer, if ulps and slack are 0
  long double value = 0;  // otherwise the answer before rounding
  double ulps = 0;        // allowed distance from `value`, in units of the last place of the result's type
  long double slack = 0;  // additional absolute distance, for operations that are compositions
};

// op on operands of dtype d (for WHERE, a bool first) with a result of dtype `result`.
Expected expected_element(Op op, DType d, DType result, const std::vector<Bits>& x);

// The distance of `got` from `value` in ulps of d; 0 if both are NaN or equal.
double distance_in_ulps(DType d, Bits got, long double value);

long double real_value(DType d, Bits b);
Bits real_bits(DType d, long double v);  // rounds once, to nearest even
bool is_nan(DType d, Bits b);

}  // namespace kiln::compiler::testing
