#include <gtest/gtest.h>

#include "compiler/ir/index_poly.h"
#include "compiler/schedule/memory_plan.h"

namespace kiln::compiler {
namespace {

class MemoryPlan : public ::testing::Test {
 protected:
  int temporary(Id size, DType d = DType::f32) {
    s_.buffers.push_back({d, size, -1, no_id});
    return static_cast<int>(s_.buffers.size()) - 1;
  }
  void kernel(std::vector<int> buffers) {  // one that touches these buffers; the plan looks at nothing else
    Kernel k;
    k.sink = g_.make(Op::SINK, DType::none, std::initializer_list<Id>{});
    k.buffers = std::move(buffers);
    s_.kernels.push_back(k);
  }
  std::int64_t offset(int b) { return index_value(g_, s_.buffers[static_cast<std::size_t>(b)].offset).value(); }

  Graph g_;
  Schedule s_;
};

TEST_F(MemoryPlan, ReusesMemoryOfTheDead) {
  const int a = temporary(g_.index(100)), b = temporary(g_.index(10)), c = temporary(g_.index(100));
  kernel({a});
  kernel({b, a});
  kernel({c, b});
  kernel({c});
  memory_plan(g_, s_);
  EXPECT_EQ(offset(a), 0);
  EXPECT_EQ(offset(b), 448);  // 400 bytes, in lines of 64
  EXPECT_EQ(offset(c), 0);
  EXPECT_TRUE(g_.is_index_const(s_.workspace_bytes, 512));
}

TEST_F(MemoryPlan, BuffersOfOneKernelNeverMeet) {
  const int a = temporary(g_.index(1), DType::boolean), b = temporary(g_.index(0)), c = temporary(g_.index(3), DType::f64);
  kernel({a, b, c});
  memory_plan(g_, s_);
  EXPECT_EQ(offset(a), 0);
  EXPECT_EQ(offset(c), 64);
  EXPECT_TRUE(g_.is_index_const(s_.workspace_bytes, 128));
}

TEST_F(MemoryPlan, SymbolicBuffersFollowTheStaticOnes) {
  const Id n = g_.sym("N");
  const int a = temporary(n), b = temporary(g_.index(16)), c = temporary(index_mul(g_, n, g_.index(16)));
  kernel({a, b});
  kernel({c, a});
  memory_plan(g_, s_);
  EXPECT_EQ(offset(b), 0);
  EXPECT_EQ(offset(a), 64);
  const Id lines = index_floordiv(g_, index_add(g_, index_mul(g_, n, g_.index(4)), g_.index(63)), g_.index(64));
  const Id after = index_add(g_, g_.index(64), index_mul(g_, lines, g_.index(64)));
  EXPECT_EQ(s_.buffers[static_cast<std::size_t>(c)].offset, after);
  EXPECT_EQ(s_.workspace_bytes, index_add(g_, after, index_mul(g_, n, g_.index(64))));
}

}  // namespace
}  // namespace kiln::compiler
