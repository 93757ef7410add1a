// Kernels with workgroups: work items that have nothing to do between two barriers, and elements that lanes reach by shuffles.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <bit>
#include <utility>

#include "tests/run/scopes/workgroups.h"

namespace workgroup_lanes_test {

using namespace kiln;

namespace {

using scopes::each_workgroup;
using scopes::H;
using scopes::integers;
using scopes::N;
using scopes::W;

// Between two barriers only work items below a bound do something, or only one work item, which may not exist.
struct bounded : program<bounded> {
  in<i32, N> x;
  in<i32> m;
  out<i32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N).workgroup<64>()) {
      auto s = shared<i32, 64>();
      auto t = local_id(i);
      s(t) = x(i);
      for (auto bit : loop(6)) {
        auto half = 32 >> bit;
        barrier();
        if (auto c = when(t < half)) s(t) += s(t + half);
      }
      barrier();
      if (auto c = when(t <= m && t < 50)) s(t) += 1000 * t;
      barrier();
      if (auto c = when(t == m)) s(63 - t) = 7;
      barrier();
      if (auto c = when(3 == t)) {
        for (auto k : loop(4)) s(t + k) += k;
      }
      barrier();
      y(i) = s(t);
    }
  }
};
TEST(Workgroups, WorkItemsWithNothingToDo) {
  for (const int m : {-5, 0, 3, 17, 63, 64, 1000})
    for (const int n : {7, 64, 200}) {
      const auto x = integers(n);
      std::vector<int> y(x.size());
      each_workgroup(n, 64, [&](int first, int end) {
        std::array<int, 64> s{};
        const int size = end - first;
        const auto at = [&](int t) -> int& { return s[static_cast<std::size_t>(std::clamp(t, 0, 63))]; };
        for (int t = 0; t < size; ++t) at(t) = x[static_cast<std::size_t>(first + t)];
        for (int half = 32; half > 0; half /= 2)
          for (int t = 0; t < std::min(half, size); ++t) at(t) += at(t + half);
        for (int t = 0; t < size; ++t)
          if (t <= m && t < 50) at(t) += 1000 * t;
        if (m >= 0 && m < size) at(63 - m) = 7;
        for (int k = 0; k < 4 && size > 3; ++k) at(3 + k) += k;
        for (int t = 0; t < size; ++t) y[static_cast<std::size_t>(first + t)] = at(t);
      });
      const auto r =
          scopes::run(ir<bounded>, {scopes::tensor({n}, x), scopes::tensor({}, std::vector<int>{m}), scopes::output<int>({n})});
      EXPECT_EQ(scopes::values<int>(r["y"]), y) << n << ", " << m;
    }
}

// Pairs of elements with distance `half`: the halves of blocks, by contiguous vectors and shuffles.
template <class T>
struct butterflies : program<butterflies<T>> {
  in<T, N> x;
  out<T, N> y;
  constexpr void body() {
    for (auto [i] : this->kernel(N).template workgroup<64>()) {
      auto s = this->template shared<T, 128>();
      auto t = this->local_id(i);
      s(t) = x(i);
      s(127 - t) = x(i) + x(i);
      for (int half = 1; half < 128; half *= 2) {
        this->barrier();
        auto low = t & (half - 1);
        auto k = 2 * (t - low) + low;
        auto a = s(k) + 0, b = s(k + half) + 0;
        s(k) = a + b;
        s(k + half) = a - b;
      }
      this->barrier();
      y(i) = s(t ^ 5) + s(t / 8 * 8) - s(2 * t + 1);
    }
  }
};
template <class T, class V>
void check_butterflies() {
  for (const int n : {64, 192, 70}) {
    std::vector<V> x;
    for (const int v : integers(n)) x.push_back(static_cast<V>(v % 8));
    std::vector<V> y(x.size());
    each_workgroup(n, 64, [&](int first, int end) {
      std::array<V, 128> s{};
      const auto at = [&](int t) -> V& { return s[static_cast<std::size_t>(t)]; };
      for (int t = 0; first + t < end; ++t) {
        at(t) = x[static_cast<std::size_t>(first + t)];
        at(127 - t) = static_cast<V>(at(t) + at(t));
      }
      for (int half = 1; half < 128; half *= 2)
        for (int t = 0; first + t < end; ++t) {
          const int low = t & (half - 1), k = 2 * (t - low) + low;
          const V a = at(k), b = at(k + half);
          at(k) = static_cast<V>(a + b);
          at(k + half) = static_cast<V>(a - b);
        }
      for (int t = 0; first + t < end; ++t)
        y[static_cast<std::size_t>(first + t)] = static_cast<V>(at(t ^ 5) + at(t / 8 * 8) - at(2 * t + 1));
    });
    const auto r = scopes::run(ir<butterflies<T>>, {scopes::tensor({n}, x), scopes::output<V>({n})});
    EXPECT_EQ(scopes::values<V>(r["y"]), y) << n;
  }
}
TEST(Workgroups, PlacesByShuffles) {
  check_butterflies<f32, float>();
  check_butterflies<f64, double>();
  check_butterflies<i32, std::int32_t>();
  check_butterflies<i64, std::int64_t>();
  check_butterflies<i16, std::int16_t>();
  check_butterflies<u8, std::uint8_t>();
}

