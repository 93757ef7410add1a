// Reductions: the order of every kind, compared with plain loops that follow the definition step by step.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "compiler/interp/scalar.h"
#include "tests/unit/interp_harness.h"

namespace kiln::compiler::testing {
namespace {

using Axes = std::vector<std::int64_t>;

Array reduce(const Array& x, ReduceKind kind, const Axes& axes) {
  return evaluate({x}, [&](Builder& b, const auto& in) { return b.reduce(kind, in[0], axes); });
}

std::vector<float> random_floats(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> v(n);
  for (float& f : v)
    f = std::ldexp(static_cast<float>(static_cast<int>(random() % 20001) - 10000), static_cast<int>(random() % 20) - 10);
  return v;
}

std::vector<float> line(const std::vector<float>& all, std::size_t begin, std::size_t n) {
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
  return {first, first + static_cast<std::ptrdiff_t>(n)};
}

float halving_tree(float (&lane)[32]) {
  for (int j = 0; j < 16; ++j) lane[j] += lane[j + 16];
  for (int j = 0; j < 8; ++j) lane[j] += lane[j + 8];
  for (int j = 0; j < 4; ++j) lane[j] += lane[j + 4];
  for (int j = 0; j < 2; ++j) lane[j] += lane[j + 2];
  return lane[0] + lane[1];
}

// The striped order, written out for sums: lanes of a block, the halving tree, then the blocks again.
float striped_sum(std::vector<float> x) {
  for (;;) {
    std::vector<float> partial;
    for (std::size_t begin = 0; begin == 0 || begin < x.size(); begin += 65536) {
      float lane[32] = {};
      for (std::size_t i = begin; i < std::min(x.size(), begin + 65536); ++i) lane[(i - begin) % 32] += x[i];
      partial.push_back(halving_tree(lane));
    }
    if (partial.size() == 1) return partial[0];
    x = partial;
  }
}

// The same for products: each lane is a chain of fma. The results of the blocks are a sum, also if there is only one.
float striped_dot(const std::vector<float>& x, const std::vector<float>& y) {
  std::vector<float> blocks;
  for (std::size_t begin = 0; begin < x.size(); begin += 65536) {
    float lane[32] = {};
    for (std::size_t i = begin; i < std::min(x.size(), begin + 65536); ++i)
      lane[(i - begin) % 32] = std::fma(x[i], y[i], lane[(i - begin) % 32]);
    blocks.push_back(halving_tree(lane));
  }
  return striped_sum(blocks);
}

TEST(InterpReduce, LastAxisIsStriped) {
  for (std::size_t n : {0u, 1u, 2u, 31u, 32u, 33u, 997u, 65536u, 65537u, 200003u}) {
    const auto v = random_floats(n, 3);
    const Array x = array({static_cast<std::int64_t>(n)}, v);
    const auto got = values<float>(reduce(x, ReduceKind::sum, {0}));
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(got[0]), std::bit_cast<std::uint32_t>(striped_sum(v))) << n;
  }
}

TEST(InterpReduce, OtherAxesAreSequential) {
  const std::size_t rows = 101, columns = 3;
  const auto v = random_floats(rows * columns, 4);
  const auto got = values<float>(reduce(array({rows, columns}, v), ReduceKind::sum, {0}));
  for (std::size_t c = 0; c < columns; ++c) {
    float acc = 0;
    for (std::size_t r = 0; r < rows; ++r) acc += v[r * columns + c];
    EXPECT_EQ(got[c], acc);
  }
}

TEST(InterpReduce, SeveralAxesNestWithTheLastFirst) {
  const std::size_t a = 5, b = 37, c = 67;
  const auto v = random_floats(a * b * c, 5);
  const Array x = array({a, b, c}, v);
  std::vector<float> inner;  // summed over c
  for (std::size_t i = 0; i < a * b; ++i) inner.push_back(striped_sum(line(v, i * c, c)));
  std::vector<float> both;  // then summed over b, which is now the last axis
  for (std::size_t i = 0; i < a; ++i) both.push_back(striped_sum(line(inner, i * b, b)));
  EXPECT_EQ(values<float>(reduce(x, ReduceKind::sum, {1, 2})), both);
  EXPECT_EQ(values<float>(reduce(x, ReduceKind::sum, {0, 1, 2})), std::vector<float>({striped_sum(both)}));
  std::vector<float> ends(b, 0);  // summed over c, then over a, which is not the last axis
  for (std::size_t i = 0; i < a; ++i)
    for (std::size_t j = 0; j < b; ++j) ends[j] += inner[i * b + j];
  EXPECT_EQ(values<float>(reduce(x, ReduceKind::sum, {0, 2})), ends);
}

TEST(InterpReduce, EmptyGivesTheIdentity) {
  const Array x = array<float>({2, 0}, {});
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(values<float>(reduce(x, ReduceKind::sum, {1})), std::vector<float>({0, 0}));
  EXPECT_EQ(values<float>(reduce(x, ReduceKind::prod, {1})), std::vector<float>({1, 1}));
  EXPECT_EQ(values<float>(reduce(x, ReduceKind::max, {1})), std::vector<float>({-inf, -inf}));
  EXPECT_EQ(values<float>(reduce(x, ReduceKind::min, {1})), std::vector<float>({inf, inf}));
  EXPECT_EQ(values<std::int64_t>(reduce(x, ReduceKind::argmax, {1})), std::vector<std::int64_t>({0, 0}));
  EXPECT_TRUE(reduce(x, ReduceKind::sum, {0}).data.empty());
  const Array i = array<std::int8_t>({0}, {}), u = array<std::uint16_t>({0}, {});
  EXPECT_EQ(values<std::int8_t>(reduce(i, ReduceKind::max, {0})), std::vector<std::int8_t>({-128}));
  EXPECT_EQ(values<std::uint16_t>(reduce(u, ReduceKind::max, {0})), std::vector<std::uint16_t>({0}));
  EXPECT_EQ(values<std::uint16_t>(reduce(u, ReduceKind::min, {0})), std::vector<std::uint16_t>({65535}));
  const Array truth = array<std::uint8_t>({0}, {}, DType::boolean);
  EXPECT_EQ(values<std::uint8_t>(reduce(truth, ReduceKind::any, {0})), std::vector<std::uint8_t>({0}));
  EXPECT_EQ(values<std::uint8_t>(reduce(truth, ReduceKind::all, {0})), std::vector<std::uint8_t>({1}));
  EXPECT_FALSE(
      std::signbit(values<float>(reduce(array<float>({1}, {-0.0f}), ReduceKind::sum, {0}))[0]));  // the identity +0 counts
}

TEST(InterpReduce, ExtremaAndTheirPositions) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Array x = array<float>({3, 4}, {1, 7, 7, 2, nan, 9, nan, 1, -0.0f, 0, -3, -3});
  EXPECT_EQ(values<std::int64_t>(reduce(x, ReduceKind::argmax, {1})), std::vector<std::int64_t>({1, 0, 0}));
  EXPECT_EQ(values<std::int64_t>(reduce(x, ReduceKind::argmin, {1})), std::vector<std::int64_t>({0, 0, 2}));
  EXPECT_EQ(values<std::int64_t>(reduce(x, ReduceKind::argmax, {0})), std::vector<std::int64_t>({1, 1, 1, 0}));
  const auto max = values<float>(reduce(x, ReduceKind::max, {1}));
  EXPECT_EQ(max[0], 7);
  EXPECT_TRUE(std::isnan(max[1]));
  EXPECT_FALSE(std::signbit(max[2]));
  EXPECT_TRUE(std::signbit(values<float>(reduce(array<float>({2}, {0, -0.0f}), ReduceKind::min, {0}))[0]));
}

