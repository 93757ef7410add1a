// An N-body step and two small networks in plain C++.
#include <cmath>
#include <vector>

#include "tests/bench/headline/bench.h"
#include "tests/bench/headline/plain/dense.h"

namespace kiln::headline {
namespace {

// Blocks of bodies in the inner loop, so that a compiler can use vectors without reordering sums.
job nbody(problem& p) {
  return {[&p] {
    constexpr std::int64_t block = 64;
    const float *x = p.in[0].f(), *y = p.in[1].f(), *z = p.in[2].f();
    const std::int64_t n = p.e(0);
    for (std::int64_t first = 0; first < n; first += block) {
      float fx[block] = {}, fy[block] = {}, fz[block] = {};
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < block; ++i) {
          const float dx = x[j] - x[first + i], dy = y[j] - y[first + i], dz = z[j] - z[first + i];
          const float d2 = dx * dx + dy * dy + dz * dz + 1e-3f, s = 1.0f / (d2 * std::sqrt(d2));
          fx[i] += dx * s;
          fy[i] += dy * s;
          fz[i] += dz * s;
        }
      for (std::int64_t i = 0; i < block; ++i) {
        p.out[0].as<float>()[first + i] = fx[i];
        p.out[1].as<float>()[first + i] = fy[i];
        p.out[2].as<float>()[first + i] = fz[i];
      }
    }
  }};
}

job attention(problem& p) {
  return {[&p] {
    const std::int64_t s = p.e(2), d = p.e(3), heads = p.e(0) * p.e(1);
    std::vector<float> keys(static_cast<std::size_t>(s * d)), score(static_cast<std::size_t>(s));
    for (std::int64_t head = 0; head < heads; ++head) {
      const float *q = p.in[0].f() + head * s * d, *k = p.in[1].f() + head * s * d, *v = p.in[2].f() + head * s * d;
      for (std::int64_t i = 0; i < s; ++i)
        for (std::int64_t j = 0; j < d; ++j) keys[static_cast<std::size_t>(j * s + i)] = k[i * d + j] * 0.125f;
      for (std::int64_t i = 0; i < s; ++i) {
        score.assign(score.size(), 0);
        add_product(q + i * d, keys.data(), score.data(), d, s, s);
        softmax(score.data(), s);
        float* y = p.result() + (head * s + i) * d;
        for (std::int64_t j = 0; j < d; ++j) y[j] = 0;
        add_product(score.data(), v, y, s, d, d);
      }
    }
  }};
}

job mlp(problem& p) {
  return {[&p] {
    float a[1024], b[1024];
    const std::size_t layers = p.row->e.size() - 2;
    for (std::int64_t i = 0; i < p.e(0); ++i) {
      const float* x = p.in[0].f() + i * p.e(1);
      for (std::size_t l = 1; l <= layers; ++l) {
        const std::int64_t n = p.row->e[l + 1];
        float* y = l == layers ? p.result() + i * n : l % 2 == 0 ? a : b;
        for (std::int64_t j = 0; j < n; ++j) y[j] = p.in[2 * l].f()[j];
        add_product(x, p.in[2 * l - 1].f(), y, p.row->e[l], n, n);
        for (std::int64_t j = 0; j < n && l < layers; ++j) y[j] = y[j] > 0 ? y[j] : 0;
        x = y;
      }
    }
  }};
}

const peers here{
    {"nbody", "f32", "", nbody, [](const workload& w) { return w.e[0] % 64 == 0; }},
    {"attention", "f32", "", attention},
    {"mlp", "f32", "", mlp},
};

}  // namespace
}  // namespace kiln::headline
