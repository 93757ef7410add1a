// Initial values of tensors and variables: outputs that are changed before they are assigned, variables without a value, values
// that begin as a parameter, and sums that begin in a wider dtype.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>
#include <cstring>

#include "tests/run/scopes/run_scopes.h"

namespace beginnings_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;

using compiler::Array;
using Ints = std::vector<int>;
using Floats = std::vector<float>;

// Every operation that may change zeros: on whole outputs, elements and several elements, in loops, under conditions.
struct changed_first : program<changed_first> {
  in<i32, N> k;
  in<f32, N> x;
  out<i32, 4> count, largest, flags, parity, iterations;
  out<f32, 4> sums, less;
  out<i32> total;
  out<f32, N> twice;
  out<i32, N> before;
  constexpr void body() {
    for (auto [i] : kernel(N)) count(k(i)).atomic_add(1);
    before = largest(k).atomic_max(k * 3);
    for (auto i : loop(N)) flags(k(i)) |= 1 << (i % 8);
    for (auto i : loop(N)) parity(i % 4) ^= k(i);
    sums(k) += x;
    less(k) -= x;
    for (auto i : loop(N)) {
      if (auto c = when(k(i) > 1)) total += k(i);
      if (auto c = when(k(i) == 2)) iterations += 1;
    }
    for (auto t : loop(2)) twice += x;
  }
};

TEST(Beginnings, OutputsAreZeros) {
  for (const int n : {0, 1, 7, 40}) {
    Ints k, before;
    Floats x;
    for (int i = 0; i < n; ++i) k.push_back(i * 5 % 4), x.push_back(static_cast<float>(i) * 0.25f - 2);
    Ints count(4), largest(4), flags(4), parity(4), iterations(4);
    Floats sums(4), less(4);
    int total = 0;
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(k[static_cast<std::size_t>(i)]);
      const float v = x[static_cast<std::size_t>(i)];
      ++count[at];
      before.push_back(largest[at]);
      largest[at] = std::max(largest[at], static_cast<int>(at) * 3);
      flags[at] |= 1 << (i % 8);
      parity[static_cast<std::size_t>(i % 4)] ^= static_cast<int>(at);
      sums[at] += v, less[at] -= v;
      if (at > 1) total += static_cast<int>(at);
      if (at == 2)
        for (int& t : iterations) ++t;
    }
    Floats twice;
    for (const float v : x) twice.push_back(v + v);
    const auto r =
        scopes::run(ir<changed_first>, {scopes::tensor({n}, k), scopes::tensor({n}, x), scopes::output<int>({4}),
                                        scopes::output<int>({4}), scopes::output<int>({4}), scopes::output<int>({4}),
                                        scopes::output<int>({4}), scopes::output<float>({4}), scopes::output<float>({4}),
                                        scopes::output<int>({}), scopes::output<float>({n}), scopes::output<int>({n})});
    EXPECT_EQ(scopes::values<int>(r["count"]), count);
    EXPECT_EQ(scopes::values<int>(r["largest"]), largest);
    EXPECT_EQ(scopes::values<int>(r["flags"]), flags);
    EXPECT_EQ(scopes::values<int>(r["parity"]), parity);
    EXPECT_EQ(scopes::values<int>(r["iterations"]), iterations);
    EXPECT_EQ(scopes::values<float>(r["sums"]), sums);
    EXPECT_EQ(scopes::values<float>(r["less"]), less);
    EXPECT_EQ(scopes::values<int>(r["total"]), Ints{total});
    EXPECT_EQ(scopes::values<float>(r["twice"]), twice);
    EXPECT_EQ(scopes::values<int>(r["before"]), before);
  }
}

// `auto v = x` of an `in` is a value that can be changed later. x itself stays.
struct copies : program<copies> {
  in<f32, N> x;
  in<i32, N> k;
  in<f32> s;
  out<f32, N> y, z;
  out<f32> t;
  constexpr auto polynomial(auto const& u) {
    auto v = u;
    for (int i = 0; i < 3; ++i) v = v * 2 + x;
    v += 1;
    return v;
  }
  constexpr void body() {
    y = polynomial(x) - polynomial(x * 2);
    auto v = x;
    auto w = v;
    v = v + 1;
    w = v(k) + v(0) + v.at<mode::constant>(k - 1, 3) + x(1);
    auto one = s;
    one = one * one + v(2);
    t = one;
    for (auto i : loop(2)) {
      auto here = x;
      here = here * cast<f32>(i) + v;
      z += here * w;
    }
  }
};

TEST(Beginnings, ValuesOfParameters) {
  const int n = 6;
  const Floats x = {1, -2, 3, 0.5f, 8, -1};
  const Ints k = {0, 3, 5, 2, 2, 1};
  const auto r = scopes::run(ir<copies>, {scopes::tensor({n}, x), scopes::tensor({n}, k), scopes::scalar(1.5f),
                                          scopes::output<float>({n}), scopes::output<float>({n}), scopes::output<float>({})});
  const auto at = [](const Floats& a, int i) { return a[static_cast<std::size_t>(std::clamp(i, 0, n - 1))]; };
  Floats y, z, v;
  for (const float e : x) v.push_back(e + 1);
  for (int i = 0; i < n; ++i) {
    const float e = at(x, i);
    y.push_back((8 * e + 7 * e + 1) - (16 * e + 7 * e + 1));
    const int p = k[static_cast<std::size_t>(i)];
    const float w = at(v, p) + v[0] + (p - 1 < 0 ? 3 : at(v, p - 1)) + x[1];
    z.push_back((0 + (e * 0 + at(v, i)) * w) + (e * 1 + at(v, i)) * w);
  }
  EXPECT_EQ(scopes::values<float>(r["y"]), y);
  EXPECT_EQ(scopes::values<float>(r["z"]), z);
  EXPECT_EQ(scopes::values<float>(r["t"]), Floats{1.5f * 1.5f + v[2]});
}

