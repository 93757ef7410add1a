#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "tests/unit/schedule_harness.h"

namespace kiln::compiler::testing {
namespace {

double rounded(DType d, double v) { return d == DType::f32 ? static_cast<double>(static_cast<float>(v)) : v; }
std::int64_t wrapped(DType d, std::uint64_t v) {
  if (d == DType::boolean) return v != 0;
  if (d == DType::i32) return static_cast<std::int32_t>(static_cast<std::uint32_t>(v));
  return static_cast<std::int64_t>(v);
}
std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

double float_minmax(bool is_min, double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  if (a == b) return std::signbit(a) == is_min ? a : b;
  return (a < b) == is_min ? a : b;
}

Scalar of_float(DType d, double v) { return {rounded(d, v), 0}; }
Scalar of_int(DType d, std::int64_t v) { return {0, wrapped(d, static_cast<std::uint64_t>(v))}; }
Scalar of_bool(bool v) { return {0, v ? 1 : 0}; }

Scalar float_op(Op op, DType d, const std::vector<Scalar>& x) {
  const double a = x[0].f, b = x.size() > 1 ? x[1].f : 0, c = x.size() > 2 ? x[2].f : 0;
  switch (op) {
    case Op::NEG: return {-a, 0};
    case Op::ABS: return {std::fabs(a), 0};
    case Op::SQRT:
      return d == DType::f32 ? Scalar{static_cast<double>(std::sqrt(static_cast<float>(a))), 0} : Scalar{std::sqrt(a), 0};
    case Op::EXP: return of_float(d, std::exp(a));
    case Op::ADD: return of_float(d, a + b);
    case Op::SUB: return of_float(d, a - b);
    case Op::MUL: return of_float(d, a * b);
    case Op::FDIV: return of_float(d, a / b);
    case Op::MIN: return {float_minmax(true, a, b), 0};
    case Op::MAX: return {float_minmax(false, a, b), 0};
    case Op::FMA:
      return d == DType::f32
                 ? Scalar{static_cast<double>(std::fmaf(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c))),
                          0}
                 : Scalar{std::fma(a, b, c), 0};
    default: throw std::logic_error("harness: float operation");
  }
}

Scalar int_op(Op op, DType d, const std::vector<Scalar>& x) {
  const std::int64_t a = x[0].i, b = x.size() > 1 ? x[1].i : 0, c = x.size() > 2 ? x[2].i : 0;
  const auto u = static_cast<std::uint64_t>(a), v = static_cast<std::uint64_t>(b);
  switch (op) {
    case Op::NEG: return {0, wrapped(d, 0 - u)};
    case Op::NOT: return d == DType::boolean ? of_bool(a == 0) : of_int(d, ~a);
    case Op::ABS: return {0, wrapped(d, a < 0 ? 0 - u : u)};
    case Op::ADD: return {0, wrapped(d, u + v)};
    case Op::SUB: return {0, wrapped(d, u - v)};
    case Op::MUL: return {0, wrapped(d, u * v)};
    case Op::FMA: return {0, wrapped(d, u * v + static_cast<std::uint64_t>(c))};
    case Op::FLOORDIV: return of_int(d, floor_div(a, b));
    case Op::FLOORMOD: return of_int(d, b == 0 ? 0 : a - floor_div(a, b) * b);
    case Op::CDIV: return of_int(d, b == 0 ? 0 : b == -1 ? wrapped(d, 0 - u) : a / b);
    case Op::CMOD: return of_int(d, b == 0 || b == -1 ? 0 : a % b);
    case Op::MIN: return of_int(d, std::min(a, b));
    case Op::MAX: return of_int(d, std::max(a, b));
    case Op::AND: return of_int(d, a & b);
    case Op::OR: return of_int(d, a | b);
    case Op::XOR: return of_int(d, a ^ b);
    default: throw std::logic_error("harness: integer operation");
  }
}

Scalar cast(DType to, DType from, const Scalar& x) {
  if (is_float(from)) {
    if (is_float(to)) return of_float(to, x.f);
    if (to == DType::boolean) return of_bool(x.f != 0);
    const double low = to == DType::i32 ? -2147483648.0 : -9223372036854775808.0;
    if (std::isnan(x.f)) return {};
    if (x.f <= low)
      return {0, to == DType::i32 ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<std::int64_t>::min()};
    if (x.f >= -low)
      return {0, to == DType::i32 ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::int64_t>::max()};
    return {0, static_cast<std::int64_t>(x.f)};
  }
  if (to == DType::f32) return {static_cast<double>(static_cast<float>(x.i)), 0};
  if (to == DType::f64) return {static_cast<double>(x.i), 0};
  return of_int(to, x.i);
}

}  // namespace

