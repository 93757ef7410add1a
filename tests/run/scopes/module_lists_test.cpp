// Lists of modules of different types (kiln/hana.h): a program with a list computes the same as the layers written one by one.
#include <gtest/gtest.h>
#include <kiln/hana.h>

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/run/scopes/run_scopes.h"

namespace module_lists_test {

using namespace kiln;

namespace {

inline constexpr dim<"N", facts{.min = 1}> N;

using Floats = std::vector<float>;

template <int I, int O>
struct linear {
  in<f32, I, O> w;
  in<f32, O> b;
  constexpr auto operator()(const auto& x) const { return matmul(x, w) + b; }
};
template <int W>
struct scaled {
  in<f32, W> s;
  constexpr auto operator()(const auto& x) const { return x * s; }
};
struct rectified {  // a layer without parameters
  constexpr auto operator()(const auto& x) const { return max(x, 0.0f); }
};

inline constexpr auto apply = [](const auto& h, const auto& layer) { return layer(h); };

template <int W>
struct residual {  // a list in a module
  hana::tuple<linear<W, W>, scaled<W>> steps;
  constexpr auto operator()(const auto& x) const { return x + hana::fold_left(steps, x, apply); }
};

struct listed : program<listed> {
  in<f32, N, 3> x;
  hana::tuple<linear<3, 4>, rectified, residual<4>, linear<4, 2>> net;
  out<f32, N, 2> y;
  constexpr void body() { y = hana::fold_left(net, x, apply); }
};

struct written : program<written> {
  in<f32, N, 3> x;
  linear<3, 4> first;
  residual<4> middle;
  linear<4, 2> last;
  out<f32, N, 2> y;
  constexpr void body() { y = last(middle(max(first(x), 0.0f))); }
};

Floats floats(std::size_t n, int step, int modulus) {
  Floats v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<float>(static_cast<int>(i) * step % modulus - modulus / 2) / 8;
  return v;
}

std::vector<scopes::Array> arguments(int n) {
  return {scopes::tensor({n, 3}, floats(static_cast<std::size_t>(n) * 3, 5, 17)),
          scopes::tensor({3, 4}, floats(12, 7, 13)),
          scopes::tensor({4}, floats(4, 3, 7)),
          scopes::tensor({4, 4}, floats(16, 11, 19)),
          scopes::tensor({4}, floats(4, 5, 9)),
          scopes::tensor({4}, floats(4, 2, 5)),
          scopes::tensor({4, 2}, floats(8, 3, 11)),
          scopes::tensor({2}, floats(2, 1, 3)),
          scopes::output<float>({n, 2})};
}

std::vector<std::string> names(const kiln::dsl::record::program& p) {
  std::vector<std::string> out;
  for (int i = 0; i < p.n_params; ++i) out.emplace_back(p.params[i].name);
  return out;
}

TEST(ModuleLists, ParametersAreNamedByIndex) {
  EXPECT_EQ(names(ir<listed>), (std::vector<std::string>{"x", "net_0_w", "net_0_b", "net_2_steps_0_w", "net_2_steps_0_b",
                                                         "net_2_steps_1_s", "net_3_w", "net_3_b", "y"}));
}

TEST(ModuleLists, AFoldIsTheLayersOneByOne) {
  for (const int n : {1, 5}) {
    const auto a = scopes::run(ir<listed>, arguments(n)), b = scopes::run(ir<written>, arguments(n));
    EXPECT_EQ(scopes::values<float>(a.back()), scopes::values<float>(b.back()));
  }
}

struct visited : program<visited> {
  in<f32, N, 2> x;
  hana::tuple<scaled<2>, scaled<2>, scaled<2>> gains;
  out<f32, N, 2> total;
  out<f32> largest;
  constexpr void body() {
    auto sums = hana::transform(gains, [this](const auto& g) { return g(x); });  // x times each gain
    total = hana::unpack(sums, [](const auto&... s) { return (s + ...); });
    largest = 0.0f;
    hana::for_each(gains, [this](const auto& g) { largest() = max(largest(), max(g.s)); });
  }
};

TEST(ModuleLists, TransformUnpackAndForEach) {
  const Floats x = floats(6, 5, 17), g0 = {1, 2}, g1 = {0.5f, -1}, g2 = {3, 0.25f};
  const auto r = scopes::run(ir<visited>, {scopes::tensor({3, 2}, x), scopes::tensor({2}, g0), scopes::tensor({2}, g1),
                                           scopes::tensor({2}, g2), scopes::output<float>({3, 2}), scopes::output<float>({})});
  Floats total;
  for (std::size_t i = 0; i < x.size(); ++i) total.push_back(x[i] * g0[i % 2] + (x[i] * g1[i % 2] + x[i] * g2[i % 2]));
  EXPECT_EQ(scopes::values<float>(r["total"]), total);
  EXPECT_EQ(scopes::values<float>(r["largest"]), Floats{3});
}

struct single : program<single> {
  in<f32, N, 2> x;
  hana::tuple<scaled<2>> only;
  hana::tuple<> none;
  out<f32, N, 2> y;
  constexpr void body() { y = hana::fold_left(none, hana::fold_left(only, x, apply), apply); }
};

TEST(ModuleLists, OneModuleAndNone) {
  EXPECT_EQ(names(ir<single>), (std::vector<std::string>{"x", "only_0_s", "y"}));
  const auto r = scopes::run(
      ir<single>, {scopes::tensor({1, 2}, Floats{3, 4}), scopes::tensor({2}, Floats{2, 5}), scopes::output<float>({1, 2})});
  EXPECT_EQ(scopes::values<float>(r.back()), (Floats{6, 20}));
}

}  // namespace

}  // namespace module_lists_test
