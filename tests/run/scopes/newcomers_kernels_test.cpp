// Kernels of first users: histograms, lookups, Life, sparse rows, small sorts, swaps in place.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>

#include "tests/run/scopes/run_scopes.h"

namespace newcomers_kernels_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;
inline constexpr dim<"H", facts{.min = 1}> H;
inline constexpr dim<"W", facts{.min = 1}> W;
inline constexpr dim<"C", facts{.min = 1}> C;

using Bytes = std::vector<unsigned char>;
using Ints = std::vector<int>;
using Floats = std::vector<float>;

struct histogram_by_atomics : program<histogram_by_atomics> {
  in<u8, H, W> img;
  out<i32, 256> h;
  constexpr void body() {
    h = 0;
    for (auto [y, x] : kernel(H, W)) h(img(y, x)).atomic_add(1);
  }
};
struct histogram_by_places : program<histogram_by_places> {
  in<u8, H, W> img;
  out<i32, 256> h;
  constexpr void body() {
    h = 0;
    h(img) += 1;
  }
};
struct looked_up : program<looked_up> {
  in<u8, H, W> img;
  in<u8, 256> lut;
  out<u8, H, W> y;
  constexpr void body() { y = lut(img); }
};

Bytes some_bytes(std::size_t n) {
  Bytes x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<unsigned char>(i * i * 7 + i / 3);
  return x;
}

TEST(NewcomersKernels, HistogramsAndLookups) {
  for (const auto& [h, w] : {std::pair{1, 1}, {3, 70}, {17, 33}}) {
    const Bytes x = some_bytes(static_cast<std::size_t>(h * w)), lut = some_bytes(256);
    Ints count(256);
    Bytes y;
    for (const unsigned char v : x) ++count[v], y.push_back(lut[v]);
    const auto image = scopes::tensor({h, w}, x);
    EXPECT_EQ(scopes::values<int>(scopes::run(ir<histogram_by_atomics>, {image, scopes::output<int>({256})})["h"]), count);
    EXPECT_EQ(scopes::values<int>(scopes::run(ir<histogram_by_places>, {image, scopes::output<int>({256})})["h"]), count);
    const auto got = scopes::run(ir<looked_up>, {image, scopes::tensor({256}, lut), scopes::output<unsigned char>({h, w})});
    EXPECT_EQ(scopes::values<unsigned char>(got["y"]), y);
  }
}

struct life_clamped : program<life_clamped> {
  in<u8, H, W> g;
  out<u8, H, W> y;
  constexpr void body() {
    for (auto [r, c] : kernel(H, W)) {
      auto n = var<u8>(0);
      for (int a = -1; a < 2; ++a)
        for (int b = -1; b < 2; ++b) n += g(r + a, c + b);
      y(r, c) = select<u8>(n == 3 || (n == 4 && g(r, c) == 1), 1, 0);
    }
  }
};
struct life_rolled : program<life_rolled> {
  in<u8, H, W> g;
  out<u8, H, W> y;
  constexpr void body() {
    auto v = roll<0, 1>(g) + g + roll<0, -1>(g);
    auto n = roll<1, 1>(v) + v + roll<1, -1>(v);
    y = cast<u8>(n == 3 || (n == 4 && g == 1));
  }
};

TEST(NewcomersKernels, Life) {
  for (const auto& [h, w] : {std::pair{1, 1}, {2, 5}, {9, 40}}) {
    Bytes g = some_bytes(static_cast<std::size_t>(h * w));
    for (unsigned char& v : g) v = v % 5 < 2 ? 1 : 0;
    const auto expected = [&](auto border) {
      Bytes y;
      for (int r = 0; r < h; ++r)
        for (int c = 0; c < w; ++c) {
          int n = 0;
          for (int a = -1; a < 2; ++a)
            for (int b = -1; b < 2; ++b) n += g[static_cast<std::size_t>(border(r + a, h) * w + border(c + b, w))];
          y.push_back(n == 3 || (n == 4 && g[static_cast<std::size_t>(r * w + c)] == 1) ? 1 : 0);
        }
      return y;
    };
    const auto values = [&](const kiln::dsl::record::program& p) {
      return scopes::values<unsigned char>(
          scopes::run(p, {scopes::tensor({h, w}, g), scopes::output<unsigned char>({h, w})})["y"]);
    };
    EXPECT_EQ(values(ir<life_clamped>), expected([](int i, int n) { return std::clamp(i, 0, n - 1); }));
    EXPECT_EQ(values(ir<life_rolled>), expected([](int i, int n) { return (i + n) % n; }));
  }
}

struct sparse_rows : program<sparse_rows> {
  in<i32, N + 1> start;
  in<i32, M> column;
  in<f32, M> value;
  in<f32, C> x;
  out<f32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto s = var(0.0f);
      for (auto k : loop(start(i), start(i + 1)))
        s += value.at<mode::unchecked>(k) * x.at<mode::unchecked>(column.at<mode::unchecked>(k));
      y(i) = s;
    }
  }
};

TEST(NewcomersKernels, SparseRows) {
  const int rows = 40, columns = 23;
  Ints start{0}, column;
  Floats value, x, y;
  for (int i = 0; i < columns; ++i) x.push_back(static_cast<float>(i % 7) - 2.5f);
  for (int i = 0; i < rows; ++i) {
    float sum = 0;
    for (int k = 0; k < i * 5 % 13; ++k) {
      column.push_back((i + 3 * k) % columns);
      value.push_back(0.25f * static_cast<float>(k + i));
      sum += value.back() * x[static_cast<std::size_t>(column.back())];
    }
    start.push_back(static_cast<int>(column.size()));
    y.push_back(sum);
  }
  const auto n = static_cast<std::int64_t>(column.size());
  const auto got =
      scopes::run(ir<sparse_rows>, {scopes::tensor({rows + 1}, start), scopes::tensor({n}, column), scopes::tensor({n}, value),
                                    scopes::tensor({columns}, x), scopes::output<float>({rows})});
  EXPECT_EQ(scopes::values<float>(got["y"]), y);
}

