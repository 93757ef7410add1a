// sinh(x) is a series for |x| < 1, else h - 1 / (4 h) with h = exp(|x|) / 2. cosh(x) = h + 1 / (4 h).
//
// The inverse functions are log1p of an expression that does not cancel, as in s_asinh.c, e_acosh.c and e_atanh.c of FreeBSD's
// msun (Sun Microsystems 1993). For f32 all computations are in f64.
//
// sigmoid(x) = 1 / (exp(-x) + 1) for x < 0, else 1 - sigmoid(-x). The denominator is a sum of two values, so that the quotient
// is rounded once.
#include <limits>

#include "compiler/math/emit.h"

namespace kiln::compiler {
namespace {

// (sinh(x) / x - 1) / x^2 for |x| <= 1, in powers of x^2: a minimax fit in 40-digit arithmetic (relative error 1e-19)
constexpr double sinh_series[] = {0x1.5555555555555p-3,  0x1.1111111111199p-7,  0x1.a01a01a007b55p-13, 0x1.71de3a681d445p-19,
                                  0x1.ae6442116d160p-26, 0x1.6130a86eabab8p-33, 0x1.a6d714fe365cbp-41, 0x1.c319dca11e7a3p-48};

constexpr double ln2 = 0x1.62e42fefa39efp-1;

Value sinh_double(Value x) {
  const Value a = abs(x), z = x * x, h = half_exp(a);
  const Value small = fma(a * z, polynomial(z, sinh_series), a), large = h - real(x, 0.25) / h;
  return copysign(where(real(x, 1) <= a, large, small), x);
}

Value cosh_double(Value x) {
  const Value h = half_exp(abs(x));
  return h + real(x, 0.25) / h;
}

// log(2 a) if a is large, else log(1 + small).
Value log_of_double_or(Value a, Pair small) {
  const Value large = real(a, 0x1p28) <= a, one = real(a, 1);
  const Value y = expand_log1p(where(large, a - one, small.high));
  return y + where(large, real(a, ln2), small.low / (one + small.high));
}

Value asinh_double(Value x) {
  const Value a = abs(x), one = real(x, 1), square = a * a;
  const Pair w = fast_two_sum(a, square / (one + sqrt(square + one)));
  return copysign(log_of_double_or(a, w), x);
}

Value acosh_double(Value x) {
  const Value one = real(x, 1), t = x - one;
  const Value y = log_of_double_or(x, fast_two_sum(sqrt(fma(t, t, t + t)), t));
  return where(x < one, real(x, std::numeric_limits<double>::quiet_NaN()), y);
}

Value atanh_double(Value x) {
  const Value a = abs(x), twice = a + a;
  const Value w = fma(twice, a / (real(x, 1) - a), twice);
  const Value y = copysign(real(x, 0.5) * expand_log1p(w), x);
  return where(real(x, 1) < a, real(x, std::numeric_limits<double>::quiet_NaN()), y);
}

}  // namespace

Value expand_sinh(Value x) { return in_f64(x, sinh_double); }
Value expand_cosh(Value x) { return in_f64(x, cosh_double); }
Value expand_asinh(Value x) { return in_f64(x, asinh_double); }
Value expand_acosh(Value x) { return in_f64(x, acosh_double); }
Value expand_atanh(Value x) { return in_f64(x, atanh_double); }

Value expand_sigmoid(Value x) {
  const bool single = x.dtype() == DType::f32;
  const Value a = abs(x), one = real(x, 1), top = real(x, single ? 104 : 746);  // beyond this the result is 0 or 1
  const auto [r, n] = reduce_exp(where(top < a, top, a));
  // The terms of the denominator are divided by a power of two where exp(|x|) may overflow.
  const Value far = real(x, single ? 64 : 512) < n;
  const Value down = where(far, real(x, single ? 0x1p-64 : 0x1p-512), one);
  const Value power = power_of_two(where(far, n - real(x, single ? 64 : 512), n));
  const Value slope = exp_slope(r), two_terms = power + down, part = power * r;
  const Value d = fma(part, slope, two_terms), d_low = fma(part, slope, two_terms - d) + (down - (two_terms - power));
  const Value q = one / d;
  const Value exact = fma(q, fma(-q, d_low, fma(-q, d, one)), q);
  return where(x < real(x, 0), exact * down, one - exact * down);
}

}  // namespace kiln::compiler
