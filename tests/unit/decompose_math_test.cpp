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

}  // namespace
}  // namespace kiln::compiler::testing
