// Arithmetic of 16 bits becomes arithmetic of 32 bits.
#include "tests/unit/lower_program.h"

namespace kiln::compiler::testing {
namespace {

TEST(DecomposeHalf, HalfArithmeticIsSingleArithmetic) {
  OneKernel k;
  const Id n = k.symbol("N");
  const int x = k.buffer(DType::f16, n);
  const Id i = k.range(n);
  Id v = k.load(x, i);
  v = k.op(Op::MUL, DType::f16, {v, v});
  v = k.op(Op::NEG, DType::f16, {k.op(Op::ADD, DType::f16, {v, k.load(x, i)})});
  const Id small = k.op(Op::LT, DType::boolean, {v, k.load(x, i)});
  k.store(x, i, k.op(Op::WHERE, DType::f16, {small, v, k.load(x, i)}), {i});
  k.lower();
  EXPECT_EQ(malformed(k.g, k.lowered.sink), "");
  EXPECT_EQ(count(k.g, k.lowered.sink, Op::NEG), 0u);
  EXPECT_EQ(count(k.g, k.lowered.sink, Op::MUL, 16), 1u);
}

}  // namespace
}  // namespace kiln::compiler::testing
