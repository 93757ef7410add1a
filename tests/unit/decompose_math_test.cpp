// Functions become basic operations.
#include "tests/unit/lower_program.h"

namespace kiln::compiler::testing {
namespace {

TEST(DecomposeMath, TranscendentalsBecomeBasicOperations) {
  for (DType d : {DType::f16, DType::bf16, DType::f32, DType::f64})
    for (Op op : {Op::EXP, Op::LOG, Op::SIN, Op::TANH, Op::ERF, Op::RSQRT}) {
      OneKernel k;
      const Id n = k.symbol("N");
      const int x = k.buffer(d, n), y = k.buffer(d, n);
      const Id i = k.range(n);
      k.store(y, i, k.op(op, d, {k.load(x, i)}), {i});
      k.lower();
      EXPECT_EQ(malformed(k.g, k.lowered.sink), "");
    }
}

// erf(-x * c) is -erf(x * c), and cosh(-x) is cosh(x): one expansion each.
TEST(DecomposeMath, AMinusLeavesOddAndEvenFunctions) {
  const auto nodes = [](bool minus) {
    OneKernel k;
    const Id n = k.symbol("N");
    const int x = k.buffer(DType::f32, n), y = k.buffer(DType::f32, n);
    const Id i = k.range(n), c = k.g.constant(DType::f32, 3), e = k.load(x, i);
    const auto at = [&](Id v) {
      return k.op(Op::ADD, DType::f32,
                  {k.op(Op::ERF, DType::f32, {k.op(Op::MUL, DType::f32, {v, c})}), k.op(Op::COSH, DType::f32, {v})});
    };
    const Id other = minus ? k.op(Op::NEG, DType::f32, {e}) : e;
    k.store(y, i, k.op(Op::MUL, DType::f32, {at(e), at(other)}), {i});
    k.lower();
    EXPECT_EQ(malformed(k.g, k.lowered.sink), "");
    return std::ssize(k.g.reachable(k.lowered.sink));
  };
  EXPECT_LE(nodes(true), nodes(false) + 4);
}

}  // namespace
}  // namespace kiln::compiler::testing
