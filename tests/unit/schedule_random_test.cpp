// Random small tensor programs: the schedule computes what the program says, bit for bit, forwards and backwards through the
// loops, without touching memory outside its buffers.
#include <gtest/gtest.h>

#include <random>

#include "compiler/ir/verify.h"
#include "compiler/schedule/make_schedule.h"
#include "tests/unit/random_program.h"
#include "tests/unit/schedule_harness.h"

namespace kiln::compiler::testing {
namespace {

std::vector<Data> random_data(const Graph& g, const Program& p, const Symbols& symbols, std::mt19937& random) {
  std::vector<Data> out;
  for (const Parameter& q : p.params) {
    std::int64_t n = 1;
    for (Id e : q.extents) n *= index_at(g, e, symbols);
    Data d(static_cast<std::size_t>(n));
    for (Scalar& s : d) {
      s.i = static_cast<int>(random() % 21) - 10;
      s.f = static_cast<double>(static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 64.0F);
      if (random() % 16 == 0) s.f = -0.0;
    }
    out.push_back(std::move(d));
  }
  return out;
}

void check_program(unsigned seed, bool symbolic) {
  Graph g;
  const Program p = RandomProgram(g, seed, symbolic).make();
  Schedule s;
  ASSERT_NO_THROW(verify(g, p.sink, Level::tensor)) << "seed " << seed;
  ASSERT_NO_THROW(s = make_schedule(g, p)) << "seed " << seed;
  for (const Kernel& k : s.kernels) ASSERT_NO_THROW(verify(g, k.sink, Level::kernel)) << "seed " << seed;
  std::mt19937 random(seed);
  for (int round = 0; round < (symbolic ? 3 : 1); ++round) {
    const Symbols symbols{{"N", static_cast<std::int64_t>(2 + random() % 5)}, {"M", static_cast<std::int64_t>(2 + random() % 5)}};
    if (unfit(g, p, symbols)) continue;
    const std::vector<Data> in = random_data(g, p, symbols, random), want = run_program(g, p, symbols, in);
    for (bool backward : {false, true}) {
      std::vector<Data> got;
      ASSERT_NO_THROW(got = run_schedule(g, s, symbols, in, backward)) << "seed " << seed;
      for (std::size_t b = 0; b < want.size(); ++b)
        for (std::size_t i = 0; i < want[b].size(); ++i)
          ASSERT_TRUE(same(p.params[b].dtype, want[b][i], got[b][i]))
              << "seed " << seed << (backward ? " backward" : "") << ": " << p.params[b].name << "[" << i << "] = " << got[b][i].f << "/"
              << got[b][i].i << ", want " << want[b][i].f << "/" << want[b][i].i;
    }
  }
}

TEST(ScheduleRandom, StaticExtents) {
  for (unsigned seed = 0; seed < 1500 && !HasFatalFailure(); ++seed) check_program(seed, false);
}

TEST(ScheduleRandom, SymbolicExtents) {
  for (unsigned seed = 0; seed < 700 && !HasFatalFailure(); ++seed) check_program(seed, true);
}

}  // namespace
}  // namespace kiln::compiler::testing
