// erf(x) is x + x p(x^2) near 0, else 1 - erfc.
//
// For f32 erfc(a) = exp(a q(a) - a) from 0.92. p and q are one polynomial, whose variable and coefficients are chosen by
// select, as in tanh. For f64 erfc(a) = exp(-a^2) q((a - 2) / (a + 2)) from 0.72.
//
// The polynomials are fits in 40- and 50-digit arithmetic (errors relative to erf: f32 1e-9, f64 2e-21).
#include "compiler/math/emit.h"

namespace kiln::compiler {
namespace {

constexpr double near_single[] = {0x1.06eba8p-3, -0x1.812740p-2,  0x1.ce2d64p-4, -0x1.b8011ap-6,
                                  0x1.544a1ap-8, -0x1.a60a2ep-11, 0x1.4f6760p-14};
// (log(erfc(a)) + a) / a, in powers of a - 1: near 1 the terms are small
constexpr double far_single[] = {-0x1.b2ff7ep-1, -0x1.942740p-1, -0x1.b849c6p-5, 0x1.8f7ba0p-7,
                                 -0x1.1e296ep-9, 0x1.fc5d80p-13, -0x1.ed8086p-18};
// erf(x) / x - 1, in powers of x^2
constexpr double near_zero[] = {0x1.06eba8214db69p-3,  -0x1.812746b0379e7p-2,  0x1.ce2f21a042be2p-4,  -0x1.b82ce31288b36p-6,
                                0x1.565bcd0e69bf1p-8,  -0x1.c02db40003938p-11, 0x1.f9a326e997509p-14, -0x1.f4d259638c04fp-17,
                                0x1.b9e6714cbb67ap-20, -0x1.5f6ccbc88f866p-23, 0x1.fbefa24dae50ep-27, -0x1.49fa3818e747ap-30,
                                0x1.46618c114f853p-34};
constexpr double scaled_tail[] = {
    0x1.058671b52c776p-2,  -0x1.b57034efd3f72p-2,  0x1.eeea7dc8a78b4p-3,   -0x1.437f0b68c0c1fp-4,  0x1.e9471597a06cdp-9,
    0x1.ca95ed5343d8ap-8,  -0x1.bc25a47f6384dp-11, -0x1.016b5ceabdadcp-10, 0x1.6d5f03eb0e669p-15,  0x1.6da978e1a45f0p-13,
    0x1.cdca6b5c40708p-16, -0x1.ceb8ef34c92a1p-16, -0x1.d47927295ddcap-17, 0x1.760a98aaf301bp-20,  0x1.f75e9982bc52ap-19,
    0x1.40a3018df97aap-20, -0x1.beaaa39f1cd74p-22, -0x1.108a4660f259fp-21, -0x1.169c10032f262p-23, 0x1.569b03ddb8e09p-24,
    0x1.0128d57b4c3bdp-24, 0x1.d6985f3b24dbap-29};

Value erf_single(Value x) {
  const Value magnitude = abs(x);
  const Value near = magnitude < real(x, 0.92), top = real(x, 4);  // above 3.92 erf rounds to 1
  const Value a = where(top < magnitude, top, magnitude);          // NaN stays NaN
  const Value u = where(near, x * x, a - real(x, 1));
  const Value q = polynomial_of(near, u, near_single, far_single);
  return copysign(where(near, fma(a, q, a), real(x, 1) - exp_of_fma(a, q, -a)), x);
}

}  // namespace

Value expand_erf(Value x) {
  if (x.dtype() == DType::f32) return erf_single(x);
  const Value top = real(x, 6.2);  // above 6.2 erf rounds to 1
  const Value a = where(abs(x) < top, abs(x), top);
  const Value small = fma(x, polynomial(x * x, near_zero), x);
  const Value t = (a - real(x, 2)) / (a + real(x, 2));
  const Value tail = expand_exp(-(a * a)) * polynomial(t, scaled_tail);
  const Value large = copysign(real(x, 1) - tail, x);
  return where(x != x, x, where(abs(x) < real(x, 0.72), small, large));
}

}  // namespace kiln::compiler