struct inserted : program<inserted> {
  in<f32, N, 8> x;
  out<f32, N, 8> y;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto a = local<f32, 8>();
      for (auto j : loop(8)) {
        auto v = x(i, j);
        auto k = var(j + 0);
        for (auto t : forever()) {
          break_if(k == 0);
          break_if(a(k - 1) <= v);
          a(k) = a(k - 1);
          k -= 1;
        }
        a(k) = v;
      }
      for (auto j : loop(8)) y(i, j) = a(j);
    }
  }
};
struct exchanged : program<exchanged> {
  inout<f32, N> x;
  constexpr void body() {
    for (auto t : loop(N))
      for (auto [i] : kernel<i64>(N)) {
        auto a = 2 * i + cast<i64>(t % 2);
        if (auto c = when(a + 1 < x.size<0, i64>())) {
          auto u = x(a), v = x(a + 1);
          x(a) = min(u, v);
          x(a + 1) = max(u, v);
        }
      }
  }
};

TEST(NewcomersKernels, SmallSorts) {
  for (const int n : {0, 1, 2, 5, 21}) {
    Floats x;
    for (int i = 0; i < 8 * n; ++i) x.push_back(static_cast<float>(i * 37 % 101 - 50));
    Floats rows = x, all = x;
    for (auto at = rows.begin(); at != rows.end(); at += 8) std::sort(at, at + 8);
    std::ranges::sort(all);
    const auto got = scopes::run(ir<inserted>, {scopes::tensor({n, 8}, x), scopes::output<float>({n, 8})});
    EXPECT_EQ(scopes::values<float>(got["y"]), rows);
    EXPECT_EQ(scopes::values<float>(scopes::run(ir<exchanged>, {scopes::tensor({8 * n}, x)})["x"]), all);
  }
}

struct interleaved : program<interleaved> {
  in<f32, N> x;
  inout<f32, 2 * N> y;
  constexpr void body() {
    for (auto [i] : kernel<i64>(N)) {
      y(2 * i) = x(i);
      y(2 * i + 1) = -x(i);
    }
  }
};
struct reversed : program<reversed> {
  inout<f32, N> x;
  constexpr void body() {
    for (auto [i] : kernel<N / 2>()) {
      auto j = x.size<0>() - 1 - i;
      auto a = x(i), b = x(j);
      x(i) = b;
      x(j) = a;
    }
  }
};
struct replaced : program<replaced> {  // s is the old x(i)
  inout<f32, N> x;
  out<f32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto s = x(i);
      x(i) = 5;
      y(i) = s;
    }
  }
};
struct nothing_done : program<nothing_done> {
  inout<f32, N> x;
  constexpr void body() {
    for (auto c : loop(2))
      for (auto [i] : kernel<N / 2>()) {
      }
  }
};

TEST(NewcomersKernels, SwapsAndPairs) {
  for (const int n : {0, 1, 2, 9, 64}) {
    Floats x, pairs;
    for (int i = 0; i < n; ++i) {
      x.push_back(static_cast<float>(i) + 0.5f);
      pairs.insert(pairs.end(), {x.back(), -x.back()});
    }
    const auto given = scopes::tensor({n}, x);
    EXPECT_EQ(scopes::values<float>(scopes::run(ir<interleaved>, {given, scopes::output<float>({2 * n})})["y"]), pairs);
    EXPECT_EQ(scopes::values<float>(scopes::run(ir<reversed>, {given})["x"]), Floats(x.rbegin(), x.rend()));
    EXPECT_EQ(scopes::values<float>(scopes::run(ir<nothing_done>, {given})["x"]), x);
    const auto got = scopes::run(ir<replaced>, {given, scopes::output<float>({n})});
    EXPECT_EQ(scopes::values<float>(got["x"]), Floats(static_cast<std::size_t>(n), 5.0f));
    EXPECT_EQ(scopes::values<float>(got["y"]), x);
  }
}

struct own_elements : program<own_elements> {  // a work item reads its own writes, in a tensor and in an array
  inout<i32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto s = y(i) + 0;
      y(i) = 5;
      auto t = y(i);
      y(i) = 9;
      y(i) = s * 100 + t * 10 + y(i);
      auto h = local<i32, 8>();
      for (auto j : loop(20)) h(j * (i + 1) % 8) += j;
      auto w = h(0);
      h(0) = -1;
      y(i) = y(i) + w * 1000 + h(0) + h(1);
    }
  }
};

TEST(NewcomersKernels, ReadsOfOwnWrites) {
  Ints y, expected;
  for (int i = 0; i < 50; ++i) {
    y.push_back(i * 7 % 20);
    int h[8] = {};
    for (int j = 0; j < 20; ++j) h[j * (i + 1) % 8] += j;
    expected.push_back(y.back() * 100 + 50 + 9 + h[0] * 1000 - 1 + h[1]);
  }
  EXPECT_EQ(scopes::values<int>(scopes::run(ir<own_elements>, {scopes::tensor({50}, y)})["y"]), expected);
}

}  // namespace

}  // namespace newcomers_kernels_test
