// Elementwise formulas, reductions, permutations and stencils by Eigen.
#include <Eigen/Core>

#include "tests/bench/headline/bench.h"

namespace kiln::headline {
namespace {

template <class T>
using table = Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using vector = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>, Eigen::Aligned64>;
template <class T>
using view = Eigen::Map<table<T>, Eigen::Aligned64>;
// An image in a stack need not be aligned.
using image = Eigen::Map<table<float>>;

vector<float> flat(const array& a) { return {a.as<float>(), a.elements()}; }
view<float> of(const array& a) { return {a.as<float>(), a.shape[0], a.elements() / a.shape[0]}; }

job saxpy(problem& p) {
  return {[&p] { flat(p.out[0]) += p.in[0].f()[0] * flat(p.in[1]); }};
}
job exponential(problem& p) {
  return {[&p] { flat(p.out[0]) = flat(p.in[0]).exp(); }};
}
job gelu_tanh(problem& p) {
  return {[&p] {
    const auto x = flat(p.in[0]);
    flat(p.out[0]) = 0.5f * x * (1 + (0.79788456f * (x + 0.044715f * x * x * x)).tanh());
  }};
}
job chain5(problem& p) {
  return {[&p] {
    const auto a = flat(p.in[0]), b = flat(p.in[1]), c = flat(p.in[2]), d = flat(p.in[3]);
    flat(p.out[0]) = ((a * b + c) * d - a).max(0.0f);
  }};
}
job chain20(problem& p) {
  return {[&p] {
    const auto x = flat(p.in[0]), z = flat(p.in[1]);
    const auto link = [&](auto const& v) { return (v * 0.9f + z).max(x) - 0.1f; };
    flat(p.out[0]) = link(link(link(link(link(x)))));
  }};
}
job total(problem& p) {
  return {[&p] { *p.result() = flat(p.in[0]).sum(); }};
}
job lowest(problem& p) {
  return {[&p] { *p.result() = flat(p.in[0]).minCoeff(); }};
}
job argmax_all(problem& p) {
  return {[&p] {
    Eigen::Index at = 0;
    (void)flat(p.in[0]).maxCoeff(&at);
    *p.out[0].as<std::int64_t>() = at;
  }};
}
job argmin_rows(problem& p) {
  return {[&p] {
    for (std::int64_t i = 0; i < p.e(0); ++i) {
      Eigen::Index at = 0;
      (void)of(p.in[0]).row(i).minCoeff(&at);
      p.out[0].as<std::int64_t>()[i] = at;
    }
  }};
}
template <class T>
job dot_product(problem& p) {
  return {[&p] {
    *p.out[0].as<T>() = vector<T>(p.in[0].as<T>(), p.e(0)).matrix().dot(vector<T>(p.in[1].as<T>(), p.e(0)).matrix());
  }};
}
job softmax_rows(problem& p) {
  return {[&p] {
    for (std::int64_t i = 0; i < p.e(0); ++i) {
      const auto x = of(p.in[0]).row(i);
      auto out = of(p.out[0]);
      auto y = out.row(i);
      y = (x - x.maxCoeff()).exp();
      y *= 1 / y.sum();
    }
  }};
}
job layer_norm_rows(problem& p) {
  return {[&p] {
    const auto scale = flat(p.in[1]).transpose(), shift = flat(p.in[2]).transpose();
    auto out = of(p.out[0]);
    for (std::int64_t i = 0; i < p.e(0); ++i) {
      const auto x = of(p.in[0]).row(i);
      const float mean = x.mean(), factor = 1 / std::sqrt((x - mean).square().mean() + 1e-5f);
      out.row(i) = (x - mean) * factor * scale + shift;
    }
  }};
}
job sum_columns(problem& p) {
  return {[&p] { flat(p.out[0]) = of(p.in[0]).colwise().sum().transpose(); }};
}
job max_columns(problem& p) {
  return {[&p] { flat(p.out[0]) = of(p.in[0]).colwise().maxCoeff().transpose(); }};
}
// By |x|^2 + |y|^2 - 2 x y.
job distances(problem& p) {
  return {[&p] {
    const auto x = of(p.in[0]).matrix();
    auto y = of(p.out[0]).matrix();
    const Eigen::VectorXf squares = x.rowwise().squaredNorm();
    y.noalias() = -2 * x * x.transpose();
    for (std::int64_t i = 0; i < p.e(0); ++i)
      y.row(i).array() = (y.row(i).array() + squares.transpose().array() + squares[i]).max(0.0f).sqrt();
  }};
}
job transposed(problem& p) {
  return {[&p] { of(p.out[0]) = of(p.in[0]).transpose(); }};
}
// Transposes matrices of m rows: all axes after them are columns.
job permuted(problem& p) {
  return {[&p] {
    const std::int64_t m = p.e(1), n = p.in[0].elements() / (p.e(0) * m);
    for (std::int64_t i = 0; i < p.e(0); ++i)
      image(p.result() + i * m * n, n, m) = image(p.in[0].as<float>() + i * m * n, m, n).transpose();
  }};
}
job quantised(problem& p) {
  return {[&p] {
    view<std::int8_t> q(p.out[0].as<std::int8_t>(), p.e(0), p.e(1));
    for (std::int64_t i = 0; i < p.e(0); ++i) {
      const auto x = of(p.in[0]).row(i);
      const float most = x.abs().maxCoeff();
      q.row(i) = (x * (127 / most)).rint().cast<std::int8_t>();
      p.out[1].as<float>()[i] = most / 127;
    }
  }};
}
job restored(problem& p) {
  return {[&p] {
    const view<std::int8_t> q(p.in[0].as<std::int8_t>(), p.e(0), p.e(1));
    auto out = of(p.out[0]);
    for (std::int64_t i = 0; i < p.e(0); ++i) out.row(i) = q.row(i).cast<float>() * p.in[1].f()[i];
  }};
}
job planar(problem& p) {
  return {[&p] {
    const std::int64_t n = p.e(0) * p.e(1);
    view<std::uint8_t>(p.out[0].as<std::uint8_t>(), 3, n) = view<std::uint8_t>(p.in[0].as<std::uint8_t>(), n, 3).transpose();
  }};
}

const peers here{
    {"saxpy", "f32", "", saxpy},
    {"exponential", "f32", "", exponential},
    {"gelu_tanh", "f32", "", gelu_tanh},
    {"chain5", "f32", "", chain5},
    {"chain20", "f32", "", chain20},
    {"total", "f32", "", total},
    {"lowest", "f32", "", lowest},
    {"argmax_all", "f32", "", argmax_all},
    {"argmin_rows", "f32", "", argmin_rows},
    {"dot_product", "f32", "", dot_product<float>},
    {"dot_product", "f64", "", dot_product<double>},
    {"softmax_rows", "f32", "", softmax_rows},
    {"layer_norm_rows", "f32", "", layer_norm_rows},
    {"sum_columns", "f32", "", sum_columns},
    {"max_columns", "f32", "", max_columns},
    {"distances", "f32", "", distances},
    {"transposed", "f32", "", transposed},
    {"permuted_021", "f32", "", permuted},
    {"permuted_0231", "f32", "", permuted},
    {"quantised", "f32", "", quantised},
    {"restored", "i8", "", restored},
    {"planar", "u8", "", planar},
};

}  // namespace
}  // namespace kiln::headline
