// Transcendental functions, compared with MPFR on a sample, and their special values.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "compiler/interp/math.h"
#include "compiler/math/expand_math.h"
#include "tests/unit/math_accuracy.h"
#include "tests/unit/math_inputs.h"

namespace {

using namespace kiln::compiler;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class T>
T evaluate(Op op, double x, double y) {
  const T in[] = {static_cast<T>(x), static_cast<T>(y)};
  T out = 0;
  const Operand operands[] = {{reinterpret_cast<const std::byte*>(&in[0]), false},
                              {reinterpret_cast<const std::byte*>(&in[1]), false}};
  MathEvaluator().apply(op, std::is_same_v<T, float> ? DType::f32 : DType::f64, {operands, static_cast<std::size_t>(arity(op))},
                        reinterpret_cast<std::byte*>(&out), 1);
  return out;
}

struct Special {
  Op op;
  double x, y, expected;
};

// C99 Annex F.9. The rows of pow are all of F.9.4.4.
constexpr Special specials[] = {
    {Op::EXP, 0, 0, 1},
    {Op::EXP, -0.0, 0, 1},
    {Op::EXP, inf, 0, inf},
    {Op::EXP, -inf, 0, 0},
    {Op::EXP, nan, 0, nan},
    {Op::EXP2, 0, 0, 1},
    {Op::EXP2, -0.0, 0, 1},
    {Op::EXP2, inf, 0, inf},
    {Op::EXP2, -inf, 0, 0},
    {Op::EXP2, nan, 0, nan},
    {Op::EXP2, 10, 0, 1024},
    {Op::EXP2, -126, 0, 0x1p-126},
    {Op::EXP2, -140, 0, 0x1p-140},
    {Op::EXPM1, 0, 0, 0},
    {Op::EXPM1, -0.0, 0, -0.0},
    {Op::EXPM1, -inf, 0, -1},
    {Op::EXPM1, inf, 0, inf},
    {Op::EXPM1, nan, 0, nan},
    {Op::EXPM1, 0x1p-149, 0, 0x1p-149},
    {Op::EXPM1, -0x1p-149, 0, -0x1p-149},
    {Op::LOG, 1, 0, 0},
    {Op::LOG, 0, 0, -inf},
    {Op::LOG, -0.0, 0, -inf},
    {Op::LOG, -1, 0, nan},
    {Op::LOG, inf, 0, inf},
    {Op::LOG, -inf, 0, nan},
    {Op::LOG, nan, 0, nan},
    {Op::LOG2, 1, 0, 0},
    {Op::LOG2, 0, 0, -inf},
    {Op::LOG2, -0.0, 0, -inf},
    {Op::LOG2, -1, 0, nan},
    {Op::LOG2, inf, 0, inf},
    {Op::LOG2, -inf, 0, nan},
    {Op::LOG2, nan, 0, nan},
    {Op::LOG2, 8, 0, 3},
    {Op::LOG2, 0x1p-149, 0, -149},
    {Op::LOG2, 0x1p-20, 0, -20},
    {Op::LOG1P, 0, 0, 0},
    {Op::LOG1P, -0.0, 0, -0.0},
    {Op::LOG1P, -1, 0, -inf},
    {Op::LOG1P, -2, 0, nan},
    {Op::LOG1P, -inf, 0, nan},
    {Op::LOG1P, inf, 0, inf},
    {Op::LOG1P, nan, 0, nan},
    {Op::LOG1P, 0x1p-149, 0, 0x1p-149},
    {Op::LOG1P, -0x1p-149, 0, -0x1p-149},
    {Op::SIN, 0, 0, 0},
    {Op::SIN, -0.0, 0, -0.0},
    {Op::SIN, inf, 0, nan},
    {Op::SIN, -inf, 0, nan},
    {Op::SIN, nan, 0, nan},
    {Op::COS, 0, 0, 1},
    {Op::COS, -0.0, 0, 1},
    {Op::COS, inf, 0, nan},
    {Op::COS, -inf, 0, nan},
    {Op::COS, nan, 0, nan},
    {Op::TAN, 0, 0, 0},
    {Op::TAN, -0.0, 0, -0.0},
    {Op::TAN, inf, 0, nan},
    {Op::TAN, -inf, 0, nan},
    {Op::TAN, nan, 0, nan},
    {Op::TANH, 0, 0, 0},
    {Op::TANH, -0.0, 0, -0.0},
    {Op::TANH, inf, 0, 1},
    {Op::TANH, -inf, 0, -1},
    {Op::TANH, nan, 0, nan},
    {Op::ERF, 0, 0, 0},
    {Op::ERF, -0.0, 0, -0.0},
    {Op::ERF, inf, 0, 1},
    {Op::ERF, -inf, 0, -1},
    {Op::ERF, nan, 0, nan},
    {Op::SIN, 0x1p-149, 0, 0x1p-149},
    {Op::TAN, -0x1p-149, 0, -0x1p-149},
    {Op::TANH, 0x1p-149, 0, 0x1p-149},
    {Op::RSQRT, 0, 0, inf},
    {Op::RSQRT, -0.0, 0, -inf},
    {Op::RSQRT, inf, 0, 0},
    {Op::RSQRT, -1, 0, nan},
    {Op::RSQRT, nan, 0, nan},
    {Op::RSQRT, 0.25, 0, 2},
    {Op::LOG10, 1, 0, 0},
    {Op::LOG10, 1000, 0, 3},
    {Op::LOG10, 0, 0, -inf},
    {Op::LOG10, -0.0, 0, -inf},
    {Op::LOG10, -1, 0, nan},
    {Op::LOG10, inf, 0, inf},
    {Op::LOG10, -inf, 0, nan},
    {Op::LOG10, nan, 0, nan},
    {Op::CBRT, 0, 0, 0},
    {Op::CBRT, -0.0, 0, -0.0},
    {Op::CBRT, 27, 0, 3},
    {Op::CBRT, -0.125, 0, -0.5},
    {Op::CBRT, -0x1p-147, 0, -0x1p-49},
    {Op::CBRT, inf, 0, inf},
    {Op::CBRT, -inf, 0, -inf},
    {Op::CBRT, nan, 0, nan},
    {Op::SIGMOID, 0, 0, 0.5},
    {Op::SIGMOID, -0.0, 0, 0.5},
    {Op::SIGMOID, inf, 0, 1},
    {Op::SIGMOID, -inf, 0, 0},
    {Op::SIGMOID, nan, 0, nan},
    {Op::ASIN, 0, 0, 0},
    {Op::ASIN, -0.0, 0, -0.0},
    {Op::ASIN, 1, 0, 0x1.921fb54442d18p+0},
    {Op::ASIN, -1, 0, -0x1.921fb54442d18p+0},
    {Op::ASIN, 1.5, 0, nan},
    {Op::ASIN, -inf, 0, nan},
    {Op::ASIN, nan, 0, nan},
    {Op::ASIN, -0x1p-149, 0, -0x1p-149},
    {Op::ACOS, 1, 0, 0},
    {Op::ACOS, 0, 0, 0x1.921fb54442d18p+0},
    {Op::ACOS, -0.0, 0, 0x1.921fb54442d18p+0},
    {Op::ACOS, -1, 0, 0x1.921fb54442d18p+1},
    {Op::ACOS, -1.5, 0, nan},
    {Op::ACOS, inf, 0, nan},
    {Op::ACOS, nan, 0, nan},
    {Op::ATAN, 0, 0, 0},
    {Op::ATAN, -0.0, 0, -0.0},
    {Op::ATAN, inf, 0, 0x1.921fb54442d18p+0},
    {Op::ATAN, -inf, 0, -0x1.921fb54442d18p+0},
    {Op::ATAN, nan, 0, nan},
    {Op::ATAN, 0x1p-149, 0, 0x1p-149},
    {Op::SINH, 0, 0, 0},
    {Op::SINH, -0.0, 0, -0.0},
    {Op::SINH, inf, 0, inf},
    {Op::SINH, -inf, 0, -inf},
    {Op::SINH, nan, 0, nan},
    {Op::SINH, -0x1p-149, 0, -0x1p-149},
    {Op::COSH, 0, 0, 1},
    {Op::COSH, -0.0, 0, 1},
    {Op::COSH, inf, 0, inf},
    {Op::COSH, -inf, 0, inf},
    {Op::COSH, nan, 0, nan},
    {Op::ASINH, 0, 0, 0},
    {Op::ASINH, -0.0, 0, -0.0},
    {Op::ASINH, inf, 0, inf},
    {Op::ASINH, -inf, 0, -inf},
    {Op::ASINH, nan, 0, nan},
    {Op::ASINH, 0x1p-149, 0, 0x1p-149},
    {Op::ACOSH, 1, 0, 0},
    {Op::ACOSH, 0.5, 0, nan},
    {Op::ACOSH, -3, 0, nan},
    {Op::ACOSH, -inf, 0, nan},
    {Op::ACOSH, inf, 0, inf},
    {Op::ACOSH, nan, 0, nan},
    {Op::ATANH, 0, 0, 0},
    {Op::ATANH, -0.0, 0, -0.0},
    {Op::ATANH, 1, 0, inf},
    {Op::ATANH, -1, 0, -inf},
    {Op::ATANH, 2, 0, nan},
    {Op::ATANH, -inf, 0, nan},
    {Op::ATANH, nan, 0, nan},
    {Op::ATANH, -0x1p-149, 0, -0x1p-149},
    {Op::ATAN2, 0, -0.0, 0x1.921fb54442d18p+1},
    {Op::ATAN2, -0.0, -0.0, -0x1.921fb54442d18p+1},
    {Op::ATAN2, 0, 0, 0},
    {Op::ATAN2, -0.0, 0, -0.0},
    {Op::ATAN2, 0, -1, 0x1.921fb54442d18p+1},
    {Op::ATAN2, -0.0, -1, -0x1.921fb54442d18p+1},
    {Op::ATAN2, 0, 1, 0},
    {Op::ATAN2, -0.0, 1, -0.0},
    {Op::ATAN2, -1, 0, -0x1.921fb54442d18p+0},
    {Op::ATAN2, -1, -0.0, -0x1.921fb54442d18p+0},
    {Op::ATAN2, 1, 0, 0x1.921fb54442d18p+0},
    {Op::ATAN2, 1, -0.0, 0x1.921fb54442d18p+0},
    {Op::ATAN2, 1, -inf, 0x1.921fb54442d18p+1},
    {Op::ATAN2, -1, -inf, -0x1.921fb54442d18p+1},
    {Op::ATAN2, 1, inf, 0},
    {Op::ATAN2, -1, inf, -0.0},
    {Op::ATAN2, inf, 3, 0x1.921fb54442d18p+0},
    {Op::ATAN2, -inf, 3, -0x1.921fb54442d18p+0},
    {Op::ATAN2, inf, -inf, 0x1.2d97c7f3321d2p+1},
    {Op::ATAN2, -inf, -inf, -0x1.2d97c7f3321d2p+1},
    {Op::ATAN2, inf, inf, 0x1.921fb54442d18p-1},
    {Op::ATAN2, -inf, inf, -0x1.921fb54442d18p-1},
    {Op::ATAN2, nan, inf, nan},
    {Op::ATAN2, inf, nan, nan},
    {Op::ATAN2, nan, 1, nan},
    {Op::ATAN2, 1, nan, nan},
    {Op::FMOD, 0, 3, 0},
    {Op::FMOD, -0.0, 3, -0.0},
    {Op::FMOD, inf, 3, nan},
    {Op::FMOD, -inf, 3, nan},
    {Op::FMOD, 3, 0, nan},
    {Op::FMOD, 3, -0.0, nan},
    {Op::FMOD, inf, 0, nan},
    {Op::FMOD, 3, inf, 3},
    {Op::FMOD, -3, -inf, -3},
    {Op::FMOD, nan, 3, nan},
    {Op::FMOD, 3, nan, nan},
    {Op::FMOD, inf, inf, nan},
    {Op::FMOD, 5, 3, 2},
    {Op::FMOD, -5, 3, -2},
    {Op::FMOD, 5, -3, 2},
    {Op::FMOD, -6, 3, -0.0},
    {Op::FMOD, 0x1p-149, 0x1p-148, 0x1p-149},
    {Op::FMOD, 0x1p120, 3, 1},
    {Op::FMOD, 0x1.8p127, 0x1p-149, 0},
    {Op::FMOD, -0x1p100, 0x1.8p-148, -0x1p-148},
    {Op::POW, 0, -3, inf},
    {Op::POW, -0.0, -3, -inf},
    {Op::POW, 0, -2, inf},
    {Op::POW, -0.0, -2, inf},
    {Op::POW, -0.0, -2.5, inf},
    {Op::POW, 0, -inf, inf},
    {Op::POW, -0.0, -inf, inf},
    {Op::POW, 0, 3, 0},
    {Op::POW, -0.0, 3, -0.0},
    {Op::POW, -0.0, 2, 0},
    {Op::POW, -0.0, 2.5, 0},
    {Op::POW, -1, inf, 1},
    {Op::POW, -1, -inf, 1},
    {Op::POW, 1, nan, 1},
    {Op::POW, 1, inf, 1},
    {Op::POW, nan, 0, 1},
    {Op::POW, nan, -0.0, 1},
    {Op::POW, inf, 0, 1},
    {Op::POW, 0, 0, 1},
    {Op::POW, -2, 0.5, nan},
    {Op::POW, -2, 1.5, nan},
    {Op::POW, 0.5, -inf, inf},
    {Op::POW, -0.5, -inf, inf},
    {Op::POW, 2, -inf, 0},
    {Op::POW, -2, -inf, 0},
    {Op::POW, 0.5, inf, 0},
    {Op::POW, -0.5, inf, 0},
    {Op::POW, 2, inf, inf},
    {Op::POW, -2, inf, inf},
    {Op::POW, -inf, -3, -0.0},
    {Op::POW, -inf, -2, 0},
    {Op::POW, -inf, -2.5, 0},
    {Op::POW, -inf, 3, -inf},
    {Op::POW, -inf, 2, inf},
    {Op::POW, -inf, 2.5, inf},
    {Op::POW, inf, -1, 0},
    {Op::POW, inf, 1, inf},
    {Op::POW, nan, 1, nan},
    {Op::POW, 2, nan, nan},
    {Op::POW, -2, 3, -8},
    {Op::POW, -2, -3, -0.125},
    {Op::POW, -2, 2, 4},
    {Op::POW, 10, 2, 100},
    {Op::POW, inf, nan, nan},
    {Op::POW, -1, 0x1p24, 1},
    {Op::POW, -1, 16777215, -1},
    {Op::POW, 3, 5, 243},
};

template <class T>
void check_specials() {
  for (const Special& s : specials) {
    const T expected = static_cast<T>(s.expected), got = evaluate<T>(s.op, s.x, s.y);
    const bool same = std::isnan(expected) ? std::isnan(got) : got == expected && std::signbit(got) == std::signbit(expected);
    EXPECT_TRUE(same) << name(s.op) << "(" << s.x << ", " << s.y << ") = " << got << ", expected " << s.expected;
  }
}

TEST(Math, SpecialValuesF32) { check_specials<float>(); }
TEST(Math, SpecialValuesF64) { check_specials<double>(); }

// The largest error that docs/reference/accuracy.md promises.
double promised(Op op, DType d) {
  if (op == Op::FMOD) return 0;
  if (d == DType::f64) return 2;
  return op == Op::RSQRT ? 1.5 : 1;
}

void check_accuracy(DType d) {
  for (Op op : kiln::tests::transcendentals()) {
    const auto a = kiln::tests::measure(op, d, 100000, 2);
    EXPECT_LE(a.ulp, promised(op, d)) << name(op) << " " << name(d) << " at " << std::hexfloat << a.x << ", " << a.y << ": "
                                      << a.got;
    EXPECT_EQ(a.wrong_specials, 0u) << name(op) << " " << name(d) << " at " << std::hexfloat << a.special_x << ", "
                                    << a.special_y << ": " << a.special_got;
  }
}

TEST(Math, AccuracyF32) { check_accuracy(DType::f32); }
TEST(Math, AccuracyF64) { check_accuracy(DType::f64); }

// decompose_math moves a minus out of these functions.
template <class T>
void check_symmetry(DType d) {
  constexpr std::size_t n = 50000;
  for (Op op : kiln::tests::transcendentals()) {
    if (symmetry(op) == Symmetry::none) continue;
    std::vector<T> x(n), minus(n), y(n), other(n);
    for (std::size_t i = 0; i < n; ++i) minus[i] = -(x[i] = kiln::tests::unary_input<T>(op, i));
    const auto apply = [&](const std::vector<T>& from, std::vector<T>& to) {
      const Operand in{reinterpret_cast<const std::byte*>(from.data()), false};
      MathEvaluator().apply(op, d, {&in, 1}, reinterpret_cast<std::byte*>(to.data()), n);
    };
    apply(x, y);
    apply(minus, other);
    for (std::size_t i = 0; i < n; ++i) {
      const T expected = symmetry(op) == Symmetry::odd ? -y[i] : y[i];
      ASSERT_TRUE((expected == other[i] && std::signbit(expected) == std::signbit(other[i])) ||
                  (std::isnan(expected) && std::isnan(other[i])))
          << name(op) << " " << name(d) << " at " << std::hexfloat << x[i] << ": " << y[i] << ", of the negative " << other[i];
    }
  }
}
TEST(Math, OddAndEvenFunctions) {
  check_symmetry<float>(DType::f32);
  check_symmetry<double>(DType::f64);
}

// f16 and bf16 compute in f32 and round once, so the error is at most half a unit plus the error of f32.
TEST(Math, NarrowTypesRoundTheF32Result) {
  for (DType d : {DType::f16, DType::bf16})
    for (Op op : {Op::EXP, Op::LOG, Op::SIN, Op::TANH, Op::ERF, Op::RSQRT, Op::ASIN, Op::CBRT}) {
      std::vector<std::uint16_t> x(65536), got(65536), expected(65536);
      std::vector<float> wide(65536), result(65536);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint16_t>(i);
      const auto operand = [](const auto& v) { return Operand{reinterpret_cast<const std::byte*>(v.data()), false}; };
      const auto bytes_of = [](auto& v) { return reinterpret_cast<std::byte*>(v.data()); };
      const Operand in = operand(x), w = operand(wide), r = operand(result);
      MathEvaluator m;
      m.apply(op, d, {&in, 1}, bytes_of(got), x.size());
      apply_elementwise(Op::CAST, DType::f32, d, {&in, 1}, bytes_of(wide), x.size());
      m.apply(op, DType::f32, {&w, 1}, bytes_of(result), x.size());
      apply_elementwise(Op::CAST, d, DType::f32, {&r, 1}, bytes_of(expected), x.size());
      EXPECT_EQ(got, expected) << name(op) << " " << name(d);
    }
}

// Every node of an expansion exists on every target: no transcendental operation, no load, one lane, no effect.
TEST(Math, ExpansionsUseBasicOperationsOnly) {
  for (DType d : {DType::f32, DType::f64})
    for (Op op : kiln::tests::transcendentals()) {
      Graph g;
      std::vector<Id> x;
      for (int i = 0; i < arity(op); ++i) x.push_back(g.make(Op::PARAM, d, {}, {i}));
      const Id roots[] = {expand_math(g, op, d, x)};
      EXPECT_EQ(g.dtype(roots[0]), d);
      for (Id id : g.reachable(roots)) {
        if (g.op(id) == Op::PARAM || g.op(id) == Op::CONST) continue;
        EXPECT_TRUE(is_elementwise(g.op(id)) && levels(g.op(id)).find('P') != std::string_view::npos)
            << name(op) << " contains " << name(g.op(id));
        EXPECT_EQ(g.lanes(id), 1);
      }
    }
}

}  // namespace
