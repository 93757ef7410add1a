// fmod(x, y) by long division. Each step subtracts the largest multiple of y * 2^(50 k) from the rest, for k descending. The
// quotient of a step is below 2^50, and the product of the quotient and the divisor is subtracted by fma. Both are multiples of
// the divisor's last place, so the difference is exact. For f32 the computation is in f64, and k begins at 5 in place of 41.
#include <limits>
#include <vector>

#include "compiler/math/emit.h"

namespace kiln::compiler {
namespace {

// |x| / |y| < 2^(50 * steps). An infinite or zero y, or an infinite x, gives a meaningless value.
Value remainder_of(Value x, Value y, int steps) {
  std::vector<Value> divisors = {y};
  while (std::ssize(divisors) < steps) divisors.push_back(divisors.back() * real(y, 0x1p50));
  Value rest = x;
  for (int k = steps; k-- > 0;) {
    const Value d = divisors[static_cast<std::size_t>(k)];
    const Value exact = fma(-trunc(rest / d), d, rest);
    // The quotient may have been rounded up to a whole number.
    const Value next = where(exact < real(x, 0), exact + d, exact);
    rest = where(d <= rest, next, rest);
  }
  return rest;
}

}  // namespace

Value expand_fmod(Value x, Value y) {
  const bool single = x.dtype() == DType::f32;
  const auto wide = [&](Value v) { return single ? cast(v, DType::f64) : v; };
  const Value a = wide(abs(x)), b = wide(abs(y));
  const Value rest = remainder_of(a, b, single ? 6 : 42);
  const Value magnitude = single ? cast(rest, DType::f32) : rest;
  const Value inf = real(x, std::numeric_limits<double>::infinity());
  const Value defined = (abs(x) < inf) & (abs(y) > real(x, 0));  // false if one is NaN
  return where(defined, copysign(magnitude, x), real(x, std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace kiln::compiler
