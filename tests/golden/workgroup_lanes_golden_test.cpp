// Kernels with workgroups: the loops over work items that the generator makes between barriers, and the result of
// workgroup_lanes for them.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include "generator/import.h"
#include "tests/golden/golden.h"
#include "tests/golden/schedule_text.h"

using namespace kiln;

namespace {

using compiler::Graph;

inline constexpr dim<"N", {.min = 1, .max = 1 << 20}> N;

// One axis: vectors and a remainder. t is computed again after the barrier, v is kept.
struct reversed : program<reversed> {
  in<f32, N> x;
  out<f32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N).workgroup<16>()) {
      auto s = shared<f32, 16>();
      auto t = local_id(i);
      auto v = x(i) * 2.0f;
      s(t) = v;
      barrier();
      y(i) = s(15 - t) + v;
    }
  }
};

// Two axes: the outer one stays a loop.
struct tile : program<tile> {
  in<f32, 64, 64> x;
  out<f32, 64, 64> y;
  constexpr void body() {
    for (auto [i, j] : kernel(64, 64).workgroup<8, 8>()) {
      auto s = shared<f32, 8, 8>();
      s(local_id(i), local_id(j)) = x(i, j);
      barrier();
      y(8 * group_id(j) + local_id(i), 8 * group_id(i) + local_id(j)) = s(local_id(j), local_id(i));
    }
  }
};

// A loop around barriers, which all work items run together.
struct summed : program<summed> {
  in<i32, 64> x;
  out<i32, 64> y;
  constexpr void body() {
    for (auto [i] : kernel(64).workgroup<8>()) {
      auto s = shared<i32, 8>();
      auto t = local_id(i);
      s(t) = x(i);
      for (auto bit : loop(3)) {
        auto half = 4 >> bit;
        if (auto c = when(t < half)) s(t) += s(t + half);
        barrier();
      }
      y(i) = s(0);
    }
  }
};

// A loop that ends at another iteration in each lane.
struct halved : program<halved> {
  in<i32, 64> x;
  out<i32, 64> y;
  constexpr void body() {
    for (auto [i] : kernel(64).workgroup<8>()) {
      auto s = shared<i32, 8>();
      auto t = local_id(i);
      auto n = var(x(i));
      for (auto iteration : loop(100)) {
        break_if(n < 10);
        n = n / 2;
      }
      s(t) = n;
      barrier();
      y(i) = s(t ^ 1);
    }
  }
};

// Pairs of neighbours, two at a time: contiguous vectors and shuffles.
struct swapped : program<swapped> {
  in<f32, 64> x;
  out<f32, 64> y;
  constexpr void body() {
    for (auto [i] : kernel(64).workgroup<32>()) {
      auto s = shared<f32, 64>();
      auto t = local_id(i);
      auto k = t + (t & 62);  // 0 1 4 5 8 9 ...
      unique(s(k)) = x(i);
      barrier();
      y(i) = s(k ^ 1);
    }
  }
};

// Old values show the order of the work items, so the work items stay in order and do not become lanes.
struct queued : program<queued> {
  in<i32, 64> x;
  out<i32, 64> y;
  constexpr void body() {
    for (auto [i] : kernel(64).workgroup<8>()) {
      auto last = shared<i32, 1>();
      y(i) = last(0).atomic_exchange(x(i));
    }
  }
};

template <class P>
void check(const std::string& name) {
  Graph g;
  const compiler::Program program = generator::import_program(g, ir<P>);
  std::string text = "# work items from barrier to barrier\n" + write_program(g, program, compiler::testing::plain), before;
  compiler::PassOptions options;
  options.done = [&](const compiler::Pass& pass, const Graph& h, const compiler::Schedule& s) {
    const std::string now = compiler::testing::schedule_text(h, s);
    if (pass.name == "workgroup_lanes") text += "# before workgroup_lanes\n" + before + "# after workgroup_lanes\n" + now;
    if (pass.name == "array_values") text += "# after array_values\n" + (now == before ? "the same\n" : now);
    before = now;
  };
  run_passes(g, program, options);
  compiler::testing::expect_golden(text, name);
}

TEST(WorkgroupLanesGolden, Reversed) { check<reversed>("reversed"); }
TEST(WorkgroupLanesGolden, Tile) { check<tile>("tile"); }
TEST(WorkgroupLanesGolden, Summed) { check<summed>("summed"); }
TEST(WorkgroupLanesGolden, Halved) { check<halved>("halved"); }
TEST(WorkgroupLanesGolden, Swapped) { check<swapped>("swapped"); }
TEST(WorkgroupLanesGolden, Queued) { check<queued>("queued"); }

}  // namespace