TEST(InterpReduce, IntegersWrap) {
  EXPECT_EQ(values<std::int8_t>(reduce(array<std::int8_t>({3}, {100, 100, 100}), ReduceKind::sum, {0})),
            std::vector<std::int8_t>({44}));
  EXPECT_EQ(values<std::uint32_t>(reduce(array<std::uint32_t>({2}, {0x10000, 0x10001}), ReduceKind::prod, {0})),
            std::vector<std::uint32_t>({0x10000}));
}

// 4096 ones and a half: a sum in f16 would stay at 2048. In f32 it is exact, and rounds once.
TEST(InterpReduce, NarrowFloatsAccumulateInSinglePrecision) {
  std::vector<std::uint16_t> v(4096, 0x3c00);
  v.push_back(0x3800);
  EXPECT_EQ(values<std::uint16_t>(reduce(array({4097}, v, DType::f16), ReduceKind::sum, {0})),
            std::vector<std::uint16_t>({0x6c00}));
  const std::vector<std::uint16_t> brain(1000, 0x3f80);
  EXPECT_EQ(values<std::uint16_t>(reduce(array({1000}, brain, DType::bf16), ReduceKind::sum, {0})),
            std::vector<std::uint16_t>({0x447a}));
}

// Rows of 2048 and 1. If rows rounded to f16, each 2049 would become 2048, and the sum 6144. The exact 6147 rounds to 6148.
TEST(InterpReduce, NarrowFloatsRoundOnceOverAllAxes) {
  const auto half = array<std::uint16_t>({3, 2}, {0x6800, 0x3c00, 0x6800, 0x3c00, 0x6800, 0x3c00}, DType::f16);
  EXPECT_EQ(values<std::uint16_t>(reduce(half, ReduceKind::sum, {0, 1})), std::vector<std::uint16_t>({0x6e01}));
  const auto brain = array<std::uint16_t>({3, 2}, {0x4380, 0x3f80, 0x4380, 0x3f80, 0x4380, 0x3f80}, DType::bf16);
  EXPECT_EQ(values<std::uint16_t>(reduce(brain, ReduceKind::sum, {0, 1})), std::vector<std::uint16_t>({0x4441}));
  const auto factors = array<std::uint16_t>({2, 2}, {0x4200, 0x6156, 0x3c00, 0x3e00}, DType::f16);  // 3, 683, 1, 1.5
  EXPECT_EQ(values<std::uint16_t>(reduce(factors, ReduceKind::prod, {0, 1})), std::vector<std::uint16_t>({0x6a01}));  // 3074
}

