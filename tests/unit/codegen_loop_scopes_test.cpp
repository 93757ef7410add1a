#include "compiler/ir/loop_scopes.h"
#include "tests/unit/codegen_harness.h"

namespace kiln::compiler::test {
namespace {

// for i { s = for j { carried }; for c { store } }: the pure loop j belongs to i, and values belong to their deepest RANGE.
TEST(CodegenScopes, Tree) {
  HandProgram p("tree");
  const Id n = p.symbol("N");
  const int x = p.param("x", DType::f32, Direction::in, n);
  const int y = p.param("y", DType::f32, Direction::out, n);
  const Id zero = p.g.index(0), start = p.g.constant(DType::f32, 0);
  const Id i = p.range(n), j = p.range(n), c = p.range(n);
  const Id in_i = p.index_op(Op::MUL, i, n), in_j = p.index_op(Op::ADD, in_i, j), outside = p.index_op(Op::MUL, n, n);
  const Id acc = p.carry(j, start, 0), element = p.load(x, in_j);
  const Id sum_loop = p.loop(j, zero, n, 1, {start}, {p.op(Op::ADD, DType::f32, {acc, element})}, {});
  const Id sum = p.get(sum_loop, DType::f32, 0);
  const Id first = p.load(x, zero);
  const Id store = p.store(y, p.index_op(Op::ADD, c, outside), p.op(Op::ADD, DType::f32, {sum, first}));
  const Id inner = p.loop(c, zero, n, 1, {}, {}, {store});
  const Id outer = p.loop(i, zero, p.g.index(4), 1, {}, {}, {inner});
  const Scopes s = find_scopes(p.g, p.g.make(Op::SINK, DType::none, {outer}));

  const std::int32_t at_i = s.loop_of[outer], at_j = s.loop_of[sum_loop], at_c = s.loop_of[inner];
  EXPECT_EQ(s.of[outer], root_scope);
  EXPECT_EQ(s.of[outside], root_scope);
  EXPECT_EQ(s.of[sum_loop], at_i);
  EXPECT_EQ(s.of[inner], at_i);
  EXPECT_EQ(s.of[in_i], at_i);
  EXPECT_EQ(s.of[in_j], at_j);
  EXPECT_EQ(s.of[acc], at_j);
  EXPECT_EQ(s.of[sum], at_i);
  EXPECT_TRUE(s.loops[static_cast<std::size_t>(at_i)].certain);
  EXPECT_FALSE(s.loops[static_cast<std::size_t>(at_c)].certain);
  EXPECT_TRUE(s.encloses(at_i, at_c));
  EXPECT_FALSE(s.encloses(at_j, at_c));
  // A load that does not depend on c stays in c, because c may be empty. It may move out of i, which is not empty.
  EXPECT_EQ(s.place(first, at_c), at_c);
  EXPECT_EQ(s.place(first, at_i), root_scope);
  EXPECT_EQ(s.place(sum, at_c), at_i);
}

TEST(CodegenScopes, SharedRangeIsRefused) {
  HandProgram p("shared");
  const int y = p.param("y", DType::f32, Direction::out, p.g.index(4));
  const Id zero = p.g.index(0), four = p.g.index(4), i = p.range(four), v = p.g.constant(DType::f32, 0);
  const Id a = p.loop(i, zero, four, 1, {}, {}, {p.store(y, i, v)});
  const Id b = p.loop(i, zero, four, 2, {}, {}, {p.store(y, i, v)});
  EXPECT_THROW(find_scopes(p.g, p.g.make(Op::SINK, DType::none, {a, b})), std::logic_error);
}

}  // namespace
}  // namespace kiln::compiler::test
