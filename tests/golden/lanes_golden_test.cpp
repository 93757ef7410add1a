// Control flow in lanes, at P level: loops that run while any lane is active, in whole vectors and in the tail; a loop whose bounds
// and condition are the same in all lanes, which stay scalars; elements side by side as vectors, others one by one. With
// KILN_UPDATE_GOLDEN=1 in the environment the files are written instead of compared.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <cstdlib>

#include "compiler/lower/lower.h"
#include "generator/import.h"
#include "tests/golden/schedule_text.h"

using namespace kiln;

namespace {

using compiler::Graph;
using compiler::Id;

inline constexpr dim<"N", {.min = 1, .max = 1 << 20}> N;

struct escape : program<escape> {
  in<f32, N> c;
  in<i32> limit;
  out<i32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto z = var(0.0f);
      auto n = var(0);
      for (auto k : loop(limit)) {
        break_if(z > 4.0f);
        z = z * z + c(i);
        n = k + 1;
      }
      y(i) = n;
    }
  }
};

// The loop makes no turn where the flag is not set; its bounds are the same in all lanes.
struct shared : program<shared> {
  in<i32> flag;
  in<f32, 64> x;
  out<f32, 64> y;
  constexpr void body() {
    for (auto [i] : kernel(64)) {
      auto sum = var(0.0f);
      if (auto c = when(flag > 3))
        for (auto k : loop(flag)) sum += x(k) * x(i);
      y(i) = sum;
    }
  }
};

struct gathered : program<gathered> {
  in<i32, 64> places;
  in<f32, 64> x;
  inout<f32, 64> y;
  constexpr void body() {
    for (auto [i] : kernel(64)) {
      y(i) = x(63 - i) + x(places(i));
      if (auto c = when(x(i) > 3.0f)) y(i) += 1.0f;
    }
  }
};

template <class P>
void check(const std::string& name) {
  Graph g;
  compiler::Schedule s;
  s.program = generator::import_program(g, ir<P>);
  for (const compiler::SchedulePass& pass : compiler::schedule_passes()) pass.run(g, s);
  std::string text;
  for (const compiler::Kernel& k : s.kernels) {
    const compiler::LoweredKernel l = lower_kernel(g, s, k, compiler::Target{});
    const Id roots[] = {l.sink};
    text += write_nodes(g, roots, compiler::testing::plain);
  }
  const std::string path = std::string(GOLDEN_FOLDER) + "/" + name + ".txt";
  if (std::getenv("KILN_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(compiler::testing::read(path), text) << path;
}

TEST(LanesGolden, Escape) { check<escape>("escape"); }
TEST(LanesGolden, Shared) { check<shared>("shared"); }
TEST(LanesGolden, Gathered) { check<gathered>("gathered"); }

}  // namespace