TEST(InterpReduce, FmaIsOneChainInRowMajorOrderOfTheAxes) {
  const std::size_t m = 3, k = 19, l = 5;
  const auto a = random_floats(m * k * l, 6), b = random_floats(m * k * l, 7);
  const auto chain = [&](const Axes& axes) {
    return values<float>(evaluate({array({m, k, l}, a), array({m, k, l}, b)},
                                  [&](Builder& builder, const auto& in) { return builder.reduce_fma(in[0], in[1], axes); }));
  };
  const auto both = chain({1, 2}), outer = chain({0, 1});
  for (std::size_t i = 0; i < m; ++i) {
    float acc = 0;
    for (std::size_t j = 0; j < k * l; ++j) acc = std::fma(a[i * k * l + j], b[i * k * l + j], acc);
    EXPECT_EQ(both[i], acc);
  }
  for (std::size_t c = 0; c < l; ++c) {
    float acc = 0;
    for (std::size_t j = 0; j < m * k; ++j) acc = std::fma(a[j * l + c], b[j * l + c], acc);
    EXPECT_EQ(outer[c], acc);
  }
}

Array dot(const Array& a, const Array& b) {
  const auto last = static_cast<std::int64_t>(std::max(a.extents.size(), b.extents.size())) - 1;
  return evaluate({a, b}, [&](Builder& builder, const auto& in) { return builder.reduce_dot(in[0], in[1], {{last}}); });
}

TEST(InterpReduce, DotIsStriped) {
  for (std::size_t n : {0u, 1u, 2u, 8u, 9u, 31u, 32u, 33u, 997u, 65535u, 65536u, 65537u, 131077u}) {
    const auto a = random_floats(n, 8), b = random_floats(n, 9);
    const auto extent = static_cast<std::int64_t>(n);
    const auto got = values<float>(dot(array({extent}, a), array({extent}, b)));
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(got[0]), std::bit_cast<std::uint32_t>(striped_dot(a, b))) << n;
  }
}

TEST(InterpReduce, DotOfEachRow) {
  const std::size_t batches = 2, rows = 3, k = 77;
  const auto a = random_floats(batches * rows * k, 10), x = random_floats(k, 11);
  std::vector<float> expected;
  for (std::size_t i = 0; i < batches * rows; ++i) expected.push_back(striped_dot(line(a, i * k, k), x));
  EXPECT_EQ(values<float>(dot(array({batches, rows, k}, a), array({k}, x))), expected);
}

TEST(InterpReduce, DotOfSpecialValues) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const auto one = [&](std::vector<float> a, std::vector<float> b) {
    const auto n = static_cast<std::int64_t>(a.size());
    return values<float>(dot(array({n}, std::move(a)), array({n}, std::move(b))))[0];
  };
  EXPECT_EQ(one({inf, 1}, {2, 3}), inf);
  EXPECT_TRUE(std::isnan(one({inf, inf}, {1, -1})));
  EXPECT_TRUE(std::isnan(one({inf, 1}, {0, 1})));
  EXPECT_TRUE(std::isnan(one({nan, 1}, {1, 1})));
  EXPECT_EQ(std::bit_cast<std::uint32_t>(one({-0.0f}, {1})), 0u);
  // The products are too small for a subnormal number, so every lane is -0. The sum of the blocks starts at +0.
  EXPECT_EQ(std::bit_cast<std::uint32_t>(one({-1e-30f}, {1e-30f})), 0u);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(one(std::vector<float>(32, -1e-30f), std::vector<float>(32, 1e-30f))), 0u);
}

TEST(InterpReduce, DotOfOtherTypes) {
  EXPECT_EQ(values<std::int8_t>(dot(array<std::int8_t>({3}, {100, 3, -7}), array<std::int8_t>({3}, {100, 5, 11}))),
            std::vector<std::int8_t>({static_cast<std::int8_t>(10000 + 15 - 77)}));  // wraps
  const std::vector<std::uint16_t> ones(4097, 0x3c00);  // f16 accumulates in f32 and rounds once: 4097 becomes 4096
  EXPECT_EQ(values<std::uint16_t>(dot(array({4097}, ones, DType::f16), array({4097}, ones, DType::f16))),
            std::vector<std::uint16_t>({0x6c00}));
  const std::vector<double> a{1, 0x1p-60, -1}, b{1, 1, 1};
  EXPECT_EQ(values<double>(dot(array({3}, a), array({3}, b))), std::vector<double>({0x1p-60}));  // (1 + -1) + 2^-60
}

}  // namespace
}  // namespace kiln::compiler::testing
