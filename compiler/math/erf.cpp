// erf(x) = x p(x^2) for |x| < 0.72, else 1 - exp(-x^2) p((x - 2) / (x + 2)). Both polynomials are Chebyshev fits of the exact
// function, made in 50-digit arithmetic (errors 3e-23 and 2e-21). For f32 the computation is in f64.
#include <span>

#include "compiler/math/emit.h"

namespace kiln::compiler {
namespace {

constexpr double near_zero[] = {0x1.20dd750429b6dp+0,  -0x1.812746b0379e7p-2,  0x1.ce2f21a042be2p-4,  -0x1.b82ce31288b36p-6,
                                0x1.565bcd0e69bf1p-8,  -0x1.c02db40003938p-11, 0x1.f9a326e997509p-14, -0x1.f4d259638c04fp-17,
                                0x1.b9e6714cbb67ap-20, -0x1.5f6ccbc88f866p-23, 0x1.fbefa24dae50ep-27, -0x1.49fa3818e747ap-30,
                                0x1.46618c114f853p-34};
constexpr double scaled_tail[] = {
    0x1.058671b52c776p-2,  -0x1.b57034efd3f72p-2,  0x1.eeea7dc8a78b4p-3,   -0x1.437f0b68c0c1fp-4,  0x1.e9471597a06cdp-9,
    0x1.ca95ed5343d8ap-8,  -0x1.bc25a47f6384dp-11, -0x1.016b5ceabdadcp-10, 0x1.6d5f03eb0e669p-15,  0x1.6da978e1a45f0p-13,
    0x1.cdca6b5c40708p-16, -0x1.ceb8ef34c92a1p-16, -0x1.d47927295ddcap-17, 0x1.760a98aaf301bp-20,  0x1.f75e9982bc52ap-19,
    0x1.40a3018df97aap-20, -0x1.beaaa39f1cd74p-22, -0x1.108a4660f259fp-21, -0x1.169c10032f262p-23, 0x1.569b03ddb8e09p-24,
    0x1.0128d57b4c3bdp-24, 0x1.d6985f3b24dbap-29};

}  // namespace

Value expand_erf(Value x) {
  const bool single = x.dtype() == DType::f32;
  if (single) x = cast(x, DType::f64);
  // A result that is rounded to f32 needs fewer terms.
  const auto terms = [&](std::span<const double> c, std::size_t enough) { return single ? c.first(enough) : c; };
  const Value top = real(x, 6.2);  // above 6.2 erf rounds to 1
  const Value a = where(abs(x) < top, abs(x), top);
  const Value small = x * polynomial(x * x, terms(near_zero, 9));
  const Value t = (a - real(x, 2)) / (a + real(x, 2));
  const Value tail = (single ? exp_for_single(-(a * a)) : expand_exp(-(a * a))) * polynomial(t, terms(scaled_tail, 14));
  const Value large = copysign(real(x, 1) - tail, x);
  const Value y = where(x != x, x, where(abs(x) < real(x, 0.72), small, large));
  return single ? cast(y, DType::f32) : y;
}

}  // namespace kiln::compiler
