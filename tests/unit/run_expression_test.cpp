// The operations that passes leave to the runtime are those of its code, and both give the IR's values.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "compiler/codegen/expression.h"
#include "compiler/interp/index_value.h"

extern "C" {
#include "runtime/src/expression.h"
}

using namespace kiln::compiler;

namespace {

constexpr Op on_two_integers[] = {Op::ADD, Op::SUB, Op::MUL, Op::FLOORDIV, Op::FLOORMOD, Op::CDIV, Op::CMOD,
                                  Op::MIN, Op::MAX, Op::AND, Op::OR,       Op::XOR,      Op::SHL,  Op::SHR};

class RunExpression : public ::testing::Test {
 protected:
  Id make(Op op, Id a, Id b) { return g.make(op, DType::index, {a, b}); }

  Graph g;
  const Id n = g.sym("N");
  const Symbol symbols[1] = {{.name = "N", .min = -100}};
  const SymbolIndex index{symbols};
};

TEST_F(RunExpression, HasTheValuesOfTheIr) {
  int operations = 0;
  for (const Op op : on_two_integers) {
    const Id e = make(op, n, g.index(3));
    EXPECT_EQ(is_run_arithmetic(g, e), expr_code(op).has_value()) << name(op);
    if (!is_run_arithmetic(g, e)) {
      EXPECT_THROW(postfix(g, e, index), std::logic_error) << name(op);
      continue;
    }
    ++operations;
    std::vector<std::int64_t> code = postfix(g, e, index);
    code.push_back(KILN_EXPR_END);
    for (const std::int64_t value : {-7, -1, 0, 2, 8}) {
      std::int64_t result = 0;
      ASSERT_TRUE(kiln_evaluate(code.data(), &value, &result));
      const std::map<std::string, std::int64_t> values{{"N", value}};
      EXPECT_EQ(result, IndexValues(g, values)(e)) << name(op) << " " << value;
    }
  }
  EXPECT_EQ(operations, 7);
}

TEST_F(RunExpression, LeavesOutQuotientsThatMayHaveNoValue) {
  for (const Op op : {Op::FLOORDIV, Op::FLOORMOD})
    for (const Id divisor : {n, g.index(0), g.index(-2)}) EXPECT_FALSE(is_run_arithmetic(g, make(op, n, divisor))) << name(op);
  EXPECT_FALSE(is_run_arithmetic(g, n));
  EXPECT_FALSE(is_run_arithmetic(g, g.make(Op::ADD, DType::i32, {g.constant(DType::i32, 1), g.constant(DType::i32, 2)})));
}

}  // namespace
