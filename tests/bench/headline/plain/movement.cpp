// Permutations and changes of the type in plain C++.
#include <cmath>

#include "tests/bench/headline/bench.h"

namespace kiln::headline {
namespace {

// y[a][b][c] = x[a * sa + b * sb + c * sc].
template <class T>
void gather(const T* x, T* __restrict y, const extents& e, const extents& s) {
  for (std::int64_t a = 0; a < e[0]; ++a)
    for (std::int64_t b = 0; b < e[1]; ++b)
      for (std::int64_t c = 0; c < e[2]; ++c) *y++ = x[a * s[0] + b * s[1] + c * s[2]];
}
// Blocks of 32 x 32 keep the lines of both sides in the cache.
job transposed(problem& p) {
  return {[&p] {
    constexpr std::int64_t block = 32;
    const float* x = p.in[0].f();
    float* __restrict y = p.result();
    const std::int64_t m = p.e(0), n = p.e(1);
    for (std::int64_t i = 0; i < m; i += block)
      for (std::int64_t j = 0; j < n; j += block)
        for (std::int64_t b = j; b < j + block && b < n; ++b)
          for (std::int64_t a = i; a < i + block && a < m; ++a) y[b * m + a] = x[a * n + b];
  }};
}
job permuted_0231(problem& p) {
  return {[&p] {
    const std::int64_t c = p.e(1), plane = p.e(2) * p.e(3);
    for (std::int64_t i = 0; i < p.e(0); ++i)
      gather(p.in[0].f() + i * c * plane, p.result() + i * c * plane, {1, plane, c}, {0, 1, plane});
  }};
}
template <int a, int b, int c>
job permuted(problem& p) {
  return {[&p] {
    const extents e = p.row->e, s = {e[1] * e[2], e[2], 1};
    gather(p.in[0].f(), p.result(), {e[a], e[b], e[c]}, {s[a], s[b], s[c]});
  }};
}
job planar(problem& p) {
  return {[&p] {
    const std::int64_t n = p.e(0) * p.e(1);
    const auto* x = p.in[0].as<std::uint8_t>();
    auto* __restrict y = p.out[0].as<std::uint8_t>();
    for (std::int64_t i = 0; i < n; ++i) y[i] = x[3 * i], y[n + i] = x[3 * i + 1], y[2 * n + i] = x[3 * i + 2];
  }};
}
job grey(problem& p) {
  return {[&p] {
    const std::int64_t n = p.e(0) * p.e(1);
    const auto* x = p.in[0].as<std::uint8_t>();
    auto* __restrict y = p.out[0].as<std::uint8_t>();
    for (std::int64_t i = 0; i < n; ++i)
      y[i] = static_cast<std::uint8_t>((77 * x[3 * i] + 150 * x[3 * i + 1] + 29 * x[3 * i + 2] + 128) >> 8);
  }};
}
job quantised(problem& p) {
  return {[&p] {
    const std::int64_t n = p.e(1);
    for (std::int64_t i = 0; i < p.e(0); ++i) {
      const float* x = p.in[0].f() + i * n;
      auto* __restrict q = p.out[0].as<std::int8_t>() + i * n;
      float most = 0;
      for (std::int64_t j = 0; j < n; ++j) most = std::fabs(x[j]) > most ? std::fabs(x[j]) : most;
      const float factor = 127 / most;
      for (std::int64_t j = 0; j < n; ++j) q[j] = static_cast<std::int8_t>(static_cast<int>(std::nearbyint(x[j] * factor)));
      p.out[1].as<float>()[i] = most / 127;
    }
  }};
}
job restored(problem& p) {
  return {[&p] {
    const std::int64_t n = p.e(1);
    for (std::int64_t i = 0; i < p.e(0); ++i) {
      const auto* q = p.in[0].as<std::int8_t>() + i * n;
      const float scale = p.in[1].f()[i];
      float* __restrict x = p.result() + i * n;
      for (std::int64_t j = 0; j < n; ++j) x[j] = static_cast<float>(q[j]) * scale;
    }
  }};
}

const peers here{
    {"transposed", "f32", "", transposed},
    {"permuted_0231", "f32", "", permuted_0231},
    {"permuted_021", "f32", "", permuted<0, 2, 1>},
    {"permuted_210", "f32", "", permuted<2, 1, 0>},
    {"permuted_102", "f32", "", permuted<1, 0, 2>},
    {"planar", "u8", "", planar},
    {"grey", "u8", "", grey},
    {"quantised", "f32", "", quantised},
    {"restored", "i8", "", restored},
};

}  // namespace
}  // namespace kiln::headline
