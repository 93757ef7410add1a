// Products, networks and an N-body step by Eigen.
#include <Eigen/Core>

#include "tests/bench/headline/bench.h"

namespace kiln::headline {
namespace {

template <class T>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using view = Eigen::Map<matrix<T>, Eigen::Aligned64>;
using loose_view = Eigen::Map<matrix<float>>;
using vector = Eigen::Map<Eigen::VectorXf, Eigen::Aligned64>;
using row = Eigen::Map<Eigen::RowVectorXf, Eigen::Aligned64>;

template <class T>
view<T> of(const array& a) {
  return {a.as<T>(), a.shape[0], a.shape[1]};
}

template <class T, bool ta, bool tb>
job product(problem& p) {
  return {[&p] {
    const auto a = of<T>(p.in[0]), b = of<T>(p.in[1]);
    auto c = of<T>(p.out[0]);
    if constexpr (ta && tb)
      c.noalias() = a.transpose() * b.transpose();
    else if constexpr (ta)
      c.noalias() = a.transpose() * b;
    else if constexpr (tb)
      c.noalias() = a * b.transpose();
    else
      c.noalias() = a * b;
  }};
}
job row_product(problem& p) {
  return {[&p] {
    const row x(p.in[0].as<float>(), p.e(1));
    row y(p.result(), p.e(2));
    y.noalias() = x * of<float>(p.in[1]);
  }};
}
job batched(problem& p) {
  return {[&p] {
    const std::int64_t m = p.e(1), k = p.e(2), n = p.e(3);
    for (std::int64_t b = 0; b < p.e(0); ++b) {
      const loose_view x(p.in[0].as<float>() + b * m * k, m, k), y(p.in[1].as<float>() + b * k * n, k, n);
      loose_view(p.result() + b * m * n, m, n).noalias() = x * y;
    }
  }};
}
job dense_relu(problem& p) {
  return {[&p] {
    auto c = of<float>(p.out[0]);
    const row bias(p.in[2].as<float>(), p.e(2));
    c.noalias() = of<float>(p.in[0]) * of<float>(p.in[1]);
    c = (c.rowwise() + bias).cwiseMax(0.0f);
  }};
}
job dense_gelu(problem& p) {
  return {[&p] {
    auto c = of<float>(p.out[0]);
    const auto bias = row(p.in[2].as<float>(), p.e(2)).array();
    c.noalias() = of<float>(p.in[0]) * of<float>(p.in[1]);
    for (std::int64_t i = 0; i < c.rows(); ++i) {
      auto x = c.row(i).array();
      x += bias;
      x = 0.5f * x * (1 + (0.79788456f * (x + 0.044715f * x * x * x)).tanh());
    }
  }};
}
job matvec(problem& p) {
  return {[&p] { vector(p.result(), p.e(0)).noalias() = of<float>(p.in[0]) * vector(p.in[1].as<float>(), p.e(1)); }};
}
job matvec_of_bytes(problem& p) {
  return {[&p] {
    const auto a = of<std::int8_t>(p.in[0]);
    const row x(p.in[1].as<float>(), p.e(1));
    for (std::int64_t i = 0; i < p.e(0); ++i) p.result()[i] = a.row(i).cast<float>().dot(x);
  }};
}
job mlp(problem& p) {
  const auto kept = std::make_shared<std::array<matrix<float>, 2>>();
  return {[&p, kept] {
    const row b1(p.in[2].as<float>(), p.e(2)), b2(p.in[4].as<float>(), p.e(3)), b3(p.in[6].as<float>(), p.e(4));
    auto& [h1, h2] = *kept;
    auto y = of<float>(p.out[0]);
    h1.noalias() = of<float>(p.in[0]) * of<float>(p.in[1]);
    h1 = (h1.rowwise() + b1).cwiseMax(0.0f);
    h2.noalias() = h1 * of<float>(p.in[3]);
    h2 = (h2.rowwise() + b2).cwiseMax(0.0f);
    y.noalias() = h2 * of<float>(p.in[5]);
    y.rowwise() += b3;
  }};
}
job attention(problem& p) {
  const auto kept = std::make_shared<matrix<float>>();
  return {[&p, kept] {
    const std::int64_t s = p.e(2), d = p.e(3);
    matrix<float>& score = *kept;
    for (std::int64_t h = 0; h < p.e(0) * p.e(1); ++h) {
      const loose_view q(p.in[0].as<float>() + h * s * d, s, d), k(p.in[1].as<float>() + h * s * d, s, d),
          v(p.in[2].as<float>() + h * s * d, s, d);
      score.noalias() = q * k.transpose();
      for (std::int64_t i = 0; i < s; ++i) {
        auto x = score.row(i).array();
        x = ((x - x.maxCoeff()) * 0.125f).exp();
        x *= 1 / x.sum();
      }
      loose_view(p.result() + h * s * d, s, d).noalias() = score * v;
    }
  }};
}
job nbody(problem& p) {
  const auto kept = std::make_shared<std::array<Eigen::ArrayXf, 4>>();
  return {[&p, kept] {
    const std::int64_t n = p.e(0);
    const auto x = vector(p.in[0].as<float>(), n).array(), y = vector(p.in[1].as<float>(), n).array(),
               z = vector(p.in[2].as<float>(), n).array();
    auto& [dx, dy, dz, s] = *kept;
    for (std::int64_t i = 0; i < n; ++i) {
      dx = x - x[i], dy = y - y[i], dz = z - z[i];
      s = dx * dx + dy * dy + dz * dz + 1e-3f;
      s = (s * s.sqrt()).inverse();
      p.out[0].as<float>()[i] = (dx * s).sum();
      p.out[1].as<float>()[i] = (dy * s).sum();
      p.out[2].as<float>()[i] = (dz * s).sum();
    }
  }};
}

const peers here{
    {"product", "f32", "", product<float, false, false>},
    {"product", "f32", "gemv", row_product, [](const workload& w) { return w.e[0] == 1; }},
    {"product", "f64", "", product<double, false, false>},
    {"product_at_b", "f32", "", product<float, true, false>},
    {"product_a_bt", "f32", "", product<float, false, true>},
    {"product_at_bt", "f32", "", product<float, true, true>},
    {"batched", "f32", "", batched},
    {"dense_relu", "f32", "", dense_relu},
    {"dense_gelu", "f32", "", dense_gelu},
    {"matvec", "f32", "", matvec},
    {"matvec", "i8", "", matvec_of_bytes},
    {"mlp", "f32", "", mlp},
    {"attention", "f32", "", attention},
    {"nbody", "f32", "", nbody},
};

}  // namespace
}  // namespace kiln::headline
