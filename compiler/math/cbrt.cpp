// cbrt(x): |x| = 2^(3 q) m with m between 0.35 and 2.83. r = m^(-1/3) is a polynomial and one step of Halley's method, so
// cbrt(m) = m r^2, which one step of Newton's method corrects. For f32 the computation is in f64.
#include <limits>

#include "compiler/math/emit.h"

namespace kiln::compiler {
namespace {

// (1 + f)^(-1/3) between sqrt(1/2) and sqrt(2): a minimax fit, relative error 6e-6
constexpr double inverse_cbrt[] = {0x1.000040658a645p+0,  -0x1.554256224c014p-2, 0x1.c5d96097cce26p-3,
                                   -0x1.6815d93452977p-3, 0x1.48830e1ae913ep-3,  -0x1.ba7a939cf3431p-4};

Value cbrt_double(Value x) {
  const auto [k, f] = reduce_log(abs(x));
  const Value one = real(x, 1), third = real(x, 0x1.5555555555555p-2);
  const Value q = round(k * third), rest = k - q * real(x, 3);  // rest: -1, 0 or 1
  const Value below = rest<real(x, 0), above = rest> real(x, 0);
  const auto by_rest = [&](double of_minus_one, double of_one) {
    return where(below, real(x, of_minus_one), where(above, real(x, of_one), one));
  };
  const Value m = (one + f) * by_rest(0.5, 2);
  const Value guess = polynomial(f, inverse_cbrt) * by_rest(0x1.428a2f98d728bp+0, 0x1.965fea53d6e3dp-1);
  const Value h = fma(-m * guess, guess * guess, one);
  const Value r = fma(guess * h, fma(h, real(x, 2.0 / 9), third), guess);
  const Value y = m * (r * r);
  const Pair square = two_product(y, y);
  const Value error = fma(square.low, y, fma(square.high, y, -m));
  const Value root = copysign(fma(-error, r * r * third, y) * power_of_two(q), x);
  const Value regular = (x != real(x, 0)) & (abs(x) < real(x, std::numeric_limits<double>::infinity()));
  return where(regular, root, x);
}

}  // namespace

Value expand_cbrt(Value x) { return in_f64(x, cbrt_double); }

}  // namespace kiln::compiler
