// Convolutions, pools and stencils: arguments, and a reference for one element.
#include <algorithm>

#include "tests/bench/headline/bench.h"
#include "tests/bench/headline/windows.h"

namespace kiln::headline {
namespace {

void convolution(const workload& w, problem& p) {
  const conv_shape s(w);
  p.in.push_back({KILN_F32, {s.n, s.c, s.h, s.w}});
  p.in.push_back({KILN_F32, {s.o, s.c / s.groups, s.r, s.r}});
  p.out.push_back({KILN_F32, {s.n, s.o, s.oh, s.ow}});
}
double convolution_element(const problem& p, std::size_t, std::int64_t e) {
  const conv_shape s(*p.row);
  const std::int64_t x = e % s.ow, y = e / s.ow % s.oh, o = e / (s.ow * s.oh) % s.o, n = e / (s.ow * s.oh * s.o);
  const std::int64_t cg = s.c / s.groups, first = o / (s.o / s.groups) * cg;
  double sum = 0;
  for (std::int64_t c = 0; c < cg; ++c)
    for (std::int64_t i = 0; i < s.r; ++i)
      for (std::int64_t j = 0; j < s.r; ++j) {
        const std::int64_t yy = y * s.stride + i - s.padding, xx = x * s.stride + j - s.padding;
        if (yy < 0 || yy >= s.h || xx < 0 || xx >= s.w) continue;
        sum += p.in[0][((n * s.c + first + c) * s.h + yy) * s.w + xx] * p.in[1][((o * cg + c) * s.r + i) * s.r + j];
      }
  return sum;
}
double convolution_work(const workload& w) {
  const conv_shape s(w);
  return 2 * static_cast<double>(s.n * s.o * s.oh * s.ow * (s.c / s.groups) * s.r * s.r);
}

void max_pool(const workload& w, problem& p) {
  p.in.push_back({KILN_F32, {1, w.e[0], w.e[1], w.e[2]}});
  p.out.push_back({KILN_F32, {1, w.e[0], (w.e[1] - 1) / 2 + 1, (w.e[2] - 1) / 2 + 1}});
}
double max_pool_element(const problem& p, std::size_t, std::int64_t e) {
  const std::int64_t h = p.e(1), w = p.e(2), oh = (h - 1) / 2 + 1, ow = (w - 1) / 2 + 1;
  const std::int64_t x = 2 * (e % ow), y = 2 * (e / ow % oh), c = e / (ow * oh);
  double most = -1e30;
  for (std::int64_t i = std::max<std::int64_t>(y - 1, 0); i <= std::min(y + 1, h - 1); ++i)
    for (std::int64_t j = std::max<std::int64_t>(x - 1, 0); j <= std::min(x + 1, w - 1); ++j)
      most = std::max(most, p.in[0][(c * h + i) * w + j]);
  return most;
}

template <int components>
void image(const workload& w, problem& p) {
  const extents shape = components == 1 ? w.e : extents{w.e[0], w.e[1], components};
  p.in.push_back({KILN_F32, shape});
  p.out.push_back({KILN_F32, shape});
}
// The sum of weights[i][j] times the neighbour (i - 1, j - 1) of a component. Beyond a border are the values of the border.
double stencil(const problem& p, std::int64_t e, std::int64_t components, const double (&weights)[3][3]) {
  const std::int64_t h = p.e(0), w = p.e(1), c = e % components, x = e / components % w, y = e / (components * w);
  double s = 0;
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 3; ++j) {
      const std::int64_t yy = std::clamp<std::int64_t>(y + i - 1, 0, h - 1), xx = std::clamp<std::int64_t>(x + j - 1, 0, w - 1);
      s += weights[i][j] * p.in[0][(yy * w + xx) * components + c];
    }
  return s;
}
double jacobi(const problem& p, std::size_t, std::int64_t e) {
  return stencil(p, e, 1, {{0, 0.25, 0}, {0.25, 0, 0.25}, {0, 0.25, 0}});
}
double gauss(const problem& p, std::size_t, std::int64_t e) {
  return stencil(p, e, 3, {{0.0625, 0.125, 0.0625}, {0.125, 0.25, 0.125}, {0.0625, 0.125, 0.0625}});
}
double unsharp(const problem& p, std::size_t out, std::int64_t e) {
  return std::clamp(p.in[0][e] + 1.5 * (p.in[0][e] - gauss(p, out, e)), 0.0, 1.0);
}

// Slots of a multiply-add unit for each element of the result, counted twice.
template <int slots>
double work(const workload& w) {
  return 2.0 * slots * static_cast<double>(count(w.e));
}

const families here{
    {"convolution", convolution, convolution_element, convolution_work, 1e-4},
    {"max_pool", max_pool, max_pool_element, work<2>, 0},
    {"jacobi", image<1>, jacobi, work<4>},
    {"gauss", image<3>, gauss, work<18>},
    {"unsharp", image<3>, unsharp, work<30>},
};

}  // namespace
}  // namespace kiln::headline
