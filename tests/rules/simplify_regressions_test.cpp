// Mistakes that the campaign of random expressions found.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "compiler/ir/builder.h"
#include "compiler/symbolic/simplify.h"
#include "generator/tools/simplify_lines.h"

namespace {

std::string simplified(const std::string& vars, const std::string& expr, const std::string& assume = "[]") {
  const std::string line = R"({"vars": )" + vars + R"(, "expr": ")" + expr + R"(", "assume": )" + assume + "}";
  return nlohmann::json::parse(kiln::generator::simplify_line(line, {})).value("expr", "error");
}

// Contradictory facts (a loop that never runs) prove a divisor negative, and its negation too.
TEST(SimplifyRegressions, ContradictoryFactsSettle) {
  EXPECT_NE(simplified(R"({"r": [0, 9], "n": [2, 3]})", "r // (n - 4)", R"(["r < n - 4"])"), "error");
  EXPECT_NE(simplified(R"({"r": [0, 9], "n": [2, 3]})", "r % (n - 4)", R"(["r < n - 4"])"), "error");
}

// 1 << k was rewritten to 1 * (1 << k), which is the same node.
TEST(SimplifyRegressions, ShiftsByAValueSettle) {
  EXPECT_EQ(simplified(R"({"k": [0, 7]})", "1 << k"), "1 << k");
  EXPECT_EQ(simplified(R"({"k": [0, 7], "x": [-5, 5]})", "x >> k"), "x >> k");
}

// A value known to be beyond 2^62 counted as no value after its residue narrowed the interval.
TEST(SimplifyRegressions, ResiduesBeyondTheIntervalsEnd) {
  EXPECT_EQ(simplified(R"({"r": [0, 5]})", "4611686018427387903 < (r + 17592186044416) * 68719476735"), "True");
  EXPECT_EQ(simplified(R"({"r": [0, 5]})", "(r + 17592186044416) * 68719476735 < 4611686018427387903"), "False");
}

TEST(SimplifyRegressions, BitsBeyondTheIntervalsEnd) {
  EXPECT_EQ(simplified(R"({"b": [0, 1000]})", "0 < b ^ 4611686018427387905"), "True");
  EXPECT_EQ(simplified(R"({"b": [0, 1000]})", "0 < -(b ^ 4611686018427387905)"), "False");
}

// Two ends that both mean "unbounded" counted as ordered.
TEST(SimplifyRegressions, UnboundedEndsAreInNoOrder) {
  const char* vars = R"({"b": [-576460752303423488, -576460752034988032], "m": [1, 4]})";
  EXPECT_NE(simplified(vars, "12 * b <= m * -3458764513820540928"), "True");
  EXPECT_NE(simplified(vars, "m * 3458764513820540928 < -12 * b"), "False");
}

// The least integer has no negation.
TEST(SimplifyRegressions, CoefficientsWithoutANegation) {
  EXPECT_NE(simplified(R"({"x": [-9, 9], "y": [0, 9]})", "x * -9223372036854775808 != y"), "error");
  EXPECT_NE(simplified(R"({"x": [-9, 9], "y": [0, 9]})", "y // (x * -9223372036854775808)"), "error");
}

// A sum that overflows 64 bits stays, but its parts are simplified.
TEST(SimplifyRegressions, PartsOfOverflowingSums) {
  const char* vars = R"({"x": [0, 8], "n": [0, 8], "m": [1, 9]})";
  EXPECT_EQ(simplified(vars, "(x + (n << 35)) * (1 % -68719476736)").find('%'), std::string::npos);
  EXPECT_EQ(simplified(vars, "m - 0 * 17179869183 * 70368744177663"), "m");
  EXPECT_EQ(simplified(vars, "1 + (2 << 61)"), "4611686018427387905");
}

// The difference of a constant near the greatest integer and a negative residue overflowed.
TEST(SimplifyRegressions, ResiduesOfGreatConstants) {
  const std::string s = simplified(R"({"x": [0, 3]})", "(x + 9223372036854775801) // -16");
  EXPECT_TRUE(s == "-576460752303423488" || s == "(x + 9223372036854775801) // -16") << s;
}

// Both operands are beyond the ends of intervals. Their quotient counted as at least 1.
TEST(SimplifyRegressions, QuotientsOfUnboundedValues) {
  EXPECT_NE(simplified("{}", "140737488355329 * -562949953421311 // (-1152921504606846976 * 2305843009213693951) >= 1"),
            "True");
}

// x stayed in a product that overflows with x's only value, and was replaced when the result was simplified again.
TEST(SimplifyRegressions, OnlyValuesInOverflowingProducts) {
  const char* vars = R"({"x": [14, 14], "y": [0, 6]})";
  const std::string once = simplified(vars, "y * (x * -4611686018427387903)");
  EXPECT_EQ(once.find('x'), std::string::npos) << once;
  EXPECT_EQ(simplified(vars, once), once);
}

// Bits from the 65th on counted as zero.
TEST(SimplifyRegressions, BitsOfValuesBeyond64) {
  EXPECT_NE(simplified("{}", "(8 << 60 & -4611686018427387905) > 4611686018427387903"), "False");
  EXPECT_NE(simplified(R"({"b": [1, 100]})", "(b << 61 & -4611686018427387905) <= 2305843009213693952"), "True");
  EXPECT_NE(simplified(R"({"a": [-9, -2]})", "(a << 60 | 4611686018427387905) >= -4611686018427387903"), "True");
}

// Simplification of an index that comes out of a loop also changed the loop, which other nodes use: two loops had one range.
TEST(SimplifyRegressions, LoopsBelowAnIndexStay) {
  using namespace kiln::compiler;
  Graph g;
  Builder b(g);
  const Id range = b.range(g.index(8), 0), zero = g.constant(DType::i32, 0), iteration = b.carry(range, zero, 0);
  const Id at = g.make(Op::FLOORMOD, DType::index, {g.make(Op::ADD, DType::index, {range, g.index(0)}), g.index(8)});
  const Id yield[] = {b.elementwise(Op::ADD, {iteration, g.make(Op::CAST, DType::i32, {at})})}, init[] = {zero};
  const Id result = b.get(b.loop(range, g.index(0), g.index(8), init, yield), 0);
  const Id index = g.make(Op::ADD, DType::index, {b.index_of(result), g.index(0)});
  Simplifier simplify(g, {});
  EXPECT_EQ(simplify(index), b.index_of(result));
}

// A read of an empty tensor at a constant index lost its gate (found by random programs).
TEST(SimplifyRegressions, GatedConstantKeepsItsGate) {
  using namespace kiln::compiler;
  Graph g;
  const Id n = g.sym("N"), zero = g.index(0), invalid = g.make(Op::INVALID, DType::index, {});
  const Id first = g.make(Op::FLOORMOD, DType::index, {zero, n}), gate = g.make(Op::LT, DType::boolean, {zero, n});
  const Id simple = simplify(g, g.make(Op::WHERE, DType::index, {gate, first, invalid}), Facts{});
  EXPECT_EQ(simple, g.make(Op::WHERE, DType::index, {gate, zero, invalid}));
}

// Sums that overflow only before their leaves are simplified.
TEST(SimplifyRegressions, SettlesAtOnce) {
  EXPECT_EQ(simplified("{}", "(4194303 + min(-4611686018427387904, 0)) * 2"), "-9223372036846387202");
  EXPECT_EQ(simplified(R"({"r": [0, 2]})", "(1 + (-4 + r << 10)) * -1125899906842624 * -2"),
            simplified(R"({"r": [0, 2]})", "(1 + (r * 1024 - 4096)) * -1125899906842624 * -2"));
}

// A condition's facts were not used in the conditions next to it.
TEST(SimplifyRegressions, ConditionsBesideEachOther) {
  const char* g = R"({"g": [0, 1000], "h": [0, 1000], "a": [0, 9], "b": [0, 9]})";
  EXPECT_EQ(simplified(g, "(g + 11) % 14 < 11 and g < 3"), "False");
  EXPECT_EQ(simplified(g, "g < 3 and (g + 11) % 14 < 12"), "g < 1");
  EXPECT_EQ(simplified(g, "where(g < 3, where((g + 11) % 14 < 11, a, b), b)"), "b");
  EXPECT_EQ(simplified(g, "where(g < 3, where((g + 11) % 14 < 11, a, b), 5)"), "where(g < 3, b, 5)");
  EXPECT_EQ(simplified(g, "where((g + 11) % 14 < 11, where(g < 3, a, b), b)"), "b");
  EXPECT_EQ(simplified(g, "g < 3 or g // 3 < 1 or 2 < min(g, 5)"), "True");
  EXPECT_EQ(simplified(g, "h < 7 and g < h and g // 7 < 1"), "g < h and h < 7");
  EXPECT_EQ(simplified(g, "3 <= g and g < 14 and (g + 11) % 14 < 11"), "g < 14 and 2 < g");
}

TEST(SimplifyRegressions, ChoicesUnderAMaximum) {
  const char* vars = R"({"c": [0, 9], "a": [2, 9], "b": [0, 5]})";
  EXPECT_EQ(simplified(vars, "max(where(c < 5, a, 0), where(c < 5, b, 1))"), "where(c < 5, max(b, a), 1)");
  EXPECT_EQ(simplified(vars, "min(where(c < 5, a, 0), where(c < 5, b, 1))"), "where(c < 5, min(b, a), 0)");
}

// A constant is alone on its side, which saves one operator.
TEST(SimplifyRegressions, NegativeLimits) {
  const char* vars = R"({"idx": [-100, 100], "y": [-9, 9]})";
  EXPECT_EQ(simplified(vars, "idx // 4 < -1"), "idx < -4");
  EXPECT_EQ(simplified(vars, "-2 <= idx // 4"), "-9 < idx");
  EXPECT_EQ(simplified(vars, "idx + 4 == 0"), "idx == -4");
  EXPECT_EQ(simplified(vars, "idx + y + 4 < 0"), "idx + y < -4");
  EXPECT_EQ(simplified(vars, "idx + 4 < y"), "idx + 4 < y");
}

// Some terms have a common divisor; the residues of the other terms do not matter.
TEST(SimplifyRegressions, CommonDivisorAndARest) {
  const auto with = [](const char* b, const char* c, const char* k) {
    return simplified(std::string(R"({"a": [0, 8], "b": )") + b + R"(, "c": )" + c + R"(, "k": )" + k + "}",
                      "(160*a + 5*b + 4*c + k) // 60");
  };
  EXPECT_EQ(with("[0, 11]", "[0, 1]", "[1, 4]"), "a * 2 + (a * 8 + b + c) // 12");
  EXPECT_EQ(with("[0, 8]", "[0, 3]", "[3, 4]"), "a * 2 + (a * 8 + b + c) // 12");
  EXPECT_EQ(with("[0, 1]", "[0, 2]", "[0, 3]"), "a * 2 + a * 2 // 3");
}

// Quotients with a single value that intervals do not show.
TEST(SimplifyRegressions, QuotientsKnownConstant) {
  const char* vars = R"({"n": [1, 1000], "r": [0, 999]})";
  EXPECT_EQ(simplified(vars, "(3 * n - 1) // (2 * n)"), "1");
  EXPECT_EQ(simplified(vars, "(n - 1 - r) // n", R"(["r < n"])"), "0");
  EXPECT_EQ(simplified(vars, "(2 * n + r) // n", R"(["r < n"])"), "2");
  EXPECT_EQ(simplified(vars, "(n + 3) // (n + 4)"), "0");
  EXPECT_EQ(simplified(vars, "(-r - 1) // n", R"(["r < n"])"), "-1");
}

}  // namespace
