#include "compiler/codegen/chain_order.h"

#include "tests/unit/codegen_harness.h"

namespace kiln::compiler::test {
namespace {

// Sums of 9 products, one for each place j of a window: y[i] = sum of w * x[i + j].
struct Windows {
  HandProgram p{"windows"};
  Id w = p.g.constant(DType::f32, 2);
  int x = p.param("x", DType::f32, Direction::in, p.g.index(32));
  int y = p.param("y", DType::f32, Direction::out, p.g.index(32));

  // The steps of the chain for result i, and its STORE, to which they are appended.
  std::vector<Id> steps(std::int64_t i, std::int64_t apart, Id range) {
    std::vector<Id> out;
    Id sum = p.g.constant(DType::f32, 0);
    for (std::int64_t j = 0; j < 9; ++j)
      out.push_back(sum = p.op(Op::FMA, DType::f32, {p.load(x, p.index_op(Op::ADD, range, p.g.index(apart * i + j))), w, sum}));
    out.push_back(p.store(y, p.index_op(Op::ADD, range, p.g.index(i)), sum));
    return out;
  }
  std::vector<Id> ordered(Id range, std::vector<Id> stores) {
    const Id loop = p.loop(range, p.g.index(0), p.g.index(4), 1, {}, {}, stores);
    const Scopes s = find_scopes(p.g, p.g.make(Op::SINK, DType::none, {loop}));
    return chain_order(p.g, s, stores, s.loop_of[loop]);
  }
};

TEST(CodegenChainOrder, ByTurns) {
  Windows w;
  const Id range = w.p.range(w.p.g.index(4));
  const std::vector<Id> a = w.steps(0, 1, range), b = w.steps(1, 1, range);
  std::vector<Id> expected = {a[0]};
  for (std::size_t i = 1; i < 9; ++i) expected.insert(expected.end(), {a[i], b[i - 1]});  // both with element i
  expected.insert(expected.end(), {b[8], a[9], b[9]});
  EXPECT_EQ(w.ordered(range, {a[9], b[9]}), expected);
}

TEST(CodegenChainOrder, ChainsThatShareNothingStay) {
  Windows w;
  const Id range = w.p.range(w.p.g.index(4));
  const Id a = w.steps(0, 16, range)[9], b = w.steps(1, 16, range)[9];
  EXPECT_EQ(w.ordered(range, {a, b}), (std::vector<Id>{a, b}));
}

}  // namespace
}  // namespace kiln::compiler::test
