// tanh(x) = t / (t + 2), t = exp(2|x|) - 1 = 2^n (exp(r) - 1) + (2^n - 1): no cancellation for small arguments.
#include <vector>

#include "compiler/math/emit.h"

namespace kiln::compiler {

Value expand_tanh(Value x) {
  const bool single = x.dtype() == DType::f32;
  const Value a = abs(x);
  const Value top = real(x, single ? 20 : 44);  // beyond, tanh rounds to 1
  const Value u = where(a + a < top, a + a, top);
  const Value n = round(u * real(x, 1.4426950408889634));
  Value r = fma(n, real(x, single ? -0x1.62e4p-1 : -0x1.62e42fefa0000p-1), u);
  r = fma(n, real(x, single ? -0x1.7f7d1cp-20 : -0x1.cf79abc9e3b39p-40), r);
  std::vector<double> c = {0.5};
  for (int i = 3; i <= (single ? 8 : 14); ++i) c.push_back(c.back() / i);
  const Value p = fma(r * r, polynomial(r, c), r);
  const Value scale = power_of_two(n);
  const Value t = fma(scale, p, scale - real(x, 1));
  return where(x != x, x, copysign(t / (t + real(x, 2)), x));
}

}  // namespace kiln::compiler
