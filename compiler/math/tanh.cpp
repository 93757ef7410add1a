// tanh(x) = x + x^3 p(x^2) near 0, else 1 - 2 / (exp(2|x|) + 1), where the quotient is below 0.6 (f64) and 0.29 (f32).
//
// For f32 both forms use one polynomial, whose variable and coefficients are chosen by select: multiply-adds limit the speed,
// and selects run beside them. exp(2|x|) + 1 = 2^n (exp(2r) - 1) + (2^n + 1) has one rounding. For f64 the two forms are apart.
//
// The polynomials are minimax fits in 40-digit arithmetic (errors relative to tanh: f32 2e-8, f64 3e-21).
#include "compiler/math/emit.h"

namespace kiln::compiler {
namespace {

constexpr double near_single[] = {-0x1.5554e8p-2, 0x1.10fd78p-3, -0x1.b7b846p-5, 0x1.54a2b0p-6, -0x1.b912b6p-8, 0x1.475e94p-10};
// (exp(2r) - 1) / r for |r| <= ln(2)/4
constexpr double far_single[] = {2, 0x1.fffffap+0, 0x1.55549ep+0, 0x1.555aaap-1, 0x1.123200p-2, 0x1.68bf52p-4};
constexpr double near_double[] = {-0x1.5555555555555p-2,  0x1.1111111111111p-3,  -0x1.ba1ba1ba1b924p-5,  0x1.664f4882b8703p-6,
                                  -0x1.226e355becfafp-7,  0x1.d6d3d0049fe11p-9,  -0x1.7da34bcbf9850p-10, 0x1.35564f44c552cp-11,
                                  -0x1.f54d325676893p-13, 0x1.94c5daa217825p-14, -0x1.3ebb8b1adc656p-15, 0x1.bc8755a89cfaap-17,
                                  -0x1.8cb01ef2b3fcbp-19};

Value tanh_single(Value x) {
  const Value a = abs(x), one = real(x, 1);
  const Value near = a < real(x, 0.906), top = real(x, 10);  // above 9.02 tanh rounds to 1
  const Value c = where(top < a, top, a);                    // NaN stays NaN
  // c = n ln(2)/2 + r. Adding 1.5 * 2^23 + 127 rounds to an integer, whose low bits are the exponent field of 2^n.
  const Value bias = real(x, 0x1.8p23 + 127);
  const Value shifted = fma(c, real(x, 2.8853900817779268), bias);
  const Value r = fma(shifted - bias, real(x, -0.34657359027997264), c);
  const Value power = bitcast(shl(bitcast(shifted, DType::i32), 23), DType::f32);
  const Value u = where(near, x * x, r);
  const Value m = u * polynomial_of(near, u, near_single, far_single);
  const Value small = fma(a, m, a), large = one - real(x, 2) / fma(power, m, power + one);
  return copysign(where(near, small, large), x);
}

}  // namespace

Value expand_tanh(Value x) {
  if (x.dtype() == DType::f32) return tanh_single(x);
  const Value a = abs(x), z = x * x;
  const Value small = fma(x * z, polynomial(z, near_double), x);
  const Value top = real(x, 44);  // above half of this tanh rounds to 1
  const Value u = a + a;
  const Value large = real(x, 1) - real(x, 2) / exp_plus_one(where(u < top, u, top));
  return copysign(where(real(x, 0.55) <= a, large, small), x);  // NaN comes from the polynomial
}

}  // namespace kiln::compiler
