#include <gtest/gtest.h>

#include "compiler/ir/builder.h"
#include "compiler/rangeify/graph_cleanup.h"

namespace kiln::compiler {
namespace {

class GraphCleanup : public ::testing::Test {
 protected:
  Id in(std::vector<Id> extents) {
    Parameter q{"p" + std::to_string(p_.params.size()), Direction::in, DType::f32, std::move(extents), {}};
    const Id id = b_.param(static_cast<int>(p_.params.size()), q);
    p_.params.push_back(q);
    return id;
  }
  Id cleaned(Id value) {  // the stored value after the pass
    Parameter q{"out", Direction::out, g_.dtype(value), b_.shape_of(value), {}};
    const Id target = b_.param(static_cast<int>(p_.params.size()), q);
    p_.params.push_back(q);
    p_.sink = g_.make(Op::SINK, DType::none, {b_.store(target, q, value)});
    graph_cleanup(g_, p_);
    return g_.src(p_.sink).empty() ? no_id : g_.src(g_.src(p_.sink, 0), 1);
  }
  Id n(std::int64_t v) { return g_.index(v); }

  Graph g_;
  Builder b_{g_};
  Program p_;
};

TEST_F(GraphCleanup, SplitsReductionsLastAxisFirst) {
  const Id x = in({n(2), n(3), n(4)});
  const Id inner = b_.reduce(ReduceKind::sum, x, std::vector<std::int64_t>{2});
  EXPECT_EQ(cleaned(b_.reduce(ReduceKind::sum, x, std::vector<std::int64_t>{0, 2})),
            b_.reduce(ReduceKind::sum, inner, std::vector<std::int64_t>{0}));
}

TEST_F(GraphCleanup, FmaKeepsItsAxes) {
  const Id x = in({n(2), n(3), n(4)});
  const Id dot = b_.reduce_fma(x, x, std::vector<std::int64_t>{1, 2});
  EXPECT_EQ(cleaned(dot), dot);
}

TEST_F(GraphCleanup, ReductionsOverNoAxis) {
  const Id x = in({n(2)});
  EXPECT_EQ(cleaned(b_.reduce(ReduceKind::sum, x, std::vector<std::int64_t>{})), x);
  EXPECT_EQ(cleaned(b_.reduce_fma(x, x, std::vector<std::int64_t>{})),
            b_.elementwise(Op::FMA, {x, x, b_.constant(DType::f32, 0)}));
}

TEST_F(GraphCleanup, MergesMovement) {
  const Id x = in({n(2), n(3), n(4)});
  const Id flat = b_.reshape(b_.reshape(x, std::vector<Id>{n(6), n(4)}), std::vector<Id>{n(24)});
  EXPECT_EQ(cleaned(flat), b_.reshape(x, std::vector<Id>{n(24)}));
  const Id back = b_.reshape(flat, std::vector<Id>{n(2), n(3), n(4)});
  EXPECT_EQ(cleaned(back), x);
  const std::vector<std::int64_t> rotation{1, 2, 0};
  EXPECT_EQ(cleaned(b_.permute(b_.permute(b_.permute(x, rotation), rotation), rotation)), x);
}

TEST_F(GraphCleanup, MergesSlices) {
  const Id x = in({n(20)});
  const auto part = [&](Id of, std::int64_t begin, std::int64_t step, std::int64_t extent) {
    return b_.slice(of, std::vector<Id>{n(begin)}, std::vector<std::int64_t>{step}, std::vector<Id>{n(extent)});
  };
  EXPECT_EQ(cleaned(part(part(x, 1, 2, 9), 7, -3, 3)), part(x, 15, -6, 3));
  EXPECT_EQ(cleaned(part(x, 0, 1, 20)), x);
  EXPECT_EQ(cleaned(part(part(x, 19, -1, 20), 19, -1, 20)), x);
}

TEST_F(GraphCleanup, EmptyStoresGo) { EXPECT_EQ(cleaned(b_.elementwise(Op::EXP, {in({n(0), n(3)})})), no_id); }

TEST_F(GraphCleanup, EmptyOperandsBecomeConstants) {
  const Id sum = cleaned(b_.reduce(ReduceKind::sum, b_.elementwise(Op::EXP, {in({n(3), n(0)})}), std::vector<std::int64_t>{1}));
  ASSERT_EQ(g_.op(sum), Op::REDUCE);
  const Id roots[] = {sum};
  for (Id id : g_.reachable(roots)) EXPECT_NE(g_.op(id), Op::PARAM);
}

}  // namespace
}  // namespace kiln::compiler
