// The table of partial derivatives: against differences, in every type, and as a page.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "compiler/autodiff/partials.h"
#include "compiler/autodiff/rules.h"
#include "compiler/ir/text.h"
#include "tests/grad/expression_text.h"
#include "tests/unit/interp_harness.h"

namespace kiln::compiler::testing {
namespace {

using Values = std::vector<double>;

struct Interval {
  double low, high;
};
// Where the derivative by each operand is tested: away from kinks and poles. small: for f32, f16 and bf16, where a partial
// derivative such as 1 - y * y does not cancel.
struct Case {
  Op op;
  std::vector<Interval> operands, small;
};

std::vector<Case> cases() {
  const Interval any{-2, 2}, positive{0.3, 3}, right{0.1, 2}, below{-3, -2.1};
  return {{Op::NEG, {any}, {}},
          {Op::ABS, {right}, {}},
          {Op::ABS, {below}, {}},
          {Op::SQRT, {positive}, {}},
          {Op::RSQRT, {positive}, {}},
          {Op::EXP, {any}, {}},
          {Op::EXP2, {any}, {}},
          {Op::EXPM1, {any}, {right}},
          {Op::LOG, {positive}, {}},
          {Op::LOG2, {positive}, {}},
          {Op::LOG1P, {{-0.5, 3}}, {{0, 3}}},
          {Op::LOG10, {positive}, {}},
          {Op::CBRT, {positive}, {}},
          {Op::CBRT, {below}, {}},
          {Op::SIGMOID, {any}, {{-2, 0.5}}},
          {Op::ASIN, {{-0.8, 0.8}}, {{-0.6, 0.6}}},
          {Op::ACOS, {{-0.8, 0.8}}, {{-0.6, 0.6}}},
          {Op::ATAN, {any}, {}},
          {Op::SINH, {any}, {}},
          {Op::COSH, {any}, {right}},
          {Op::ASINH, {any}, {}},
          {Op::ACOSH, {{1.2, 3}}, {{1.5, 3}}},
          {Op::ATANH, {{-0.8, 0.8}}, {{-0.5, 0.5}}},
          {Op::ATAN2, {any, positive}, {}},
          {Op::ATAN2, {positive, any}, {}},
          {Op::FMOD, {{6.1, 6.9}, {2.6, 3}}, {}},
          {Op::SIN, {any}, {{-1.2, 1.2}}},
          {Op::COS, {any}, {{0.3, 2}}},
          {Op::TAN, {{-1.2, 1.2}}, {}},
          {Op::TANH, {any}, {{-0.7, 0.7}}},
          {Op::ERF, {any}, {{-0.9, 0.9}}},
          {Op::ADD, {any, any}, {}},
          {Op::SUB, {any, any}, {}},
          {Op::MUL, {any, any}, {}},
          {Op::FDIV, {any, positive}, {}},
          {Op::FDIV, {any, below}, {}},
          {Op::POW, {positive, any}, {{1.5, 3}, {0.5, 1.5}}},
          {Op::MIN, {any, below}, {}},
          {Op::MIN, {below, any}, {}},
          {Op::MAX, {any, below}, {}},
          {Op::MAX, {below, any}, {}},
          {Op::FMA, {any, any, any}, {}}};
}

// Values of the expression and of the product of c and its derivatives, computed in type d from operands rounded to d.
struct Result {
  Values y;
  std::vector<Values> gradients;
};
Result evaluate(Op op, DType d, const std::vector<Values>& x, const Values& c, bool rounded_to_d = true,
                DType in = DType::f64) {
  std::ostringstream t;
  const std::string n = std::to_string(c.size()), type(name(d));
  const std::size_t m = x.size();
  t << "program t\n";
  for (std::size_t i = 0; i <= m; ++i) t << "in f64 [" << n << "] x" << i << "\n";
  for (std::size_t i = 0; i <= m; ++i) t << "out f64 [" << n << "] o" << i << "\n";
  int next = 0;
  std::vector<int> operand;
  for (std::size_t i = 0; i <= m; ++i) {
    t << "%" << next << " = param x" << i << "\n";
    t << "%" << next + 1 << " = cast " << name(in) << " %" << next << "\n";
    t << "%" << next + 2 << " = cast " << type << " %" << next + (rounded_to_d ? 0 : 1) << "\n";
    operand.push_back(next + 2);
    next += 3;
  }
  const int y = next++;
  t << "%" << y << " = " << name(op);
  for (std::size_t i = 0; i < m; ++i) t << (i == 0 ? " %" : ", %") << operand[i];
  t << "\n";
  for (std::size_t i = 0; i <= m; ++i) {
    int value = y;
    if (i > 0) {
      value = next++;
      t << "%" << value << " = gradient %" << y << ", %" << operand[m] << ", %" << operand[i - 1] << "\n";
    }
    t << "%" << next << " = cast f64 %" << value << "\nstore o" << i << ", %" << next << "\n";
    ++next;
  }
  std::vector<Array> arguments;
  const auto count = static_cast<std::int64_t>(c.size());
  for (const Values& v : x) arguments.push_back(array<double>({count}, v));
  arguments.push_back(array<double>({count}, c));
  for (std::size_t i = 0; i <= m; ++i) arguments.push_back(Array::zeros(DType::f64, {count}));
  const std::vector<Array> out = run_text(t.str(), arguments);
  Result r{values<double>(out[m + 1]), {}};
  for (std::size_t i = 0; i < m; ++i) r.gradients.push_back(values<double>(out[m + 2 + i]));
  return r;
}

std::vector<Values> points(const std::vector<Interval>& where, std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<Values> out;
  for (const Interval& in : where) {
    Values& v = out.emplace_back();
    for (std::size_t k = 0; k < n; ++k)
      v.push_back(in.low + (in.high - in.low) * static_cast<double>(random() >> 11) / 9007199254740992.0);
  }
  return out;
}

constexpr std::size_t samples = 200;

}  // namespace

TEST(Grad, TableAgainstDifferences) {
  for (const Case& c : cases()) {
    const std::vector<Values> x = points(c.operands, samples, 1);
    const Values ones(samples, 1);
    const Result r = evaluate(c.op, DType::f64, x, ones);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double weights[] = {-1.0 / 60, 9.0 / 60, -45.0 / 60, 45.0 / 60, -9.0 / 60, 1.0 / 60};
      const int steps[] = {-3, -2, -1, 1, 2, 3};
      Values difference(samples, 0);
      for (int k = 0; k < 6; ++k) {
        std::vector<Values> moved = x;
        for (std::size_t p = 0; p < samples; ++p) moved[i][p] += steps[k] * 1e-3 * std::max(1.0, std::abs(x[i][p]));
        const Result at = evaluate(c.op, DType::f64, moved, ones);
        for (std::size_t p = 0; p < samples; ++p)
          difference[p] += weights[k] * at.y[p] / (1e-3 * std::max(1.0, std::abs(x[i][p])));
      }
      for (std::size_t p = 0; p < samples; ++p)
        ASSERT_NEAR(r.gradients[i][p], difference[p], 1e-8 * std::max(1.0, std::abs(difference[p])))
            << name(c.op) << " by operand " << i << " at " << x[i][p];
    }
  }
}