// A tree in a shared array and a scan by distances, over whole workgroups and a smaller last one. The tree is written by a
// loop, and its last steps are shorter than a vector. The scan reads across vectors.
template <class T, int size>
struct trees : program<trees<T, size>> {
  in<T, N> x;
  out<T, N> y, z;
  constexpr void body() {
    for (auto [i] : this->kernel(N).template workgroup<size>()) {
      auto s = this->template shared<T, size>(), r = this->template shared<T, size>();
      auto t = this->local_id(i);
      s(t) = x(i);
      r(t) = x(i) + x(i);
      for (auto bit : this->loop(std::bit_width(static_cast<unsigned>(size)) - 1)) {
        auto half = (size / 2) >> bit;
        this->barrier();
        if (auto c = this->when(t < half)) s(t) = max(s(t) + s(t + half), s(t));
      }
      for (int distance = 1; distance < size; distance *= 2) {
        this->barrier();
        auto before = this->var(r(t));
        if (auto c = this->when(t >= distance)) before += r(t - distance);
        this->barrier();
        r(t) = before;
      }
      this->barrier();
      y(i) = s(0) - r(size - 1 - t);
      z(i) = r(t);
    }
  }
};
template <class T, class V, int size>
void check_trees() {
  for (const int n : {size - 1, size, 3 * size, 2 * size + 5}) {
    std::vector<V> x;
    for (const int v : integers(n)) x.push_back(static_cast<V>(v % 4));
    std::vector<V> y(x.size()), z(x.size());
    each_workgroup(n, size, [&](int first, int end) {
      std::array<V, size> s{}, r{};
      const auto at = [&](auto& a, int t) -> V& { return a[static_cast<std::size_t>(std::clamp(t, 0, size - 1))]; };
      for (int t = 0; first + t < end; ++t) {
        at(s, t) = x[static_cast<std::size_t>(first + t)];
        at(r, t) = static_cast<V>(at(s, t) + at(s, t));
      }
      for (int half = size / 2; half > 0; half /= 2)
        for (int t = 0; t < half && first + t < end; ++t)
          at(s, t) = std::max(static_cast<V>(at(s, t) + at(s, t + half)), at(s, t));
      for (int distance = 1; distance < size; distance *= 2)
        for (int t = end - first - 1; t >= distance; --t) at(r, t) = static_cast<V>(at(r, t) + at(r, t - distance));
      for (int t = 0; first + t < end; ++t) {
        y[static_cast<std::size_t>(first + t)] = static_cast<V>(at(s, 0) - at(r, size - 1 - t));
        z[static_cast<std::size_t>(first + t)] = at(r, t);
      }
    });
    const auto r = scopes::run(ir<trees<T, size>>, {scopes::tensor({n}, x), scopes::output<V>({n}), scopes::output<V>({n})});
    EXPECT_EQ(scopes::values<V>(r["y"]), y) << n;
    EXPECT_EQ(scopes::values<V>(r["z"]), z) << n;
  }
}
TEST(Workgroups, TreesInRegisters) {
  check_trees<f32, float, 64>();
  check_trees<f64, double, 16>();
  check_trees<i32, std::int32_t, 128>();
  check_trees<u8, std::uint8_t, 32>();
}

// Workgroups that are smaller on one axis, or on both.
struct sums_of_tiles : program<sums_of_tiles> {
  in<i32, H, W> x;
  out<i32, H, W> y;
  constexpr void body() {
    for (auto [i, j] : kernel(H, W).workgroup<4, 8>()) {
      auto s = shared<i32, 4, 8>();
      auto a = local_id(i), b = local_id(j);
      s(a, b) = x(i, j);
      barrier();
      if (auto c = when(a < 2)) s(a, b) += s(a + 2, b);
      barrier();
      if (auto c = when(b < 4)) s(a, b) += s(a, b + 4);
      barrier();
      y(i, j) = s(a % 2, b % 4) + 100 * s(0, b);
    }
  }
};
TEST(Workgroups, SmallerOnOneAxis) {
  for (const auto& [h, w] : {std::pair(8, 16), std::pair(8, 13), std::pair(7, 16), std::pair(3, 5), std::pair(9, 17)}) {
    const auto x = integers(h * w);
    std::vector<int> y(x.size());
    each_workgroup(h, 4, [&](int top, int bottom) {
      each_workgroup(w, 8, [&, w_ = w](int left, int right) {
        std::array<std::array<int, 8>, 4> s{};
        const auto at = [&](int a, int b) -> int& { return s[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)]; };
        const auto each = [&](auto&& f) {
          for (int a = 0; top + a < bottom; ++a)
            for (int b = 0; left + b < right; ++b) f(a, b);
        };
        const auto place = [&](int a, int b) { return static_cast<std::size_t>((top + a) * w_ + left + b); };
        each([&](int a, int b) { at(a, b) = x[place(a, b)]; });
        each([&](int a, int b) { at(a, b) += a < 2 ? at(a + 2, b) : 0; });
        each([&](int a, int b) { at(a, b) += b < 4 ? at(a, b + 4) : 0; });
        each([&](int a, int b) { y[place(a, b)] = at(a % 2, b % 4) + 100 * at(0, b); });
      });
    });
    const auto r = scopes::run(ir<sums_of_tiles>, {scopes::tensor({h, w}, x), scopes::output<int>({h, w})});
    EXPECT_EQ(scopes::values<int>(r["y"]), y) << h << ", " << w;
  }
}

}  // namespace

}  // namespace workgroup_lanes_test
