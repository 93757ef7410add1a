// Captured programs, evaluated and compared with plain loops: movement, windows, contractions, library functions.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>

#include "dsl_eval.h"

using namespace kiln;
using dsl_test::each;
using dsl_test::evaluate;
using dsl_test::make;
using dsl_test::Shape;
using dsl_test::Tensor;

namespace {

inline constexpr dim<"N"> N;

Tensor random(Shape s, unsigned seed = 1) {
  Tensor t = make(std::move(s));
  for (auto& v : t.v) {
    seed = seed * 1664525u + 1013904223u;
    v = static_cast<double>(static_cast<int>(seed >> 24) - 128) / 16;
  }
  return t;
}

template <int K, int Stride, int Padding, int Dilation, int Groups>
struct convolved : program<convolved<K, Stride, Padding, Dilation, Groups>> {
  static constexpr int in_c = 4, out_c = 6;
  in<f64, 2, 4, N, 7> x;
  in<f64, 6, 4 / Groups, K, K> w;
  out<f64, 2, 6, (N + (2 * Padding - Dilation * (K - 1) - 1)) / Stride + 1,
      (7 + 2 * Padding - Dilation * (K - 1) - 1) / Stride + 1>
      y;
  constexpr void body() {
    y = conv2d<dsl::conv{.stride = Stride, .padding = Padding, .dilation = Dilation, .groups = Groups}>(x, w);
  }
};

template <int K, int Stride, int Padding, int Dilation, int Groups>
void check_conv(std::int64_t rows) {
  const Tensor x = random({2, 4, rows, 7}), w = random({6, 4 / Groups, K, K}, 7);
  const auto r = evaluate(ir<convolved<K, Stride, Padding, Dilation, Groups>>, {{"x", x}, {"w", w}}, {{"N", rows}});
  const Tensor& y = r.at("y");
  each(y.shape, [&](const Shape& i) {
    double sum = 0;
    const std::int64_t g = i[1] / (6 / Groups);
    each({4 / Groups, K, K}, [&](const Shape& k) {
      const std::int64_t row = i[2] * Stride + k[1] * Dilation - Padding, column = i[3] * Stride + k[2] * Dilation - Padding;
      if (row < 0 || row >= rows || column < 0 || column >= 7) return;
      sum += x.at({i[0], g * (4 / Groups) + k[0], row, column}) * w.at({i[1], k[0], k[1], k[2]});
    });
    EXPECT_DOUBLE_EQ(y.at(i), sum);
  });
}

TEST(DslEval, Conv2d) {
  check_conv<3, 1, 0, 1, 1>(5);
  check_conv<3, 2, 1, 1, 1>(9);
  check_conv<2, 1, 0, 2, 2>(4);
  check_conv<3, 1, 2, 2, 2>(6);
  check_conv<1, 1, 0, 1, 1>(3);
  check_conv<1, 2, 0, 1, 2>(5);
  check_conv<2, 2, 0, 1, 1>(8);
  check_conv<2, 3, 1, 3, 1>(11);
  check_conv<3, 1, 0, 1, 1>(3);
}

struct pooled : program<pooled> {
  in<f64, 1, 2, N, 8> x;
  out<f64, 1, 2, (N - 1) / 2 + 1, 4> most;
  out<f64, 1, 2, N / 2, 4> mean;
  out<f64, 1, 2, N - 2, 6> mean3;
  constexpr void body() {
    most = max_pool2d<pool{.kernel = 3, .stride = 2, .padding = 1}>(x);
    mean = avg_pool2d<pool{.kernel = 2}>(x);
    mean3 = avg_pool2d<pool{.kernel = 3, .stride = 1}>(x);
  }
};

TEST(DslEval, Pooling) {
  for (const std::int64_t rows : {3, 6, 7}) {
    const Tensor x = random({1, 2, rows, 8});
    const auto r = evaluate(ir<pooled>, {{"x", x}}, {{"N", rows}});
    const auto window = [&](const Shape& i, int k, int stride, int padding, bool most) {
      double v = most ? -INFINITY : 0;
      each({k, k}, [&](const Shape& d) {
        const std::int64_t row = i[2] * stride + d[0] - padding, column = i[3] * stride + d[1] - padding;
        if (row < 0 || row >= rows || column < 0 || column >= 8) return;
        const double e = x.at({i[0], i[1], row, column});
        v = most ? std::max(v, e) : v + e / (k * k);
      });
      return v;
    };
    each(r.at("most").shape, [&](const Shape& i) { EXPECT_DOUBLE_EQ(r.at("most").at(i), window(i, 3, 2, 1, true)); });
    each(r.at("mean").shape, [&](const Shape& i) { EXPECT_NEAR(r.at("mean").at(i), window(i, 2, 2, 0, false), 1e-12); });
    each(r.at("mean3").shape, [&](const Shape& i) { EXPECT_NEAR(r.at("mean3").at(i), window(i, 3, 1, 0, false), 1e-12); });
  }
}

struct products : program<products> {
  in<f64, 2, 1, N, 4> a;
  in<f64, 3, 4, 5> b;
  in<f64, 4> v;
  out<f64, 2, 3, N, 5> ab;
  out<f64, 2, 1, N> av;
  out<f64, 3, 5> vb;
  out<f64> vv;
  constexpr void body() {
    ab = matmul(a, b);
    av = matmul(a, v);
    vb = matmul(v, b);
    vv = dot(v, v);
  }
};

TEST(DslEval, Matmul) {
  for (const std::int64_t n : {0, 1, 3}) {
    const Tensor a = random({2, 1, n, 4}), b = random({3, 4, 5}, 5), v = random({4}, 9);
    const auto r = evaluate(ir<products>, {{"a", a}, {"b", b}, {"v", v}}, {{"N", n}});
    each(r.at("ab").shape, [&](const Shape& i) {
      double s = 0;
      for (std::int64_t k = 0; k < 4; ++k) s += a.at({i[0], 0, i[2], k}) * b.at({i[1], k, i[3]});
      EXPECT_DOUBLE_EQ(r.at("ab").at(i), s);
    });
    each(r.at("av").shape, [&](const Shape& i) {
      double s = 0;
      for (std::int64_t k = 0; k < 4; ++k) s += a.at({i[0], 0, i[2], k}) * v.v[static_cast<std::size_t>(k)];
      EXPECT_DOUBLE_EQ(r.at("av").at(i), s);
    });
    each(r.at("vb").shape, [&](const Shape& i) {
      double s = 0;
      for (std::int64_t k = 0; k < 4; ++k) s += v.v[static_cast<std::size_t>(k)] * b.at({i[0], k, i[1]});
      EXPECT_DOUBLE_EQ(r.at("vb").at(i), s);
    });
  }
}

struct moved : program<moved> {
  in<f64, N, 6> x;
  out<f64, N, 6> rolled, rolled_back, flipped;
  out<f64, N, 3> odd;
  out<f64, N, 2> down;
  out<f64, 2 * N, 6> each_row, tiled;
  out<f64, N, 10> reflected, wrapped, edged;
  out<f64, N, 2, 3> parts;
  out<f64, 6> arg;
  constexpr void body() {
    rolled = roll<0, 2>(x);
    rolled_back = roll<1, -4>(x);
    flipped = flip<0, 1>(x);
    odd = slice<1, 1, none, 2>(x);
    down = slice<1, -1, 1, -2>(x);
    each_row = repeat<0, 2>(x);
    tiled = tile<2, 1>(x);
    reflected = pad<1, 2, 2, pad_mode::reflect>(x);
    wrapped = pad<1, 3, 1, pad_mode::wrap>(x);
    edged = pad<1, 0, 4, pad_mode::edge>(x);
    auto [a, b] = split<1, 2>(x);
    parts = stack<1>(a, b);
    arg = cast<f64>(argmax<0>(concat<0>(x, x * 2)));
  }
};

TEST(DslEval, Movement) {
  for (const std::int64_t n : {1, 2, 5}) {
    const Tensor x = random({n, 6});
    const auto r = evaluate(ir<moved>, {{"x", x}}, {{"N", n}});
    const auto mod = [](std::int64_t a, std::int64_t b) { return ((a % b) + b) % b; };
    each({n, 6}, [&](const Shape& i) {
      EXPECT_EQ(r.at("rolled").at({mod(i[0] + 2, n), i[1]}), x.at(i));
      EXPECT_EQ(r.at("rolled_back").at({i[0], mod(i[1] - 4, 6)}), x.at(i));
      EXPECT_EQ(r.at("flipped").at({n - 1 - i[0], 5 - i[1]}), x.at(i));
      EXPECT_EQ(r.at("each_row").at({2 * i[0] + 1, i[1]}), x.at(i));
      EXPECT_EQ(r.at("tiled").at({n + i[0], i[1]}), x.at(i));
      EXPECT_EQ(r.at("reflected").at({i[0], i[1] + 2}), x.at(i));
      EXPECT_EQ(r.at("parts").at({i[0], i[1] / 3, i[1] % 3}), x.at(i));
    });
    each({n, 3}, [&](const Shape& i) { EXPECT_EQ(r.at("odd").at(i), x.at({i[0], 2 * i[1] + 1})); });
    each({n, 2}, [&](const Shape& i) { EXPECT_EQ(r.at("down").at(i), x.at({i[0], 5 - 2 * i[1]})); });
    for (std::int64_t k = 0; k < n; ++k) {
      EXPECT_EQ(r.at("reflected").at({k, 0}), x.at({k, 2}));
      EXPECT_EQ(r.at("reflected").at({k, 9}), x.at({k, 3}));
      EXPECT_EQ(r.at("wrapped").at({k, 0}), x.at({k, 3}));
      EXPECT_EQ(r.at("edged").at({k, 9}), x.at({k, 5}));
    }
  }
}

struct library : program<library> {
  in<f64, N, 5> x;
  in<f64, 5> gamma, beta;
  out<f64, N, 5> soft, log_soft, normal;
  out<f64> error;
  out<i64> where;
  constexpr void body() {
    soft = softmax<1>(x);
    log_soft = log_softmax(x);
    normal = layer_norm(x, gamma, beta);
    error = mse(x, gamma);
    where = argmin(x);
  }
};

TEST(DslEval, Library) {
  const Tensor x = random({3, 5}), gamma = random({5}, 3), beta = random({5}, 4);
  const auto r = evaluate(ir<library>, {{"x", x}, {"gamma", gamma}, {"beta", beta}}, {{"N", 3}});
  double error = 0;
  for (std::int64_t i = 0; i < 3; ++i) {
    double total = 0, mean = 0, variance = 0;
    for (std::int64_t k = 0; k < 5; ++k) {
      total += std::exp(x.at({i, k}));
      mean += x.at({i, k}) / 5;
      error += std::pow(x.at({i, k}) - gamma.at({k}), 2) / 15;
    }
    for (std::int64_t k = 0; k < 5; ++k) variance += std::pow(x.at({i, k}) - mean, 2) / 5;
    for (std::int64_t k = 0; k < 5; ++k) {
      const double soft = std::exp(x.at({i, k})) / total;
      EXPECT_NEAR(r.at("soft").at({i, k}), soft, 1e-12);
      EXPECT_NEAR(r.at("log_soft").at({i, k}), std::log(soft), 1e-12);
      EXPECT_NEAR(r.at("normal").at({i, k}), (x.at({i, k}) - mean) / std::sqrt(variance + 1e-5) * gamma.at({k}) + beta.at({k}),
                  1e-12);
    }
  }
  EXPECT_NEAR(r.at("error").v[0], error, 1e-12);
  EXPECT_EQ(r.at("where").v[0], static_cast<double>(std::min_element(x.v.begin(), x.v.end()) - x.v.begin()));
}

}  // namespace