TEST(Grad, TableOfSmallTypes) {
  struct Type {
    DType d;
    int digits, units;
  };
  for (const Type type : {Type{DType::f32, 24, 4}, Type{DType::f16, 11, 2}, Type{DType::bf16, 8, 2}})
    for (const Case& c : cases()) {
      const std::vector<Values> x = points(c.small.empty() ? c.operands : c.small, samples, 2);
      const Values cotangent = points({{0.5, 2}}, samples, 3)[0];
      const Result r = evaluate(c.op, type.d, x, cotangent), exact = evaluate(c.op, DType::f64, x, cotangent, false, type.d);
      for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t p = 0; p < samples; ++p) {
          const double e = exact.gradients[i][p];
          const double unit = std::ldexp(1.0, std::max(std::ilogb(e == 0 ? 1.0 : e), -14) - type.digits + 1);
          ASSERT_NEAR(r.gradients[i][p], e, type.units * unit)
              << name(type.d) << " " << name(c.op) << " by " << i << " at " << x[i][p];
        }
    }
}

// An operation of the tensor level has a derivative that a test compares, or is in one of these lists.
TEST(Grad, EveryOperationHasARule) {
  const std::set<Op> leaves{Op::CONST, Op::SYM,   Op::PARAM, Op::IOTA,     Op::INVALID,
                            Op::RANGE, Op::STORE, Op::SINK,  Op::COTANGENT};
  const std::set<Op> flat{Op::NOT,      Op::SIGN,     Op::FLOOR,    Op::CEIL, Op::ROUND, Op::TRUNC, Op::CDIV,
                          Op::CMOD,     Op::FLOORDIV, Op::FLOORMOD, Op::AND,  Op::OR,    Op::XOR,   Op::SHL,
                          Op::POPCOUNT, Op::CLZ,      Op::SHR,      Op::LT,   Op::LE,    Op::EQ,    Op::NE};
  const std::set<Op> refused{Op::BITCAST, Op::KERNEL, Op::FOR, Op::CARRY, Op::GET, Op::LOCAL, Op::ATOMIC, Op::OLD};
  const std::set<Op> derivatives{Op::GRADIENT, Op::TANGENT, Op::LAPLACIAN};
  std::set<Op> tested{Op::CAST,  Op::WHERE,   Op::RESHAPE,  Op::EXPAND, Op::PERMUTE, Op::SLICE, Op::PAD,
                      Op::SHEAR, Op::UNSHEAR, Op::CONCAT,   Op::GATHER, Op::REDUCE,  Op::STAGE, Op::SCAN,
                      Op::INDEX, Op::UPDATE,  Op::STRAIGHT, Op::MARK,   Op::CUSTOM};
  for (const Case& c : cases()) tested.insert(c.op);
  for (std::size_t i = 0; i < op_count; ++i) {
    const Op op = static_cast<Op>(i);
    if (levels(op).find('T') == std::string_view::npos) continue;
    const int lists = static_cast<int>(leaves.contains(op)) + static_cast<int>(flat.contains(op)) +
                      static_cast<int>(refused.contains(op)) + static_cast<int>(derivatives.contains(op)) +
                      static_cast<int>(tested.contains(op));
    EXPECT_EQ(lists, 1) << name(op);
    if (!is_elementwise(op) || op == Op::BITCAST) continue;
    EXPECT_EQ(autodiff::derivative_operands(op) == 0, flat.contains(op)) << name(op);
  }
}

