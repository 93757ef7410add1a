// One pass over arrays in plain C++.
#include <cmath>

#include "tests/bench/headline/bench.h"

namespace kiln::headline {
namespace {

// f(i) gives element i of the result.
template <class Function>
void each(problem& p, Function f) {
  float* __restrict y = p.result();
  const std::int64_t n = p.e(0);
  for (std::int64_t i = 0; i < n; ++i) y[i] = f(i);
}

job saxpy(problem& p) {
  return {[&p] {
    const float a = p.in[0].f()[0], *x = p.in[1].f(), *y = p.result();
    each(p, [=](std::int64_t i) { return a * x[i] + y[i]; });
  }};
}
job exponential(problem& p) {
  return {[&p] { each(p, [x = p.in[0].f()](std::int64_t i) { return std::exp(x[i]); }); }};
}
job gelu_tanh(problem& p) {
  return {[&p] {
    each(p, [in = p.in[0].f()](std::int64_t i) {
      const float x = in[i];
      return 0.5f * x * (1 + std::tanh(0.79788456f * (x + 0.044715f * x * x * x)));
    });
  }};
}
job chain5(problem& p) {
  return {[&p] {
    const float *a = p.in[0].f(), *b = p.in[1].f(), *c = p.in[2].f(), *d = p.in[3].f();
    each(p, [=](std::int64_t i) {
      const float v = (a[i] * b[i] + c[i]) * d[i] - a[i];
      return v > 0 ? v : 0;
    });
  }};
}
job chain20(problem& p) {
  return {[&p] {
    const float *x = p.in[0].f(), *z = p.in[1].f();
    each(p, [=](std::int64_t i) {
      float v = x[i];
      for (int k = 0; k < 5; ++k) {
        v = v * 0.9f + z[i];
        v = (v > x[i] ? v : x[i]) - 0.1f;
      }
      return v;
    });
  }};
}

const peers here{
    {"saxpy", "f32", "", saxpy},   {"exponential", "f32", "", exponential}, {"gelu_tanh", "f32", "", gelu_tanh},
    {"chain5", "f32", "", chain5}, {"chain20", "f32", "", chain20},
};

}  // namespace
}  // namespace kiln::headline