// Variables without a value are zeros, which are new in each iteration of the scope.
struct scratch : program<scratch> {
  in<f32, N> x;
  out<f32, N> y;
  out<i32> n;
  constexpr void body() {
    auto s = var<f32, N>();
    auto any = var<bool>();
    auto count = var<i32>();
    for (auto t : loop(3)) {
      auto inner = var<f32, N>();
      for (auto [i] : kernel(N)) {
        auto pair = var<f32, 2>();
        pair(i % 2) = x(i);
        inner(i) += pair(0) + 2 * pair(1);
      }
      s += inner;
      any = any || sum(inner) > 3;
      if (auto c = when(any)) count += 1;
    }
    y = s;
    n = count;
  }
};

TEST(Beginnings, VariablesWithoutAValue) {
  const Floats x = {1, 2, 3, 4, 5};
  const auto r = scopes::run(ir<scratch>, {scopes::tensor({5}, x), scopes::output<float>({5}), scopes::output<int>({})});
  EXPECT_EQ(scopes::values<float>(r["y"]), (Floats{3, 12, 9, 24, 15}));
  EXPECT_EQ(scopes::values<int>(r["n"]), Ints{3});
}

// A reduction that names a dtype equals the reduction of the cast tensor, bit for bit.
struct wider : program<wider> {
  in<f32, N, M> x;
  in<i32, N, M> k;
  in<i8, N, M> a;
  in<u8, M, 3> b;
  in<f16, M> h;
  in<bool, N> keep;
  out<f64> all, all_again;
  out<f64, N> rows, rows_again;
  out<f64, N, 1> products, products_again;
  out<f32, M> means, means_again;
  out<i32, N, 3> contracted, contracted_again;
  out<f32> dots, dots_again, half, half_again;
  out<i64> kept;
  constexpr void body() {
    all = sum<f64>(x);
    all_again = sum(cast<f64>(x));
    rows = mean<f64, 1>(x) + sum<f64, -1>(k);
    rows_again = mean<1>(cast<f64>(x)) + sum<-1>(cast<f64>(k));
    products = prod<f64, 1>(x, keepdims);
    products_again = prod<1>(cast<f64>(x), keepdims);
    means = mean<f32, 0>(k);
    means_again = mean<0>(cast<f32>(k));
    contracted = matmul<i32>(a, b);
    contracted_again = matmul(cast<i32>(a), cast<i32>(b));
    dots = dot<f32>(h, h);
    dots_again = dot(cast<f32>(h), cast<f32>(h));
    half = sum<f32>(h);
    half_again = sum(cast<f32>(h));
    kept = sum<i64>(keep);
  }
};

TEST(Beginnings, WiderSums) {
  const int n = 5, m = 37;
  std::vector<float> x;
  Ints k;
  std::vector<std::int8_t> a;
  std::vector<std::uint8_t> b;
  for (int i = 0; i < n * m; ++i) {
    x.push_back(1 + static_cast<float>(i % 11) * 1e-4f);
    k.push_back(i * 7 % 1000 - 500);
    a.push_back(static_cast<std::int8_t>(i * 37));
  }
  for (int i = 0; i < m * 3; ++i) b.push_back(static_cast<std::uint8_t>(i * 91));
  Array h{compiler::DType::f16, {m}, {}};
  h.data.resize(static_cast<std::size_t>(m) * 2);
  for (int i = 0; i < m; ++i) {
    const auto bits = static_cast<std::uint16_t>(0x3c00 + i * 13);
    std::memcpy(h.data.data() + static_cast<std::size_t>(i) * 2, &bits, 2);
  }
  const std::vector<bool> keep = {true, false, true, true, false};
  std::vector<Array> arguments = {
      scopes::tensor({n, m}, x), scopes::tensor({n, m}, k), scopes::tensor({n, m}, a), scopes::tensor({m, 3}, b), h,
      scopes::tensor({n}, keep)};
  for (int i = 0; i < 2; ++i) arguments.push_back(scopes::output<double>({}));
  for (int i = 0; i < 2; ++i) arguments.push_back(scopes::output<double>({n}));
  for (int i = 0; i < 2; ++i) arguments.push_back(scopes::output<double>({n, 1}));
  for (int i = 0; i < 2; ++i) arguments.push_back(scopes::output<float>({m}));
  for (int i = 0; i < 2; ++i) arguments.push_back(scopes::output<int>({n, 3}));
  for (int i = 0; i < 4; ++i) arguments.push_back(scopes::output<float>({}));
  arguments.push_back(scopes::output<std::int64_t>({}));
  const auto r = scopes::run(ir<wider>, arguments);
  for (const std::string name : {"all", "rows", "products", "means", "contracted", "dots", "half"})
    EXPECT_EQ(r[name].data, r[name + "_again"].data) << name;
  double all = 0;
  for (const float v : x) all += v;
  EXPECT_NEAR(scopes::values<double>(r["all"])[0], all, 1e-10);
  EXPECT_EQ(scopes::values<std::int64_t>(r["kept"]), (std::vector<std::int64_t>{3}));
}

}  // namespace

}  // namespace beginnings_test
