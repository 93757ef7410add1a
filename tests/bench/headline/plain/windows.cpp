// Convolutions, pools and stencils in plain C++. Convolutions write one row of results at a time.
#include <algorithm>
#include <vector>

#include "tests/bench/headline/windows.h"

namespace kiln::headline {
namespace {

// Adds weight * x[column * stride + shift] to the columns of a row where that is inside.
void add_row(const float* x, float* __restrict y, float weight, std::int64_t shift, const conv_shape& s) {
  const std::int64_t begin = shift < 0 ? (-shift + s.stride - 1) / s.stride : 0;
  const std::int64_t end = std::min(s.ow, (s.w - shift + s.stride - 1) / s.stride);
  if (s.stride == 1)
    for (std::int64_t i = begin; i < end; ++i) y[i] += weight * x[i + shift];
  else
    for (std::int64_t i = begin; i < end; ++i) y[i] += weight * x[i * s.stride + shift];
}
void convolve_row(const problem& p, const conv_shape& s, std::int64_t n, std::int64_t o, std::int64_t row) {
  const std::int64_t cg = s.c / s.groups, first = o / (s.o / s.groups) * cg;
  float* y = p.result() + ((n * s.o + o) * s.oh + row) * s.ow;
  std::fill(y, y + s.ow, 0.0f);
  for (std::int64_t c = 0; c < cg; ++c)
    for (std::int64_t i = 0; i < s.r; ++i) {
      const std::int64_t from = row * s.stride + i - s.padding;
      if (from < 0 || from >= s.h) continue;
      const float* x = p.in[0].f() + ((n * s.c + first + c) * s.h + from) * s.w;
      const float* weights = p.in[1].f() + ((o * cg + c) * s.r + i) * s.r;
      for (std::int64_t j = 0; j < s.r; ++j) add_row(x, y, weights[j], j - s.padding, s);
    }
}
job convolution(problem& p) {
  return {[&p] {
    const conv_shape s(*p.row);
    for (std::int64_t n = 0; n < s.n; ++n)
      for (std::int64_t o = 0; o < s.o; ++o)
        for (std::int64_t row = 0; row < s.oh; ++row) convolve_row(p, s, n, o, row);
  }};
}

job max_pool(problem& p) {
  return {[&p] {
    const std::int64_t h = p.e(1), w = p.e(2), oh = (h - 1) / 2 + 1, ow = (w - 1) / 2 + 1;
    float* y = p.result();
    for (std::int64_t c = 0; c < p.e(0); ++c)
      for (std::int64_t i = 0; i < oh; ++i)
        for (std::int64_t j = 0; j < ow; ++j) {
          const std::int64_t y0 = std::max<std::int64_t>(2 * i - 1, 0), y1 = std::min(2 * i + 1, h - 1);
          const std::int64_t x0 = std::max<std::int64_t>(2 * j - 1, 0), x1 = std::min(2 * j + 1, w - 1);
          float most = -1e30f;
          for (std::int64_t a = y0; a <= y1; ++a)
            for (std::int64_t b = x0; b <= x1; ++b) most = std::max(most, p.in[0].f()[(c * h + a) * w + b]);
          *y++ = most;
        }
  }};
}

job jacobi(problem& p) {
  return {[&p] {
    const std::int64_t h = p.e(0), w = p.e(1);
    for (std::int64_t i = 0; i < h; ++i) {
      const float *x = p.in[0].f() + i * w, *up = i > 0 ? x - w : x, *down = i + 1 < h ? x + w : x;
      float* __restrict y = p.result() + i * w;
      y[0] = 0.25f * ((up[0] + down[0]) + (x[0] + x[1]));
      for (std::int64_t j = 1; j + 1 < w; ++j) y[j] = 0.25f * ((up[j] + down[j]) + (x[j - 1] + x[j + 1]));
      y[w - 1] = 0.25f * ((up[w - 1] + down[w - 1]) + (x[w - 2] + x[w - 1]));
    }
  }};
}

// Smooths rows of 3 components: down into a buffer of one row, then along it. then(row, i, smoothed) gives the result.
template <class Then>
void smooth(const problem& p, Then then) {
  const std::int64_t h = p.e(0), w = 3 * p.e(1);
  std::vector<float> buffer(static_cast<std::size_t>(w + 6));
  float* __restrict t = buffer.data() + 3;
  for (std::int64_t i = 0; i < h; ++i) {
    const float *x = p.in[0].f() + i * w, *up = i > 0 ? x - w : x, *down = i + 1 < h ? x + w : x;
    for (std::int64_t j = 0; j < w; ++j) t[j] = 0.25f * (up[j] + down[j]) + 0.5f * x[j];
    for (std::int64_t c = 0; c < 3; ++c) t[c - 3] = t[c], t[w + c] = t[w - 3 + c];
    float* __restrict y = p.result() + i * w;
    for (std::int64_t j = 0; j < w; ++j) y[j] = then(x[j], 0.25f * (t[j - 3] + t[j + 3]) + 0.5f * t[j]);
  }
}
job gauss(problem& p) {
  return {[&p] { smooth(p, [](float, float s) { return s; }); }};
}
job unsharp(problem& p) {
  return {[&p] {
    smooth(p, [](float x, float s) {
      const float v = x + 1.5f * (x - s);
      return v < 0 ? 0 : v > 1 ? 1 : v;
    });
  }};
}

const peers here{
    {"convolution", "f32", "", convolution}, {"max_pool", "f32", "", max_pool},
    {"jacobi", "f32", "", jacobi},           {"gauss", "f32", "", gauss},
    {"unsharp", "f32", "", unsharp},
};

}  // namespace
}  // namespace kiln::headline