Scalar apply(Op op, DType result, DType operand, const std::vector<Scalar>& x) {
  if (op == Op::WHERE) return x[0].i != 0 ? x[1] : x[2];
  if (op == Op::CAST) return cast(result, operand, x[0]);
  if (is_comparison(op)) {
    const bool f = is_float(operand);
    switch (op) {
      case Op::LT: return of_bool(f ? x[0].f < x[1].f : x[0].i < x[1].i);
      case Op::LE: return of_bool(f ? x[0].f <= x[1].f : x[0].i <= x[1].i);
      case Op::EQ: return of_bool(f ? x[0].f == x[1].f : x[0].i == x[1].i);
      default: return of_bool(f ? x[0].f != x[1].f : x[0].i != x[1].i);
    }
  }
  return is_float(result) ? float_op(op, result, x) : int_op(op, result, x);
}

bool same(DType d, const Scalar& a, const Scalar& b) {
  if (!is_float(d)) return a.i == b.i;
  return (std::isnan(a.f) && std::isnan(b.f)) || std::memcmp(&a.f, &b.f, sizeof a.f) == 0;
}

namespace {

Scalar identity(ReduceKind k, DType d) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::int64_t low = d == DType::i32       ? std::numeric_limits<std::int32_t>::min()
                           : d == DType::boolean ? 0
                                                 : std::numeric_limits<std::int64_t>::min();
  const std::int64_t high = d == DType::i32       ? std::numeric_limits<std::int32_t>::max()
                            : d == DType::boolean ? 1
                                                  : std::numeric_limits<std::int64_t>::max();
  switch (k) {
    case ReduceKind::prod: return {1, 1};
    case ReduceKind::max: return {-inf, low};
    case ReduceKind::min: return {inf, high};
    case ReduceKind::all: return {0, 1};
    default: return {};
  }
}

Scalar combine(ReduceKind k, DType d, const Scalar& a, const Scalar& b) {
  switch (k) {
    case ReduceKind::prod: return apply(Op::MUL, d, d, {a, b});
    case ReduceKind::max: return apply(Op::MAX, d, d, {a, b});
    case ReduceKind::min: return apply(Op::MIN, d, d, {a, b});
    case ReduceKind::any: return of_bool(a.i != 0 || b.i != 0);
    case ReduceKind::all: return of_bool(a.i != 0 && b.i != 0);
    default: return apply(Op::ADD, d, d, {a, b});
  }
}

Scalar arg_extreme(ReduceKind k, DType d, const std::vector<Scalar>& x) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < x.size(); ++i) {
    const bool nan_before = is_float(d) && std::isnan(x[best].f), nan_here = is_float(d) && std::isnan(x[i].f);
    const double a = is_float(d) ? x[best].f : static_cast<double>(x[best].i),
                 b = is_float(d) ? x[i].f : static_cast<double>(x[i].i);
    if (!nan_before && (nan_here || (k == ReduceKind::argmax ? b > a : b < a))) best = i;
  }
  return {0, static_cast<std::int64_t>(best)};
}

Scalar striped(ReduceKind k, DType d, std::vector<Scalar> x) {
  for (bool more = true; more;) {
    std::vector<Scalar> blocks;
    more = x.size() > static_cast<std::size_t>(reduce_block);
    for (std::size_t at = 0; at < std::max<std::size_t>(x.size(), 1); at += static_cast<std::size_t>(reduce_block)) {
      std::vector<Scalar> acc(reduce_stripes, identity(k, d));
      for (std::size_t i = at; i < std::min(x.size(), at + static_cast<std::size_t>(reduce_block)); ++i)
        acc[(i - at) % reduce_stripes] = combine(k, d, acc[(i - at) % reduce_stripes], x[i]);
      for (std::size_t half = reduce_stripes / 2; half > 0; half /= 2)
        for (std::size_t j = 0; j < half; ++j) acc[j] = combine(k, d, acc[j], acc[j + half]);
      blocks.push_back(acc[0]);
    }
    x = blocks;
  }
  return x[0];
}

}  // namespace

Scalar reduce_values(ReduceKind k, ReduceOrder order, DType d, const std::vector<Scalar>& x, const std::vector<Scalar>& y) {
  if (k == ReduceKind::argmax || k == ReduceKind::argmin) return arg_extreme(k, d, x);
  if (order == ReduceOrder::striped) return striped(k, d, x);
  Scalar acc = identity(k, d);
  for (std::size_t i = 0; i < x.size(); ++i)
    acc = k == ReduceKind::fma ? apply(Op::FMA, d, d, {x[i], y[i], acc}) : combine(k, d, acc, x[i]);
  return acc;
}

}  // namespace kiln::compiler::testing
