// Index maps of reshapes: each element is compared with row-major order.
#include <gtest/gtest.h>

#include "compiler/ir/index_poly.h"
#include "compiler/rangeify/index_map.h"

namespace kiln::compiler {
namespace {

std::int64_t value_at(const Graph& g, Id root, const std::vector<Id>& ranges, const std::vector<std::int64_t>& at) {
  std::map<Id, std::int64_t> v;
  const Id roots[] = {root};
  for (Id id : g.reachable(roots)) {
    const auto s = [&](std::size_t i) { return v.at(g.src(id, i)); };
    const auto floor_div = [](std::int64_t a, std::int64_t b) {
      return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
    };
    switch (g.op(id)) {
      case Op::CONST: v[id] = g.arg(id, 0); break;
      case Op::RANGE: v[id] = at[static_cast<std::size_t>(std::ranges::find(ranges, id) - ranges.begin())]; break;
      case Op::ADD: v[id] = s(0) + s(1); break;
      case Op::SUB: v[id] = s(0) - s(1); break;
      case Op::MUL: v[id] = s(0) * s(1); break;
      case Op::FLOORDIV: v[id] = floor_div(s(0), s(1)); break;
      case Op::FLOORMOD: v[id] = s(0) - floor_div(s(0), s(1)) * s(1); break;
      default: ADD_FAILURE() << name(g.op(id));
    }
  }
  return v.at(root);
}

void check_reshape(const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to) {
  Graph g;
  const Facts facts;
  Simplifier simplify(g, facts);
  std::vector<Id> in, out, ranges;
  for (std::int64_t e : from) in.push_back(g.index(e));
  for (std::int64_t e : to) out.push_back(g.index(e));
  std::int64_t total = 1;
  for (std::size_t i = 0; i < to.size(); ++i) {
    ranges.push_back(g.make(Op::RANGE, DType::index, {out[i]}, {static_cast<std::int64_t>(i), 0}));
    total *= to[i];
  }
  const std::vector<Id> index = reshape_index(g, simplify, in, out, ranges);
  ASSERT_EQ(index.size(), from.size());
  for (std::int64_t flat = 0; flat < total; ++flat) {
    std::vector<std::int64_t> at(to.size());
    std::int64_t rest = flat;
    for (std::size_t k = to.size(); k-- > 0; rest /= to[k]) at[k] = rest % to[k];
    rest = flat;
    for (std::size_t k = from.size(); k-- > 0; rest /= from[k])
      EXPECT_EQ(value_at(g, index[k], ranges, at), rest % from[k]) << "element " << flat << " axis " << k;
  }
}

TEST(ReshapeIndex, EveryElement) {
  check_reshape({4, 6}, {3, 8});
  check_reshape({24}, {2, 3, 4});
  check_reshape({2, 3, 4}, {24});
  check_reshape({2, 3, 4}, {2, 12});
  check_reshape({6, 1, 4}, {1, 2, 3, 4, 1});
  check_reshape({}, {1, 1});
  check_reshape({1}, {});
  check_reshape({5, 4, 9}, {10, 6, 3});
}

TEST(ReshapeIndex, SplitAndMergedAxesNeedNoDivisionOfOthers) {
  Graph g;
  const Facts facts;
  Simplifier simplify(g, facts);
  const Id h = g.sym("H"), w = g.sym("W"), three = g.index(3), one = g.index(1);
  const Id a = g.make(Op::RANGE, DType::index, {h}, {0, 0}),
           b = g.make(Op::RANGE, DType::index, {index_mul(g, w, three)}, {1, 0});
  // [H, 1, 3*W] -> [H, 3*W] needs no division.
  EXPECT_EQ(reshape_index(g, simplify, std::vector<Id>{h, one, index_mul(g, w, three)},
                          std::vector<Id>{h, index_mul(g, w, three)}, std::vector<Id>{a, b}),
            (std::vector<Id>{a, g.index(0), b}));
}

TEST(IndexMaps, AreInterned) {
  Graph g;
  IndexMaps maps;
  const MapId a = maps.intern({{g.index(1), g.index(2)}, no_id});
  EXPECT_EQ(a, maps.intern({{g.index(1), g.index(2)}, no_id}));
  EXPECT_NE(a, maps.intern({{g.index(2), g.index(1)}, no_id}));
  EXPECT_NE(a, maps.intern({{g.index(1), g.index(2)}, g.constant(DType::boolean, 0)}));
}

}  // namespace
}  // namespace kiln::compiler
