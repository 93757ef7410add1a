// check(p, "text"): which failing check is reported, in kernels, loops and outside, on one thread and on several.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include "compiler/ir/program.h"
#include "compiler/ir/text.h"
#include "generator/import.h"
#include "tests/run/compiled.h"
#include "tests/run/scopes/run_scopes.h"

namespace checks_test {

using namespace kiln;

namespace {

inline constexpr dim<"N"> N;

using Ints = std::vector<int>;
constexpr int fine = KILN_NO_CHECK;

int failed(const std::vector<scopes::Array>& results) { return scopes::values<int>(results.back())[0]; }

struct everywhere : program<everywhere> {
  in<i32, N> x;
  in<i32> n;
  in<bool> strict;
  out<i32, N> y;
  constexpr void body() {
    check(n >= 0, "n is not negative");  // 0
    for (auto [i] : kernel(N)) {
      check(x(i) != 7, "no seven");                                     // 1
      if (auto c = when(strict)) check(x(i) % 2 == 0, "all are even");  // 2
      y(i) = x(i) + n;
    }
    if (auto c = when(strict)) check(sum(y) < 1000, "the sum is below 1000");  // 3
    for (auto o : once()) check(y(0) != 5, "the first is not 5");              // 4
  }
};

TEST(Checks, TheFirstOfTheProgramThatFails) {
  const auto run = [](const Ints& x, int n, bool strict) {
    const auto size = static_cast<std::int64_t>(x.size());
    return failed(scopes::run(
        ir<everywhere>, {scopes::tensor({size}, x), scopes::scalar(n), scopes::scalar(strict), scopes::output<int>({size})}));
  };
  EXPECT_EQ(run({2, 4, 6}, 1, true), fine);
  EXPECT_EQ(run({}, 1, true), fine);
  EXPECT_EQ(run({2, 4, 6}, -1, false), 0);
  EXPECT_EQ(run({2, 7, 6}, 1, false), 1);
  EXPECT_EQ(run({2, 7, 6}, 1, true), 1);
  EXPECT_EQ(run({2, 3, 6}, 1, true), 2);
  EXPECT_EQ(run({2, 3, 6}, 1, false), fine);
  EXPECT_EQ(run({2, 2000, 6}, 1, true), 3);
  EXPECT_EQ(run({2, 2000, 6}, 1, false), fine);
  EXPECT_EQ(run({4, 2, 6}, 1, false), 4);
  Ints many(5000, 2);
  EXPECT_EQ(run(many, 0, false), fine);
  many[4321] = 7, many[17] = 3;
  EXPECT_EQ(run(many, 0, true), 1);
}

// A failing check leaves the loops around it. So a check that is later in the text but earlier in time is reported,
// and no loop is endless.
struct loops : program<loops> {
  in<i32> k;
  out<i32> iterations, inner;
  out<i32, 4> each;
  constexpr void body() {
    iterations = 0;
    inner = 0;
    for (auto t : forever()) {
      check(t != 90 || k == 3, "never at 90");  // 0
      for (auto u : forever()) {
        inner += 1;
        check(u < 20 || k != 2, "ends");  // 1
        break_if(u == 5 && k != 2);
      }
      for (auto [i] : kernel(4)) {
        for (auto s : forever()) {
          check(s < 50, "the kernel ends");  // 2
          each(i) = s;
          break_if(s == i + 1 && (k != 1 || t < 3));
        }
      }
      iterations += 1;
      break_if(t >= 100);
      check(t < 2 || k != 4, "at most two");  // 3
    }
  }
};

TEST(Checks, LeaveLoops) {
  const auto run = [](int k) {
    return scopes::run(ir<loops>,
                       {scopes::scalar(k), scopes::output<int>({}), scopes::output<int>({}), scopes::output<int>({4})});
  };
  EXPECT_EQ(failed(run(0)), 0);
  EXPECT_EQ(failed(run(1)), 2);
  EXPECT_EQ(failed(run(2)), 1);
  EXPECT_EQ(failed(run(4)), 3);
  const auto r = run(3);
  EXPECT_EQ(failed(r), fine);
  EXPECT_EQ(scopes::values<int>(r["iterations"]), Ints{101});
  EXPECT_EQ(scopes::values<int>(r["inner"]), Ints{606});
}

struct in_workgroups : program<in_workgroups> {
  in<i32, N> x;
  out<i32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N).workgroup<8>()) {
      auto s = shared<i32, 8>();
      s(local_id(i)) = x(i);
      check(x(i) >= 0, "not negative");  // 0
      barrier();
      check(s(0) < 100, "the first of the group is below 100");  // 1
      y(i) = s(7 - local_id(i));
    }
  }
};

TEST(Checks, InWorkgroups) {
  const auto run = [](const Ints& x) {
    const auto size = static_cast<std::int64_t>(x.size());
    return failed(scopes::run(ir<in_workgroups>, {scopes::tensor({size}, x), scopes::output<int>({size})}));
  };
  Ints x(40, 3);
  EXPECT_EQ(run(x), fine);
  x[16] = 100;
  EXPECT_EQ(run(x), 1);
  x[39] = -1;
  EXPECT_EQ(run(x), 0);
}

// The status has the text and the line. On several threads it is the same in every call.
TEST(Checks, Status) {
  compiler::Graph g;
  const compiler::Program program = generator::import_program(g, ir<everywhere>);
  const compiler::testing::CompiledProgram compiled(g, program);
  Ints x(100'000, 2);
  for (std::size_t i = 5; i < x.size(); i += 97) x[i] = i % 2 == 0 ? 7 : 3;
  const std::vector<scopes::Array> arguments = {scopes::tensor({100'000}, x), scopes::scalar(0), scopes::scalar(true),
                                                scopes::output<int>({100'000}), scopes::scalar(fine)};
  EXPECT_EQ(compiled.description()->n_params, 4);
  const std::string expected =
      "R-check: program everywhere: no seven (checks_test.cpp:" + std::to_string(ir<everywhere>.checks[1].loc.line) + ")";
  for (int call = 0; call < 50; ++call) EXPECT_EQ(compiled.message(arguments, call % 2 == 0 ? 4 : 1), expected);
}

TEST(Checks, AreWrittenAndRead) {
  compiler::Graph g;
  const compiler::Program program = generator::import_program(g, ir<everywhere>);
  const std::string text = compiler::write_program(g, program);
  EXPECT_NE(text.find("inout i32 [] kiln_check\ncheck \"n is not negative\""), std::string::npos) << text;
  compiler::Graph again;
  EXPECT_EQ(compiler::write_program(again, compiler::read_program(again, text)), text);
}

}  // namespace

}  // namespace checks_test
