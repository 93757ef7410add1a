// stored(x): the value has a kernel and a buffer of its own.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include "compiler/ir/program.h"
#include "generator/import.h"
#include "tests/run/compiled.h"
#include "tests/run/scopes/run_scopes.h"

namespace stored_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;

using Floats = std::vector<float>;

Floats floats(int n, int scale, int modulus) {
  Floats out;
  for (int i = 0; i < n; ++i) out.push_back(static_cast<float>(i * scale % modulus) * 0.37f);
  return out;
}
std::int64_t kernels(const dsl::record::program& p) {
  compiler::Graph g;
  const compiler::Program program = generator::import_program(g, p);
  return compiler::testing::CompiledProgram(g, program).description()->n_kernels;
}

// stored(x) adds a kernel, also where rows would be fused, and gives the same numbers.
template <bool Hint>
struct hinted : program<hinted<Hint>> {
  in<f32, N, 64> x;
  out<f32, N, 64> y;
  constexpr auto kept(auto const& v) {
    if constexpr (Hint)
      return stored(v);
    else
      return v * 1;
  }
  constexpr void body() {
    auto e = kept(exp(x - max<1>(x, keepdims)));
    y = e / sum<1>(e, keepdims);
  }
};
struct doubled : program<doubled> {
  in<f32, N> x;
  out<f32, N> y, z;
  constexpr void body() {
    auto twice = stored(x * 2);
    y = twice + 1;
    z = stored(stored(stored(x)) * 3);
  }
};

TEST(Parts, Stored) {
  const int n = 5;
  const Floats x = floats(n * 64, 7, 31);
  const auto run = [&](const dsl::record::program& p) {
    return scopes::values<float>(scopes::run(p, {scopes::tensor({n, 64}, x), scopes::output<float>({n, 64})})["y"]);
  };
  EXPECT_EQ(run(ir<hinted<true>>), run(ir<hinted<false>>));
  EXPECT_EQ(kernels(ir<hinted<false>>), 1);
  EXPECT_EQ(kernels(ir<hinted<true>>), 2);
  // x * 2 and x * 3 are one kernel each. A parameter is stored already, and a stored result is stored once.
  EXPECT_EQ(kernels(ir<doubled>), 3);
  const auto r =
      scopes::run(ir<doubled>, {scopes::tensor<float>({2}, {1, 2}), scopes::output<float>({2}), scopes::output<float>({2})});
  EXPECT_EQ(scopes::values<float>(r["y"]), (Floats{3, 5}));
  EXPECT_EQ(scopes::values<float>(r["z"]), (Floats{3, 6}));
}

}  // namespace

}  // namespace stored_test
