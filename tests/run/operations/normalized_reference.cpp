// References of softmax, log_softmax and layer_norm along one axis of a matrix.
#include <algorithm>
#include <cmath>

#include "tests/run/operations/operations.h"

namespace kiln::compiler::testing {
namespace {

Bits exact(Op o, DType d, std::vector<Bits> x) { return expected_element(o, d, d, x).exact; }

// Row r of a matrix, or column r if first_axis is set.
std::vector<Bits> line_of(const Tensor& x, bool first_axis, std::int64_t r) {
  std::vector<Bits> line;
  const std::int64_t n = x.extents[first_axis ? 0 : 1];
  for (std::int64_t i = 0; i < n; ++i) line.push_back(first_axis ? x.at({i, r}) : x.at({r, i}));
  return line;
}
using Normalize = std::function<std::vector<Expected>(DType, const std::vector<Bits>&)>;
// The program works along the rows of x, or along the first axis of x's transpose.
Reference by_line(bool first_axis, Normalize f) {
  return [=](const Call& call) {
    Tensor x = call["x"];
    if (first_axis) x = expected_permute(x, {1, 0});
    Expectation e{call.result, call.extents, {}};
    e.elements.resize(x.elements.size());
    const std::int64_t lines = x.extents[first_axis ? 1 : 0];
    for (std::int64_t r = 0; r < lines; ++r) {
      const auto line = f(x.dtype, line_of(x, first_axis, r));
      for (std::size_t i = 0; i < line.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        e.elements[static_cast<std::size_t>(first_axis ? at * lines + r : r * x.extents[1] + at)] = line[i];
      }
    }
    return e;
  };
}

// Differences to the maximum in the dtype; their exponentials and the sum of these in long double.
struct Exponentials {
  std::vector<long double> d, e;
  long double sum = 0;
};
Exponentials exponentials(DType type, const std::vector<Bits>& line) {
  Exponentials r;
  Bits most = real_bits(type, -INFINITY);
  for (const Bits x : line) most = exact(Op::MAX, type, {most, x});
  for (const Bits x : line) {
    r.d.push_back(real_value(type, exact(Op::SUB, type, {x, most})));
    r.e.push_back(std::exp(r.d.back()));
    r.sum += r.e.back();
  }
  return r;
}
// Relative error of a sum of n exponentials: each is within allowed_ulps (2 u each), a sum of positive terms adds n u, and the
// rounding to the dtype adds one.
long double sum_error(DType type, std::size_t n) {
  return (2 * static_cast<long double>(allowed_ulps(type)) + static_cast<long double>(n) + 1) * roundoff(type);
}

// The quotient's rounding, exp's ulps and the sum's error. Below the normal range the unit is the smallest denormal.
std::vector<Expected> softmax(DType type, const std::vector<Bits>& line) {
  const Exponentials x = exponentials(type, line);
  const long double relative = sum_error(type, line.size()) + (2 * allowed_ulps(type) + 2) * roundoff(type);
  std::vector<Expected> r(line.size());
  for (std::size_t i = 0; i < line.size(); ++i) {
    r[i].value = x.e[i] / x.sum;
    r[i].slack = relative * r[i].value + (1 + allowed_ulps(type)) * real_value(type, 1);
  }
  return r;
}
// d - log(sum): the sum's relative error becomes absolute in the logarithm, which adds its ulps. The difference rounds once.
std::vector<Expected> log_softmax(DType type, const std::vector<Bits>& line) {
  const Exponentials x = exponentials(type, line);
  const long double u = roundoff(type), log = std::log(x.sum);
  std::vector<Expected> r(line.size());
  for (std::size_t i = 0; i < line.size(); ++i) {
    r[i].value = x.d[i] - log;
    r[i].slack = sum_error(type, line.size()) + (2 * allowed_ulps(type) + 1) * u * std::fabs(log) + u * std::fabs(r[i].value);
  }
  return r;
}

Bits mean(DType type, bool first_axis, const std::vector<Bits>& line) {
  const auto n = static_cast<std::int64_t>(line.size());
  const Tensor t{type, first_axis ? Extents{n, 1} : Extents{1, n}, line};  // the axis determines the order of the sum
  const Bits sum = expected_reduce(ReduceKind::sum, t, {first_axis ? 0 : 1}).elements[0];
  return exact(Op::FDIV, type, {sum, real_bits(type, static_cast<long double>(n))});
}
// Only basic operations, so the result is exact: (x - mean) * (1 / sqrt(mean of squares + eps)).
std::vector<Bits> layer_norm(DType type, bool first_axis, const std::vector<Bits>& line, long double eps) {
  if (line.empty()) return {};
  const Bits m = mean(type, first_axis, line);
  std::vector<Bits> d, squares;
  for (const Bits x : line) {
    d.push_back(exact(Op::SUB, type, {x, m}));
    squares.push_back(exact(Op::MUL, type, {d.back(), d.back()}));
  }
  const Bits variance = exact(Op::ADD, type, {mean(type, first_axis, squares), real_bits(type, eps)});
  const Bits scale = exact(Op::RSQRT, type, {variance});
  for (Bits& x : d) x = exact(Op::MUL, type, {x, scale});
  return d;
}
Normalize layer(bool first_axis, long double eps) {
  return [=](DType type, const std::vector<Bits>& line) {
    std::vector<Expected> r;
    for (const Bits x : layer_norm(type, first_axis, line, eps)) r.push_back({x, 0, 0, 0});
    return r;
  };
}
Expectation affine(const Call& call) {
  Expectation e = by_line(false, layer(false, 1e-5))(call);
  const auto columns = call.extents[1];
  for (std::size_t i = 0; i < e.elements.size(); ++i) {
    const Extents column{static_cast<std::int64_t>(i) % columns};
    const Bits scaled = exact(Op::MUL, call.result, {e.elements[i].exact, call["gamma"].at(column)});
    e.elements[i].exact = exact(Op::ADD, call.result, {scaled, call["beta"].at(column)});
  }
  return e;
}

}  // namespace

std::vector<Family> normalized_families() {
  return {{"normalized",
           Fill::random,
           {{"soft", "softmax<axis>(x)", by_line(false, softmax)},
            {"soft_first", "softmax<axis>(x)", by_line(true, softmax)},
            {"log_soft", "log_softmax<axis>(x)", by_line(false, log_softmax)},
            {"log_first", "log_softmax<axis>(x)", by_line(true, log_softmax)},
            {"layer", "layer_norm<axis>(x)", by_line(false, layer(false, 1e-5))},
            {"wide_eps", "layer_norm<axis>(x)", by_line(false, layer(false, 0.5))},
            {"layer_first", "layer_norm<axis>(x)", by_line(true, layer(true, 1e-5))},
            {"affine", "layer_norm<axis>(x, gamma, beta)", affine}}}};
}

}  // namespace kiln::compiler::testing