// docs/reference/derivatives.md has the table as the compiler makes it.
TEST(Grad, PageOfTheTable) {
  std::string table = "| operation | t times its derivative by a | by b | by c |\n| --- | --- | --- | --- |\n";
  for (std::size_t k = 0; k < op_count; ++k) {
    const Op op = static_cast<Op>(k);
    if (!is_elementwise(op) || autodiff::derivative_operands(op) == 0 || op == Op::BITCAST) continue;
    Graph g;
    autodiff::Emit e(g);
    std::vector<Id> x;
    const auto parameter = [&](int slot, const char* name, DType d) {
      return e.b.param(slot, Parameter{name, Direction::in, d, {}, {}});
    };
    const char* names[] = {"a", "b", "c"};
    for (int i = 0; i < arity(op); ++i)
      x.push_back(parameter(i, op == Op::WHERE ? std::array{"c", "a", "b"}[static_cast<std::size_t>(i)] : names[i],
                            op == Op::WHERE && i == 0 ? DType::boolean : DType::f64));
    const Id t = parameter(3, "t", op == Op::CAST ? DType::f32 : DType::f64);
    const Id y = e.b.elementwise(op, x, op == Op::CAST ? DType::f32 : DType::none);
    table += "| `" + expression_text(g, y, no_id) + "` |";
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t operand = op == Op::WHERE ? (i + 1) % 3 : i;
      const bool has = (autodiff::derivative_operands(op) >> operand & 1U) != 0 && operand < x.size();
      table += has ? " `" + expression_text(g, autodiff::times_partial(e, y, operand, t, true), y) + "` |" : " |";
    }
    table += "\n";
  }
  const std::string path = KILN_DOCS "/reference/derivatives.md";
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  const std::string page = text.str(), begin = "<!-- table -->\n", end = "<!-- end of the table -->\n";
  const std::size_t from = page.find(begin), to = page.find(end);
  ASSERT_TRUE(from != std::string::npos && to != std::string::npos);
  const std::string made = page.substr(0, from + begin.size()) + table + page.substr(to);
  if (std::getenv("KILN_UPDATE_GOLDEN") != nullptr)
    std::ofstream(path, std::ios::binary) << made;
  else
    EXPECT_EQ(page, made);
}

}  // namespace kiln::compiler::testing
