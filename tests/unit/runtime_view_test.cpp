// The C++ interface: views, their conversions, and a header in the generator's form.
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

// Like std::mdspan<T, extents<size_t, dyn, Columns>, L> for a layout L with any strides.
template <class T, std::size_t Columns = std::dynamic_extent>
struct matrix {
  T* data;
  std::size_t sizes[2], steps[2];
  static constexpr std::size_t rank() { return 2; }
  static constexpr std::size_t static_extent(std::size_t r) { return r == 0 ? std::dynamic_extent : Columns; }
  T* data_handle() const { return data; }
  std::size_t extent(std::size_t r) const { return sizes[r]; }
  std::size_t stride(std::size_t r) const { return steps[r]; }
};
static_assert(converts<matrix<float>, kiln::view<float, dyn, dyn>>);
static_assert(converts<matrix<float>&, kiln::view<const float, dyn, dyn>>);
static_assert(converts<matrix<float>, kiln::view<float, dyn, 3>>, "checked when the kernel is called");
static_assert(converts<matrix<float, 3>, kiln::view<float, dyn, 3>>);
static_assert(!converts<matrix<float, 4>, kiln::view<float, dyn, 3>>);
static_assert(!converts<matrix<const float>, kiln::view<float, dyn, dyn>>);
static_assert(!converts<matrix<double>, kiln::view<float, dyn, dyn>>);
static_assert(!converts<matrix<float>, kiln::view<float, dyn>>);
static_assert(!converts<matrix<float>, kiln::view<float, dyn, dyn, dyn>>);

TEST(View, Strides) {
  float data[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const kiln::view<float, dyn, dyn> crop(&data[5], {2, 3}, {4, 1}), dense(data, 3, 4);
  EXPECT_TRUE(crop.has_strides());
  EXPECT_EQ(crop.stride(0), 4);
  EXPECT_EQ(crop(1, 2), 11.0f);
  EXPECT_EQ(crop.size(), 6);
  EXPECT_FALSE(dense.has_strides());
  EXPECT_EQ(dense.strides(), nullptr);
  EXPECT_EQ(dense.stride(0), 4);
  EXPECT_EQ(dense.stride(1), 1);
  const kiln::view<const float, dyn, dyn> copy = crop;
  EXPECT_EQ(kiln::tensor_of(copy).strides[0], 4);
  EXPECT_EQ(kiln::tensor_of(dense).strides, nullptr);
  kiln::view<const float, dyn, dyn> written = dense;
  const kiln_tensor t = kiln::strided_tensor_of(written);
  EXPECT_EQ(t.strides[0], 4);
  EXPECT_EQ(t.strides[1], 1);
  const kiln::view<float, dyn> backwards(&data[11], {12}, {-1});
  EXPECT_EQ(backwards(3), 8.0f);
  constexpr kiln::view<const float, 2> none(nullptr, {2}, {0});
  static_assert(none.stride(0) == 0 && none.has_strides());
}

TEST(View, Mdspan) {
  float data[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const kiln::view<const float, dyn, dyn> right = matrix<float>{data, {3, 4}, {4, 1}},
                                          left = matrix<float>{data, {4, 3}, {1, 4}};
  EXPECT_FALSE(right.has_strides());
  EXPECT_EQ(right(2, 1), 9.0f);
  EXPECT_TRUE(left.has_strides());
  EXPECT_EQ(left(1, 2), 9.0f);
}

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
