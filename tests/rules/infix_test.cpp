// Index expressions as text: precedence, chained comparisons, conditions as integers, depth, and errors.
#include <gtest/gtest.h>

#include "compiler/ir/diagnostic.h"
#include "compiler/symbolic/infix.h"

namespace {

using namespace kiln::compiler;

Id parse(Graph& g, const std::string& text) {
  return parse_infix(g, text, [&](std::string_view name, bool condition) {
    if (name.size() != 1) return no_id;
    return condition ? g.make(Op::NE, DType::boolean, {g.sym(name), g.index(0)}) : g.sym(name);
  });
}
std::string round_trip(const std::string& text) {
  Graph g;
  const Id id = parse(g, text);
  const std::string written = write_infix(g, id);
  EXPECT_EQ(parse(g, written), id) << written;
  return written;
}
std::string refused(const std::string& text) {
  Graph g;
  try {
    parse(g, text);
  } catch (const Diagnostic& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Infix, KeepsPythonsPrecedence) {
  for (const char* same : {"a + b * c",
                           "(a + b) * c",
                           "a - (b - c)",
                           "a // b % c",
                           "a // (b % c)",
                           "-a * b",
                           "-(a * b)",
                           "a << 2 + b",
                           "(a << 2) + b",
                           "a & b | c ^ d",
                           "a & (b | c)",
                           "a < b and c < d or not a == b",
                           "not (a < b or c < d)",
                           "(a < b) ^ (c < d)",
                           "min(a, max(b, 3))",
                           "where(a < b, a, b + 1)",
                           "cdiv(a, 4) + cmod(a, 4)",
                           "abs(a)",
                           "(a + b) // (c + d)",
                           "a % -4",
                           "(a < b and b < c) ^ (c != d)"})
    EXPECT_EQ(round_trip(same), same);
}

TEST(Infix, WritesOneSpelling) {
  EXPECT_EQ(round_trip("a > b"), "b < a");
  EXPECT_EQ(round_trip("a >= b"), "b <= a");
  EXPECT_EQ(round_trip("((a))"), "a");
  EXPECT_EQ(round_trip("min(a, b, c)"), "min(min(a, b), c)");
  EXPECT_EQ(round_trip("(a < b) != (c < d)"), "(a < b) ^ (c < d)");
  EXPECT_EQ(round_trip("+a"), "a");
}

TEST(Infix, ComparisonsChain) { EXPECT_EQ(round_trip("a < b <= c != 4"), "a < b and b <= c and c != 4"); }

TEST(Infix, ConditionsCountAsIntegers) {
  EXPECT_EQ(round_trip("(a < b) + 1"), "where(a < b, 1, 0) + 1");
  EXPECT_EQ(round_trip("(a < b) < c"), "where(a < b, 1, 0) < c");
}

TEST(Infix, NamesOfConditionsAreKnownByUse) { EXPECT_EQ(round_trip("p and a == 3"), "p != 0 and a == 3"); }

TEST(Infix, DepthCostsNoStack) {
  Graph g;
  std::string nested(100000, '(');
  nested += "a";
  for (int i = 0; i < 100000; ++i) nested += " * b)";
  EXPECT_EQ(write_infix(g, parse(g, nested)).size(), 1 + 4 * 100000u);
}

TEST(Infix, TheLeastInteger) {
  EXPECT_EQ(round_trip("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(round_trip("a - 9223372036854775807 * b"), "a - 9223372036854775807 * b");
  EXPECT_EQ(refused("a - 9223372036854775808"),
            "expression:5: error: E-infix: expected an integer below 2^63, got 9223372036854775808");
  EXPECT_EQ(refused("007"), "expression:1: error: E-infix: expected an integer, got '007'");
}

TEST(Infix, LongSums) {
  Graph g;
  std::string sum = "a";
  for (int i = 0; i < 100000; ++i) sum += i % 2 == 0 ? " + b" : " - b";
  EXPECT_EQ(write_infix(g, parse(g, sum)), sum);
}

TEST(Infix, RefusesWithTheColumn) {
  EXPECT_EQ(refused("a +* b"), "expression:4: error: E-infix: expected an operand, got '*'");
  EXPECT_EQ(refused("a +"), "expression:4: error: E-infix: expected an operand, got the end");
  EXPECT_EQ(refused("(a"), "expression:1: error: E-infix: expected a ')' for this '(', got the end");
  EXPECT_EQ(refused("a)"), "expression:2: error: E-infix: expected a '(' before this ')'");
  EXPECT_EQ(refused("a b"), "expression:3: error: E-infix: expected an operator, got 'b'");
  EXPECT_EQ(refused("1x"), "expression:1: error: E-infix: expected an integer, got '1x'");
  EXPECT_EQ(refused("9223372036854775808"),
            "expression:1: error: E-infix: expected an integer below 2^63, got 9223372036854775808");
  EXPECT_EQ(refused("a and b + 1"), "expression:7: error: E-infix: expected a condition here, got an integer");
  EXPECT_EQ(refused("foo(a)"),
            "expression:1: error: E-infix: expected one of the functions min, max, where, cdiv, cmod, abs, got 'foo'");
  EXPECT_EQ(refused("where(a < b, a)"), "expression:1: error: E-infix: expected 3 arguments of where, got 2");
  EXPECT_EQ(refused("(a, b)"), "expression:3: error: E-infix: expected a ',' only between the arguments of a function");
  EXPECT_EQ(refused("a ** b"), "expression:4: error: E-infix: expected an operand, got '*'");
  EXPECT_EQ(refused("nope"), "expression:1: error: E-infix: expected a declared name, got 'nope'");
  EXPECT_EQ(refused(""), "expression:1: error: E-infix: expected an operand, got the end");
  EXPECT_EQ(refused("a = b"), "expression:3: error: E-infix: expected an operator, got '='");
  EXPECT_EQ(refused("a + not b"), "expression:5: error: E-infix: expected an operand, got 'not'");
}

}  // namespace
