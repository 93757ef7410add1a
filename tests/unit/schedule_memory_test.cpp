#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/interp/index_value.h"
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
  // One that touches these buffers, after the one before it; the plan looks at nothing else.
  void kernel(std::vector<int> buffers) {
    kernel(std::move(buffers), s_.kernels.empty() ? std::vector<int>{} : std::vector{static_cast<int>(s_.kernels.size()) - 1});
  }
  void kernel(std::vector<int> buffers, std::vector<int> depends_on) {
    Kernel k;
    k.depends_on = std::move(depends_on);
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

TEST_F(MemoryPlan, KernelsWithoutOrderShareNothing) {
  const int a = temporary(g_.index(16)), b = temporary(g_.index(16)), c = temporary(g_.index(16)), d = temporary(g_.index(16));
  kernel({a}, {});
  kernel({b}, {});
  kernel({a, c}, {0});
  kernel({b, c, d}, {1, 2});
  memory_plan(g_, s_);
  EXPECT_NE(offset(a), offset(b));
  EXPECT_NE(offset(c), offset(b));
  EXPECT_EQ(offset(d), offset(a));  // a is dead in kernel 3, whatever kernel 1 does
  EXPECT_TRUE(g_.is_index_const(s_.workspace_bytes, 192));
}

TEST_F(MemoryPlan, SymbolicBuffersShare) {
  const Id n = g_.sym("N");
  const auto times = [&](std::int64_t k) { return index_mul(g_, n, g_.index(k)); };
  const int a = temporary(times(64)), b = temporary(times(16)), c = temporary(times(32));
  kernel({a});
  kernel({a, b});
  kernel({b, c});
  memory_plan(g_, s_);
  const auto at = [&](int i) { return s_.buffers[static_cast<std::size_t>(i)].offset; };
  EXPECT_EQ(at(a), g_.index(0));
  EXPECT_EQ(at(c), g_.index(0));
  EXPECT_EQ(at(b), times(256));
  EXPECT_EQ(s_.workspace_bytes, times(320));
}

TEST_F(MemoryPlan, OffsetsAreWholeLinesForAnySymbol) {
  const int a = temporary(g_.sym("N")), b = temporary(index_mul(g_, g_.sym("N"), g_.sym("M"))), c = temporary(g_.index(3));
  kernel({a, b, c});
  memory_plan(g_, s_);
  for (const std::int64_t n : {0, 1, 5, 16, 17, 1000})
    for (const std::int64_t m : {0, 1, 3, 70}) {
      const std::map<std::string, std::int64_t> symbols{{"N", n}, {"M", m}};
      IndexValues value(g_, symbols);
      std::vector<std::pair<std::int64_t, std::int64_t>> blocks;
      for (const int i : {a, b, c}) {
        const Buffer& buffer = s_.buffers[static_cast<std::size_t>(i)];
        blocks.emplace_back(value(buffer.offset).value(), 4 * value(buffer.size).value());
        EXPECT_EQ(blocks.back().first % 64, 0);
      }
      std::ranges::sort(blocks);
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_LE(blocks[i].first + blocks[i].second, i < 2 ? blocks[i + 1].first : value(s_.workspace_bytes).value());
    }
}

TEST_F(MemoryPlan, SizesWithoutBoundFollowTheOthers) {  // (M - N) // 2 could be negative
  const Id half = index_floordiv(g_, index_sub(g_, g_.sym("M"), g_.sym("N")), g_.index(2));
  const int a = temporary(half), b = temporary(g_.index(16));
  kernel({a, b});
  memory_plan(g_, s_);
  EXPECT_EQ(offset(b), 0);
  EXPECT_EQ(offset(a), 64);
}

}  // namespace
}  // namespace kiln::compiler
