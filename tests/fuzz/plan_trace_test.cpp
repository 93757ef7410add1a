// The trace of a plan with loops finds mistakes: a correct plan, and the same plan with one thing changed.
#include "tests/fuzz/plan_trace.h"

#include <gtest/gtest.h>

#include <utility>

namespace kiln::compiler::testing {
namespace {

// k0 writes b0; a loop of k1: b0 -> b1, k2: b1 -> b2, k3: b2 -> b0; then k4 reads b0.
class PlanTrace : public ::testing::Test {
 protected:
  PlanTrace() {
    const Id nothing = g.make(Op::SINK, DType::none, {});
    HostLoop loop;
    loop.begin = g.index(0), loop.end = g.index(3);
    s.loops.push_back(loop);
    s.buffers.resize(3);
    for (const int around : {-1, 0, 0, 0, -1}) {
      Kernel k;
      k.sink = nothing;
      k.loop = around;
      s.kernels.push_back(k);
    }
    uses = {{{}, {0}}, {{0}, {1}}, {{1}, {2}}, {{2}, {0}}, {{0}, {}}};
  }
  std::string problem() {
    const auto is_used = [](std::size_t) { return true; };
    const auto share = [&](std::size_t a, std::size_t b) { return shared.contains({a, b}) || shared.contains({b, a}); };
    return trace_problem(g, s, uses, is_used, share);
  }

  Graph g;
  Schedule s;
  std::vector<KernelUses> uses;
  std::set<std::pair<std::size_t, std::size_t>> shared;  // buffers with the same bytes
};

TEST_F(PlanTrace, NothingShared) { EXPECT_EQ(problem(), ""); }

TEST_F(PlanTrace, BytesOfWhatIsReadNoMore) {
  shared = {{0, 2}};  // k1 no longer needs b0 when k2 writes b2; but k3 reads b2 and writes b0 in one kernel
  EXPECT_NE(problem(), "");
  uses[3] = {{1}, {0}}, uses[2] = {{1}, {2}};  // nothing reads b2
  EXPECT_EQ(problem(), "");
}

TEST_F(PlanTrace, OperandAndResultInOneKernel) {
  shared = {{0, 1}};
  EXPECT_NE(problem().find("kernel 1 uses buffer 0"), std::string::npos) << problem();
}

TEST_F(PlanTrace, SpoiledForTheNextIteration) {
  uses[3] = {{2}, {1}};  // b0 keeps the value from k0
  shared = {{0, 2}};
  EXPECT_NE(problem().find("iteration count 1"), std::string::npos) << problem();  // k4 after the loop
  uses[4] = {};
  EXPECT_NE(problem().find("kernel 1 uses buffer 0 where it does not hold its value (iteration count 2)"), std::string::npos)
      << problem();
}

TEST_F(PlanTrace, WrittenInTheLoopOnly) {
  uses[4] = {{2}, {}};
  EXPECT_NE(problem().find("kernel 4 uses buffer 2 where it does not hold its value (iteration count 0)"), std::string::npos)
      << problem();
}

TEST_F(PlanTrace, KernelsInAnotherOrder) {
  std::swap(uses[1], uses[2]);
  EXPECT_NE(problem(), "");
}

// k0 writes b0. A loop of one kernel: b0 -> b1, which rotate, and b2 is written. If the number of iterations is odd, a loop of
// one iteration: b1 -> b0. Then k3 reads b0.
class RotationTrace : public PlanTrace {
 protected:
  RotationTrace() {
    const Id count = g.sym("count"), odd = g.make(Op::FLOORMOD, DType::index, {count, g.index(2)});
    s.loops[0].count = count;
    HostLoop back;
    back.begin = g.index(0), back.end = odd;
    s.loops.push_back(back);
    for (const bool first : {true, false}) {
      Buffer rotating;
      rotating.among = first ? std::vector{0, 1} : std::vector{1, 0};
      rotating.count = count;
      s.buffers.push_back(rotating);
    }
    s.kernels.erase(s.kernels.begin() + 3);
    s.kernels[2].loop = 1;
    uses = {{{}, {0}}, {{3}, {4, 2}}, {{1}, {0}}, {{0}, {}}};
  }
};

TEST_F(RotationTrace, NothingShared) { EXPECT_EQ(problem(), ""); }

TEST_F(RotationTrace, BothHoldTheirValuesForTheWholeIteration) {
  shared = {{1, 2}};
  EXPECT_NE(problem().find("kernel 1 uses buffer"), std::string::npos) << problem();
}

TEST_F(RotationTrace, BroughtBackAfterAnOddNumberOnly) {
  s.loops[1].begin = g.index(-1);  // one more iteration: if the first loop makes none, b1 is never written
  EXPECT_NE(problem().find("kernel 2 uses buffer 1 where it does not hold its value (iteration count 0)"), std::string::npos)
      << problem();
}

}  // namespace
}  // namespace kiln::compiler::testing
