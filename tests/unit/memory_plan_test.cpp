#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "compiler/interp/index_value.h"
#include "compiler/ir/index_poly.h"
#include "compiler/ir/text_index.h"
#include "compiler/schedule/memory_in_order.h"
#include "compiler/schedule/memory_plan.h"
#include "compiler/schedule/task_order.h"

namespace kiln::compiler {
namespace {

class MemoryPlan : public ::testing::Test {
 protected:
  int temporary(Id size, DType d = DType::f32) {
    s_.buffers.push_back({d, size, -1, no_id});
    return static_cast<int>(s_.buffers.size()) - 1;
  }
  // Adds a kernel that uses these buffers and runs after the last one. The plan looks at nothing else.
  void kernel(std::vector<int> buffers) {
    kernel(std::move(buffers), s_.kernels.empty() ? std::vector<std::size_t>{} : std::vector{s_.kernels.size() - 1});
  }
  void kernel(std::vector<int> buffers, std::vector<std::size_t> depends_on) {
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
  EXPECT_EQ(offset(d), offset(a));  // a is dead in kernel 3, so kernel 1 does not matter
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

// A random task graph: buffers share bytes only if the exact order separates them. Buffers are compared in the order of the
// tasks that make them, so a failure names the first tasks of the graph that show it.
TEST_F(MemoryPlan, InOrderKeepsApartWhatMayRunTogether) {
  constexpr std::uint64_t seed = 7;
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  std::vector<int> made;
  for (std::size_t k = 0; k < 900; ++k) {
    std::vector<int> buffers{temporary(g_.index(50 * (1 + below(3))))};
    std::vector<std::size_t> after;
    for (std::size_t r = below(4); r-- > 0 && k > 0;) {
      const std::size_t from = below(8) == 0 ? below(k) : k - 1 - below(std::min<std::size_t>(k, 9));
      buffers.push_back(made[from]);
      after.push_back(from);
    }
    made.push_back(buffers[0]);
    std::ranges::sort(after);
    kernel(std::move(buffers), std::move(after));
  }
  memory_in_order(g_, s_);
  const TaskOrder order(s_);
  const auto users = buffer_users(g_, s_);
  const auto ends_before = [&](std::size_t a, std::size_t b) {
    return std::ranges::all_of(users[a], [&](std::size_t j) {
      return std::ranges::all_of(users[b], [&](std::size_t k) { return order.before(j, k); });
    });
  };
  std::size_t shared = 0;
  for (std::size_t a = 0; a < s_.buffers.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      if (offset(static_cast<int>(a)) != offset(static_cast<int>(b))) continue;
      ++shared;
      ASSERT_TRUE(ends_before(a, b) || ends_before(b, a))
          << "seed " << seed << ": the buffers of tasks " << b << " and " << a << ", used by "
          << ::testing::PrintToString(users[b]) << " and " << ::testing::PrintToString(users[a]);
    }
  EXPECT_GT(shared, 100u);
}

TEST_F(MemoryPlan, InOrderReusesAlongAChain) {
  int last = temporary(g_.sym("N"));
  kernel({last});
  for (int i = 0; i < 3000; ++i) {
    const int next = temporary(g_.sym("N"));
    kernel({next, last});
    last = next;
  }
  memory_in_order(g_, s_);
  const auto line = index_mul(g_, index_floordiv(g_, read_index(g_, "4*N + 63"), g_.index(64)), g_.index(64));
  EXPECT_EQ(s_.workspace_bytes, index_mul(g_, g_.index(2), line));
}

}  // namespace
}  // namespace kiln::compiler
