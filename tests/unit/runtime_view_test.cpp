// The C++ face: views, their conversions, and a header as the generator writes it.
#include <gtest/gtest.h>

#include <array>
#include <concepts>
#include <span>
#include <type_traits>
#include <vector>

#include "kiln/pool.h"
#include "kiln/view.h"
#include "runtime_row_sum.h"

namespace {

constexpr auto dyn = kiln::dynamic_extent;
template <class From, class To>
constexpr bool converts = std::is_convertible_v<From, To>;

static_assert(converts<kiln::view<float, 4, 3>, kiln::view<float, dyn, 3>>);
static_assert(converts<kiln::view<float, 4, 3>, kiln::view<const float, dyn, dyn>>);
static_assert(!converts<kiln::view<const float, 4>, kiln::view<float, 4>>);
static_assert(!converts<kiln::view<float, 4>, kiln::view<float, 5>>);
static_assert(!converts<kiln::view<float, dyn>, kiln::view<float, 5>>);
static_assert(!converts<kiln::view<float, 4>, kiln::view<double, 4>>);
static_assert(!converts<kiln::view<float, 4>, kiln::view<float, 4, 1>>);
static_assert(converts<std::vector<float>&, kiln::view<const float, dyn>>);
static_assert(converts<std::vector<float>&, kiln::view<float, 3072>>, "checked when the kernel is called");
static_assert(!converts<const std::vector<float>&, kiln::view<float, dyn>>);
static_assert(!converts<std::vector<double>&, kiln::view<float, dyn>>);
static_assert(converts<std::array<float, 4>&, kiln::view<float, 4>>);
static_assert(!converts<std::array<float, 4>&, kiln::view<float, 5>>);
static_assert(converts<std::span<float, 4>, kiln::view<const float, 4>>);
static_assert(!converts<std::span<float, 4>, kiln::view<const float, 5>>);
static_assert(converts<float (&)[4], kiln::view<float, 4>>);
static_assert(!converts<float (&)[4], kiln::view<float, 5>>);
static_assert(converts<float (&)[2][4], kiln::view<float, dyn, 4>>);
static_assert(converts<const float (&)[2][4], kiln::view<const float, dyn, 4>>);
static_assert(!converts<const float (&)[2][4], kiln::view<float, dyn, 4>>);
static_assert(!converts<float (&)[2][4], kiln::view<float, dyn, 5>>);
static_assert(!converts<float (&)[2][4], kiln::view<float, dyn>>);
static_assert(!std::is_constructible_v<kiln::view<float, dyn, 4>, float*>, "needs one dynamic extent");
static_assert(std::is_constructible_v<kiln::view<float, dyn, 4>, float*, int>);
static_assert(sizeof(kiln::float16) == 2 && sizeof(kiln::bfloat16) == 2);
static_assert(std::is_trivially_copyable_v<kiln::view<float, dyn, 4>>);

TEST(View, Vocabulary) {
  float data[6] = {0, 1, 2, 3, 4, 5};
  kiln::view<float, dyn, 3> v(data, 2);
  static_assert(v.rank() == 2 && v.rank_dynamic() == 1 && v.static_extent(1) == 3);
  EXPECT_EQ(v.extent(0), 2);
  EXPECT_EQ(v.extent(1), 3);
  EXPECT_EQ(v.size(), 6);
  EXPECT_EQ(v(1, 2), 5.0f);
  v(0, 1) = 9;
  EXPECT_EQ(data[1], 9.0f);
  const kiln_tensor t = kiln::tensor_of(v);
  EXPECT_EQ(t.data, data);
  EXPECT_EQ(t.rank, 2);
  EXPECT_EQ(t.dtype, KILN_F32);
  EXPECT_EQ(t.extents[0], 2);
}

TEST(View, OfNestedArray) {
  double a[2][3][4] = {};
  a[1][2][3] = 5;
  const kiln::view<double, 2, dyn, 4> v = a;
  EXPECT_EQ(v.extent(1), 3);
  EXPECT_EQ(v(1, 2, 3), 5.0);
}

TEST(GeneratedHeader, Calls) {
  float x[6][4];
  for (auto& row : x)
    for (float& e : row) e = 1;
  std::array<float, 3> w{0.5f, 0, 0};
  std::vector<float> y(6);
  EXPECT_TRUE(test::row_sum(x, w, 2.0f, y));
  EXPECT_EQ(y, std::vector<float>(6, 8.5f));
}

TEST(GeneratedHeader, ReportsErrors) {
  const float x[6][4] = {};
  std::vector<float> w(3), y(5, 7.0f);
  const kiln::status s = test::row_sum(x, w, 2.0f, y);
  EXPECT_FALSE(s.ok());
  EXPECT_FALSE(static_cast<bool>(s));
  EXPECT_EQ(s.code(), KILN_R_CONFLICT);
  EXPECT_EQ(s.message(), "R-conflict: program row_sum: extent N: argument y axis 0 is 5, but argument x axis 0 gave 6");
  EXPECT_EQ(y, std::vector<float>(5, 7.0f));
}

TEST(GeneratedHeader, TakesExecutorWorkspaceAndAllocator) {
  kiln::pool pool(2);
  const std::int64_t n = 100000;
  std::vector<float> x(4 * n, 1.0f), w(3, 0.5f), y(n);
  const kiln::view<const float, dyn, 4> rows(x.data(), n);
  EXPECT_TRUE(test::row_sum(rows, w, 2.0f, y, kiln::context().executor(pool.executor())));
  EXPECT_EQ(y, std::vector<float>(n, 8.5f));
  kiln::context none;
  none.allocator([](void*, std::size_t, std::size_t) -> void* { return nullptr; }, nullptr, nullptr);
  EXPECT_EQ(test::row_sum(rows, w, 2.0f, y, none).code(), KILN_R_OOM);
  struct alignas(64) Line {
    char bytes[64];
  };
  std::vector<Line> space(n * 4 / 64);
  EXPECT_TRUE(test::row_sum(rows, w, 2.0f, y, none.workspace(space.data(), n * 4)));
}

}  // namespace
