// Tensor algebra of first users: values that rotate, views, narrow integers, scatters.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "tests/run/scopes/run_scopes.h"

namespace newcomers_tensors_test {

using namespace kiln;

namespace {

inline constexpr dim<"N", facts{.min = 1}> N;
inline constexpr dim<"M", facts{.min = 1}> M;
inline constexpr dim<"E"> E;  // may be 0

using Ints = std::vector<int>;
using Floats = std::vector<float>;

int wrapped(int a, int n) { return (a % n + n) % n; }

struct rotated : program<rotated> {
  in<i32> n;
  inout<i32, N> a, b, c;
  out<i32> iterations;
  constexpr void body() {
    iterations = 0;
    auto p = var(a), q = var(b), r = var(c);
    for (auto t : loop(n)) {
      auto s = p + q - 3 * r;
      p = q;
      if (auto k = when(max(s) > 100)) {
        s(0);
        q = r + 1;
      }
      if (auto k = otherwise(sum(s) < 0)) q = s;
      continue_if(t % 3 == 1);
      r = s + t;
      iterations = t + 1;
      break_if(sum(r) % 17 == 5);
      p(0) = t;
    }
    a = p;
    b = q;
    c = r;
  }
};

// The same in C++. Returns the number of iterations.
int rotate(int n, Ints& p, Ints& q, Ints& r) {
  int iterations = 0;
  for (int t = 0; t < n; ++t) {
    Ints s;
    for (std::size_t i = 0; i < p.size(); ++i) s.push_back(p[i] + q[i] - 3 * r[i]);
    p = q;
    if (std::ranges::max(s) > 100) {
      q = r;
      for (int& v : q) ++v;
    } else if (std::accumulate(s.begin(), s.end(), 0) < 0) {
      q = s;
    }
    if (t % 3 == 1) continue;
    r = s;
    for (int& v : r) v += t;
    iterations = t + 1;
    if (std::accumulate(r.begin(), r.end(), 0) % 17 == 5) break;
    p[0] = t;
  }
  return iterations;
}

TEST(NewcomersTensors, ValuesThatRotate) {
  for (const int n : {0, 1, 2, 5, 13}) {
    Ints a, b, c;
    for (int i = 0; i < 9; ++i) {
      a.push_back(i * 23 % 60 - 30);
      b.push_back(i * 41 % 60 - 30);
      c.push_back(i * 17 % 60 - 30);
    }
    const auto got = scopes::run(ir<rotated>, {scopes::scalar(n), scopes::tensor({9}, a), scopes::tensor({9}, b),
                                               scopes::tensor({9}, c), scopes::output<int>({})});
    const int iterations = rotate(n, a, b, c);
    EXPECT_EQ(scopes::values<int>(got["a"]), a) << n;
    EXPECT_EQ(scopes::values<int>(got["b"]), b) << n;
    EXPECT_EQ(scopes::values<int>(got["c"]), c) << n;
    EXPECT_EQ(scopes::values<int>(got["iterations"]), Ints{iterations}) << n;
  }
}

struct moved : program<moved> {
  in<i32, N, M> x;
  out<i32, N, M> a, b, c;
  out<i32, N + 4, M> d;
  out<i32, N, 2 * M> e;
  out<i64, N> f;
  out<i64> g;
  constexpr void body() {
    a = roll<1, 5>(roll<0, -3>(x));
    b = slice<0, none, none, -1>(flip<1>(x));
    c = transpose(transpose(x) + 0) - sum<0>(x, keepdims);
    d = pad<0, 3, 1, pad_mode::wrap>(x);
    e = concat<1>(x, repeat<1, 1>(-x));
    f = argmax<1>(x % 3);
    g = argmin(x % 5);
  }
};

struct Moved {
  Ints a, b, c, d, e;
  std::vector<std::int64_t> f;
  std::int64_t g = 0;
};

Moved moved_in_cpp(const Ints& x, int n, int m) {
  const auto at = [&](int i, int j) { return x[static_cast<std::size_t>(wrapped(i, n) * m + wrapped(j, m))]; };
  Moved r;
  for (int i = 0; i < n; ++i) {
    int greatest = 0;
    for (int j = 0; j < m; ++j) {
      int column = 0;
      for (int k = 0; k < n; ++k) column += at(k, j);
      r.a.push_back(at(i + 3, j - 5));
      r.b.push_back(at(n - 1 - i, m - 1 - j));
      r.c.push_back(at(i, j) - column);
      if (at(i, j) % 3 > at(i, greatest) % 3) greatest = j;
    }
    for (int j = 0; j < 2 * m; ++j) r.e.push_back(j < m ? at(i, j) : -at(i, j));
    r.f.push_back(greatest);
  }
  for (int i = -3; i < n + 1; ++i)
    for (int j = 0; j < m; ++j) r.d.push_back(at(i, j));
  const auto less = [](int u, int v) { return u % 5 < v % 5; };
  r.g = std::min_element(x.begin(), x.end(), less) - x.begin();
  return r;
}

TEST(NewcomersTensors, ViewsAndPlacesOfExtremes) {
  for (const auto& [n, m] : {std::pair{3, 1}, {4, 3}, {7, 11}, {33, 70}}) {  // at least 3, because of the padding
    Ints x;
    for (int i = 0; i < n * m; ++i) x.push_back(i * 71 % 200 - 100);
    const Moved want = moved_in_cpp(x, n, m);
    const auto got =
        scopes::run(ir<moved>, {scopes::tensor({n, m}, x), scopes::output<int>({n, m}), scopes::output<int>({n, m}),
                                scopes::output<int>({n, m}), scopes::output<int>({n + 4, m}), scopes::output<int>({n, 2 * m}),
                                scopes::output<std::int64_t>({n}), scopes::output<std::int64_t>({})});
    EXPECT_EQ(scopes::values<int>(got["a"]), want.a);
    EXPECT_EQ(scopes::values<int>(got["b"]), want.b);
    EXPECT_EQ(scopes::values<int>(got["c"]), want.c);
    EXPECT_EQ(scopes::values<int>(got["d"]), want.d);
    EXPECT_EQ(scopes::values<int>(got["e"]), want.e);
    EXPECT_EQ(scopes::values<std::int64_t>(got["f"]), want.f);
    EXPECT_EQ(scopes::values<std::int64_t>(got["g"])[0], want.g);
  }
}

struct rolled : program<rolled> {
  in<f32, E> x;
  out<f32, E> y, z;
  constexpr void body() {
    y = roll<0, 1>(x);
    z = roll<0, -3>(x);
  }
};
struct triples : program<triples> {  // E occurs only in 3 E
  in<u8, 3 * E> x;
  out<u8, 3 * E> y;
  constexpr void body() { y = x; }
};

TEST(NewcomersTensors, ExtentsOfAnySize) {
  for (const int n : {0, 1, 2, 3, 10}) {
    Floats x, y, z;
    for (int i = 0; i < n; ++i) x.push_back(static_cast<float>(i));
    for (int i = 0; i < n; ++i) {
      y.push_back(static_cast<float>(wrapped(i - 1, n)));
      z.push_back(static_cast<float>(wrapped(i + 3, n)));
    }
    const auto got = scopes::run(ir<rolled>, {scopes::tensor({n}, x), scopes::output<float>({n}), scopes::output<float>({n})});
    EXPECT_EQ(scopes::values<float>(got["y"]), y);
    EXPECT_EQ(scopes::values<float>(got["z"]), z);
    const std::vector<unsigned char> bytes(static_cast<std::size_t>(3 * n), 7);
    const auto same = scopes::run(ir<triples>, {scopes::tensor({3 * n}, bytes), scopes::output<unsigned char>({3 * n})});
    EXPECT_EQ(scopes::values<unsigned char>(same["y"]), bytes);
  }
}

struct bytes8 : program<bytes8> {
  in<i8, N> a, b;
  out<i8, N> add, mul, div, mod, floor, rest, shl, shr;
  constexpr void body() {
    add = a + b;
    mul = a * b;
    div = a / b;
    mod = a % b;
    floor = floordiv(a, b);
    rest = floormod(a, b);
    shl = a << b;
    shr = a >> b;
  }
};

TEST(NewcomersTensors, EveryByteByNine) {
  std::vector<signed char> a, b;
  std::map<std::string, std::vector<signed char>> want;
  for (const int y : {0, 1, -1, 7, -7, 127, -128, 3, 9})
    for (int x = -128; x < 128; ++x) {
      const int quotient = y == 0 ? 0 : static_cast<int>(std::floor(static_cast<double>(x) / y));
      const std::pair<const char*, int> all[] = {{"add", x + y},
                                                 {"mul", x * y},
                                                 {"div", y == 0 ? 0 : x / y},
                                                 {"mod", y == 0 ? 0 : x % y},
                                                 {"floor", quotient},
                                                 {"rest", y == 0 ? 0 : x - y * quotient},
                                                 {"shl", x * (1 << (y & 7))},
                                                 {"shr", x >> (y & 7)}};
      a.push_back(static_cast<signed char>(x));
      b.push_back(static_cast<signed char>(y));
      for (const auto& [output, v] : all) want[output].push_back(static_cast<signed char>(v));
    }
  const auto n = static_cast<std::int64_t>(a.size());
  std::vector<scopes::Array> arguments{scopes::tensor({n}, a), scopes::tensor({n}, b)};
  for (int i = 0; i < 8; ++i) arguments.push_back(scopes::output<signed char>({n}));
  const auto got = scopes::run(ir<bytes8>, arguments);
  for (const auto& [output, v] : want) EXPECT_EQ(scopes::values<signed char>(got[output]), v) << output;
}

struct saturated : program<saturated> {
  in<f32, N> f;
  in<i8, N> a;
  out<u8, N> bytes;
  out<i8, N> chars;
  out<u32, N> words;
  out<i32, N> widened;
  constexpr void body() {
    bytes = cast<u8>(f);
    chars = cast<i8>(f);
    words = cast<u32>(f);
    widened = cast<i32>(cast<u8>(a));
  }
};

template <class T>
T nearest(float f) {
  const double d = f, low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  return std::isnan(d) ? T{0} : static_cast<T>(std::clamp(d, low, high));
}

TEST(NewcomersTensors, CastsSaturate) {
  Floats f{NAN, INFINITY, -INFINITY, 1e20f, -0.9f, 255.9f, 4294967040.0f, 3e9f};
  for (int i = 0; i < 200; ++i) f.push_back(static_cast<float>(i * 37 % 201 - 100) * 5.3f);
  std::vector<signed char> a, chars;
  std::vector<unsigned char> bytes;
  std::vector<unsigned> words;
  Ints widened;
  for (std::size_t i = 0; i < f.size(); ++i) {
    a.push_back(static_cast<signed char>(i * 3));
    widened.push_back(static_cast<unsigned char>(i * 3));
    bytes.push_back(nearest<unsigned char>(f[i]));
    chars.push_back(nearest<signed char>(f[i]));
    words.push_back(nearest<unsigned>(f[i]));
  }
  const auto n = static_cast<std::int64_t>(f.size());
  const auto got =
      scopes::run(ir<saturated>, {scopes::tensor({n}, f), scopes::tensor({n}, a), scopes::output<unsigned char>({n}),
                                  scopes::output<signed char>({n}), scopes::output<unsigned>({n}), scopes::output<int>({n})});
  EXPECT_EQ(scopes::values<unsigned char>(got["bytes"]), bytes);
  EXPECT_EQ(scopes::values<signed char>(got["chars"]), chars);
  EXPECT_EQ(scopes::values<unsigned>(got["words"]), words);
  EXPECT_EQ(scopes::values<int>(got["widened"]), widened);
}

struct scattered : program<scattered> {
  in<i32, M> k;
  in<f32, M> v;
  inout<f32, N> y;
  out<f32, M> before;
  out<i32, N> last;
  constexpr void body() {
    before = y(k).atomic_add(v);
    y(k) *= 0.5f;
    last = -1;
    last(k) = iota<0, i32>(k);
    y.at<mode::wrap>(k + 1) = max(v, 0.25f);
  }
};

TEST(NewcomersTensors, Scatters) {
  for (const auto& [n, m] : {std::pair{1, 3}, {5, 17}, {100, 1000}}) {
    Ints k, last(static_cast<std::size_t>(n), -1);
    Floats v, y, before;
    for (int i = 0; i < m; ++i) {
      k.push_back(i * 29 % (n + 6) - 3);
      v.push_back(static_cast<float>(i * 13 % 64) / 32 - 1);
    }
    for (int i = 0; i < n; ++i) y.push_back(static_cast<float>(i) / 4);
    const auto got = scopes::run(ir<scattered>, {scopes::tensor({m}, k), scopes::tensor({m}, v), scopes::tensor({n}, y),
                                                 scopes::output<float>({m}), scopes::output<int>({n})});
    const auto place = [&](std::size_t i) { return static_cast<std::size_t>(std::clamp(k[i], 0, n - 1)); };
    for (std::size_t i = 0; i < k.size(); ++i) {
      before.push_back(y[place(i)]);
      y[place(i)] += v[i];
      last[place(i)] = static_cast<int>(i);
    }
    for (std::size_t i = 0; i < k.size(); ++i) y[place(i)] *= 0.5f;
    for (std::size_t i = 0; i < k.size(); ++i) y[static_cast<std::size_t>(wrapped(k[i] + 1, n))] = std::max(v[i], 0.25f);
    EXPECT_EQ(scopes::values<float>(got["y"]), y);
    EXPECT_EQ(scopes::values<float>(got["before"]), before);
    EXPECT_EQ(scopes::values<int>(got["last"]), last);
  }
}

}  // namespace

}  // namespace newcomers_tensors_test
