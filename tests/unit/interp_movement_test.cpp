// Movement operations, compared with element-by-element definitions, for extents 0, 1, odd and prime.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/unit/interp_harness.h"

namespace kiln::compiler::testing {
namespace {

using Index = std::vector<std::int64_t>;

std::int64_t count(const Index& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

Index position(std::int64_t linear, const Index& extents) {
  Index p(extents.size());
  for (std::size_t a = extents.size(); a-- > 0; linear /= extents[a]) p[a] = linear % extents[a];
  return p;
}
std::int64_t linear(const Index& p, const Index& extents) {
  std::int64_t l = 0;
  for (std::size_t a = 0; a < p.size(); ++a) l = l * extents[a] + p[a];
  return l;
}

// 1, 2, 3, ...
Array numbered(const Index& extents) {
  std::vector<std::int32_t> v(static_cast<std::size_t>(count(extents)));
  std::iota(v.begin(), v.end(), 1);
  return array(extents, v);
}

// Every element of `out` must be the element of `x` at from(index), or `fill` if from(index) is outside.
void expect_gather(const Array& x, const Array& out, const Index& extents, const std::function<Index(Index)>& from,
                   std::int32_t fill = 0) {
  ASSERT_EQ(out.extents, extents);
  const auto in = values<std::int32_t>(x), got = values<std::int32_t>(out);
  ASSERT_EQ(static_cast<std::int64_t>(got.size()), count(extents));
  for (std::int64_t i = 0; i < count(extents); ++i) {
    const Index p = from(position(i, extents));
    bool inside = true;
    for (std::size_t a = 0; a < p.size(); ++a) inside = inside && p[a] >= 0 && p[a] < x.extents[a];
    ASSERT_EQ(got[static_cast<std::size_t>(i)], inside ? in[static_cast<std::size_t>(linear(p, x.extents))] : fill)
        << "element " << i;
  }
}

std::vector<Id> index_ids(Graph& g, const Index& v) {
  std::vector<Id> ids;
  for (std::int64_t e : v) ids.push_back(g.index(e));
  return ids;
}

const std::vector<Index> shapes3 = {{2, 3, 5}, {1, 7, 1}, {3, 0, 2}, {1, 1, 1}, {13, 2, 3}};

TEST(InterpMovement, Permute) {
  for (const Index& shape : shapes3)
    for (const Index& axes : {Index{0, 1, 2}, Index{2, 0, 1}, Index{1, 2, 0}, Index{2, 1, 0}}) {
      const Array x = numbered(shape);
      const Array y = evaluate({x}, [&](Builder& b, const auto& in) { return b.permute(in[0], axes); });
      Index extents;
      for (std::int64_t a : axes) extents.push_back(shape[static_cast<std::size_t>(a)]);
      expect_gather(x, y, extents, [&](const Index& p) {
        Index q(3);
        for (std::size_t a = 0; a < 3; ++a) q[static_cast<std::size_t>(axes[a])] = p[a];
        return q;
      });
    }
}

struct Change {
  Index from, to;
};

TEST(InterpMovement, ReshapeKeepsTheRowMajorOrder) {
  for (const Change& c :
       std::vector<Change>{{{6, 35}, {7, 5, 6}}, {{1}, {}}, {{}, {1, 1}}, {{0, 4}, {2, 0}}, {{13}, {1, 13, 1}}}) {
    const Array x = numbered(c.from);
    const Array y = evaluate({x}, [&](Builder& b, const auto& in) { return b.reshape(in[0], index_ids(b.graph(), c.to)); });
    EXPECT_EQ(y.extents, c.to);
    EXPECT_EQ(y.data, x.data);
  }
}

TEST(InterpMovement, Expand) {
  for (const Change& c : std::vector<Change>{{{1, 3, 1}, {5, 3, 2}}, {{1}, {0}}, {{1, 1}, {1, 7}}, {{0, 1}, {0, 4}}}) {
    const Array x = numbered(c.from);
    const Array y = evaluate({x}, [&](Builder& b, const auto& in) { return b.expand(in[0], index_ids(b.graph(), c.to)); });
    expect_gather(x, y, c.to, [&](Index p) {
      for (std::size_t a = 0; a < p.size(); ++a)
        if (c.from[a] == 1) p[a] = 0;
      return p;
    });
  }
}

TEST(InterpMovement, SliceWithSteps) {
  struct Case {
    Index shape, begin, step, extents;
  };
  for (const Case& c : {Case{.shape = {7, 11}, .begin = {1, 2}, .step = {2, 3}, .extents = {3, 3}},
                        Case{.shape = {7, 11}, .begin = {6, 10}, .step = {-1, -2}, .extents = {7, 6}},
                        Case{.shape = {7, 11}, .begin = {0, 0}, .step = {1, 1}, .extents = {0, 11}},
                        Case{.shape = {5}, .begin = {4}, .step = {-4}, .extents = {2}},
                        Case{.shape = {1}, .begin = {0}, .step = {1}, .extents = {1}},
                        Case{.shape = {0, 3}, .begin = {0, 2}, .step = {1, -1}, .extents = {0, 3}}}) {
    const Array x = numbered(c.shape);
    const Array y = evaluate({x}, [&](Builder& b, const auto& in) {
      const auto begin = index_ids(b.graph(), c.begin), extents = index_ids(b.graph(), c.extents);
      return b.slice(in[0], begin, c.step, extents);
    });
    expect_gather(x, y, c.extents, [&](Index p) {
      for (std::size_t a = 0; a < p.size(); ++a) p[a] = c.begin[a] + p[a] * c.step[a];
      return p;
    });
  }
}

// Takes one step at a time from the nearest border: the definition of the modes without closed forms.
std::int64_t pad_source(PadMode mode, std::int64_t i, std::int64_t n) {
  if (mode == PadMode::edge) return std::clamp<std::int64_t>(i, 0, n - 1);
  while (mode == PadMode::wrap && (i < 0 || i >= n)) i += i < 0 ? n : -n;
  while (mode == PadMode::reflect && (i < 0 || i >= n)) i = n == 1 ? 0 : i < 0 ? -i : 2 * (n - 1) - i;
  return i;
}

TEST(InterpMovement, PadModes) {
  struct Case {
    Index shape, before, extents;
  };
  for (const Case& c : {Case{.shape = {5}, .before = {3}, .extents = {13}}, Case{.shape = {5}, .before = {12}, .extents = {31}},
                        Case{.shape = {1}, .before = {2}, .extents = {7}}, Case{.shape = {2}, .before = {5}, .extents = {11}},
                        Case{.shape = {3, 4}, .before = {1, 0}, .extents = {5, 9}},
                        Case{.shape = {2, 1, 3}, .before = {2, 3, 4}, .extents = {6, 5, 13}},
                        Case{.shape = {7}, .before = {0}, .extents = {7}}})
    for (PadMode mode : {PadMode::constant, PadMode::edge, PadMode::reflect, PadMode::wrap}) {
      SCOPED_TRACE(std::string(name(mode)));
      const Array x = numbered(c.shape);
      const Array y = evaluate({x}, [&](Builder& b, const auto& in) {
        b.trust_bounds();  // the definition covers wider borders than the builder accepts
        const Id value = b.constant(DType::i32, static_cast<std::uint64_t>(-7));
        const auto before = index_ids(b.graph(), c.before), extents = index_ids(b.graph(), c.extents);
        return b.pad(in[0], value, mode, before, extents);
      });
      const auto from = [&](Index p) {
        for (std::size_t a = 0; a < p.size(); ++a) p[a] = pad_source(mode, p[a] - c.before[a], c.shape[a]);
        return p;
      };
      expect_gather(x, y, c.extents, from, -7);
    }
}

TEST(InterpMovement, PadOfNothingIsTheValue) {
  const Array y = evaluate({numbered({0})}, [&](Builder& b, const auto& in) {
    const Id before[] = {b.graph().index(2)}, extents[] = {b.graph().index(3)};
    return b.pad(in[0], b.constant(DType::i32, 9), PadMode::constant, before, extents);
  });
  EXPECT_EQ(values<std::int32_t>(y), std::vector<std::int32_t>({9, 9, 9}));
}

TEST(InterpMovement, Concat) {
  const Array a = numbered({2, 3, 2}), c = numbered({2, 1, 2}), empty = numbered({2, 0, 2});
  const Array y = evaluate({a, empty, c}, [](Builder& b, const auto& in) { return b.concat(in, 1); });
  EXPECT_EQ(y.extents, Index({2, 4, 2}));
  EXPECT_EQ(values<std::int32_t>(y), std::vector<std::int32_t>({1, 2, 3, 4, 5, 6, 1, 2, 7, 8, 9, 10, 11, 12, 3, 4}));
  const Array rows = evaluate({numbered({1, 2}), numbered({2, 2})}, [](Builder& b, const auto& in) { return b.concat(in, 0); });
  EXPECT_EQ(values<std::int32_t>(rows), std::vector<std::int32_t>({1, 2, 1, 2, 3, 4}));
}

TEST(InterpMovement, EveryElementSizeMoves) {
  const auto flip = [](Builder& b, const auto& in) {
    const Id begin[] = {b.graph().index(2)}, extents[] = {b.graph().index(3)};
    const std::int64_t step[] = {-1};
    return b.slice(in[0], begin, step, extents);
  };
  EXPECT_EQ(values<std::uint8_t>(evaluate({array<std::uint8_t>({3}, {0, 1, 1}, DType::boolean)}, flip)),
            std::vector<std::uint8_t>({1, 1, 0}));
  EXPECT_EQ(values<std::uint16_t>(evaluate({array<std::uint16_t>({3}, {1, 2, 3}, DType::bf16)}, flip)),
            std::vector<std::uint16_t>({3, 2, 1}));
  EXPECT_EQ(values<double>(evaluate({array<double>({3}, {1, 2, 3})}, flip)), std::vector<double>({3, 2, 1}));
}

TEST(InterpMovement, IotaWrapsAndRounds) {
  const auto iota = [](DType d, std::int64_t n) {
    return evaluate({}, [&](Builder& b, const auto&) { return b.iota(d, b.graph().index(n)); });
  };
  EXPECT_EQ(values<std::int8_t>(iota(DType::i8, 300))[299], 43);
  EXPECT_EQ(values<float>(iota(DType::f32, 5)), std::vector<float>({0, 1, 2, 3, 4}));
  EXPECT_EQ(values<std::uint16_t>(iota(DType::f16, 2052))[2049], 0x6800);  // 2049 is a tie, which rounds to even
  EXPECT_TRUE(iota(DType::f64, 0).data.empty());
}

}  // namespace
}  // namespace kiln::compiler::testing
