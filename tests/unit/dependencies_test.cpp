// Parameters that are read and written: every read gives the value at entry.
#include <gtest/gtest.h>

#include "compiler/ir/builder.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/text.h"
#include "compiler/pipeline/run_passes.h"
#include "compiler/schedule/dependencies.h"
#include "tests/unit/schedule_harness.h"

namespace kiln::compiler::testing {
namespace {

class ScheduleInout : public ::testing::Test {
 protected:
  Id inout() {
    Parameter q{"p" + std::to_string(p_.params.size()), Direction::inout, DType::f32, {g_.index(6)}, {}};
    const Id id = b_.param(static_cast<int>(p_.params.size()), q);
    p_.params.push_back(q);
    return id;
  }
  void store(int slot, Id value) {
    const Parameter& q = p_.params[static_cast<std::size_t>(slot)];
    stores_.push_back(b_.store(b_.param(slot, q), q, value));
  }
  Id shifted(Id x) {  // x[i + 1], where the last index continues with the first
    const Id parts[] = {x, x};
    return b_.slice(b_.concat(parts, 0), std::vector<Id>{g_.index(1)}, std::vector<std::int64_t>{1},
                    std::vector<Id>{g_.index(6)});
  }
  Id add(Id x, Id y) { return b_.elementwise(Op::ADD, {x, y}); }

  void check(std::size_t kernels) {
    p_.sink = g_.make(Op::SINK, DType::none, stores_);
    p_.name = "p";
    Scheduled end = run_passes(g_, p_, {.last = std::string(last_pass(Form::planned))});
    const Schedule& s = end.schedule;
    EXPECT_EQ(s.kernels.size(), kernels);
    std::vector<Data> in(p_.params.size(), Data(6));
    double v = 1;
    for (Data& d : in)
      for (Scalar& x : d) x.f = v++;
    const std::vector<Data> want = run_program(g_, p_, {}, in);
    for (bool backward : {false, true}) {
      const std::vector<Data> got = run_schedule(end.graph, s, {}, in, backward);
      for (std::size_t b = 0; b < want.size(); ++b)
        for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(want[b][i].f, got[b][i].f) << b << "[" << i << "]";
    }
  }

  Graph g_;
  Builder b_{g_};
  Program p_;
  std::vector<Id> stores_;
};

TEST_F(ScheduleInout, SameElementIsInPlace) {
  const Id x = inout();
  store(0, add(x, x));
  check(1);
}

TEST_F(ScheduleInout, IndependentUpdatesShareAKernel) {
  const Id x = inout(), y = inout();
  store(0, add(x, x));
  store(1, add(y, y));
  check(1);
}

TEST_F(ScheduleInout, OtherElementsGoThroughATemporary) {
  const Id x = inout();
  store(0, add(x, shifted(x)));
  check(2);
}

TEST_F(ScheduleInout, ReadersOfTheOldValueComeFirst) {
  const Id x = inout(), y = inout();
  store(0, add(x, x));
  store(1, add(y, shifted(x)));
  check(2);
}

TEST_F(ScheduleInout, SwapNeedsOneTemporary) {
  const Id x = inout(), y = inout();
  store(0, y);
  store(1, x);
  check(3);
}

TEST_F(ScheduleInout, RotationOfThree) {
  const Id x = inout(), y = inout(), z = inout();
  store(0, shifted(y));
  store(1, add(z, z));
  store(2, x);
  p_.sink = g_.make(Op::SINK, DType::none, stores_);
  check(4);
}

TEST_F(ScheduleInout, UntouchedParameterStays) {
  inout();
  const Id y = inout();
  store(1, add(y, y));
  check(1);
}

TEST(ScheduleCycle, IsToldWithTheKernels) {
  Graph g;
  Schedule s = read_schedule(g, R"(schedule wrong after kernel_split
%0 = const index {8}
%1 = range index {0, loop} %0
%2 = buffer f32 {0}
%3 = buffer f32 {1}
%4 = load f32 %3, %1
%5 = store none %2, %1, %4
%6 = end none %5, %1
%7 = sink none %6
out f32 [8] y
buffer f32 size %0 param 0
buffer f32 size %0
buffer f32 size %0
kernel a sink %7 buffers [0, 2] depends_on []
kernel b sink %7 buffers [1, 2] depends_on []
kernel c sink %7 buffers [2, 1] depends_on []
)");
  try {
    dependencies(g, s);
    ADD_FAILURE() << "the cycle was not seen";
  } catch (const Diagnostic& e) {
    EXPECT_EQ(e.id(), "E-cycle");
    EXPECT_NE(std::string_view(e.what()).find("c after b after c"), std::string_view::npos) << e.what();
  }
}

// Kernel 0 copies the input x for kernel 2, which also reads what kernel 1 makes.
std::string copy_and_reader(const std::string& made) {
  return R"(schedule copies after kernel_split
%0 = const index {8}
%1 = range index {0, loop} %0
%2 = buffer f32 {0}
%3 = buffer f32 {1}
%4 = load f32 %3, %1
%5 = store none %2, %1, %4
%6 = end none %5, %1
%7 = sink none %6
%8 = add f32 %4, %4
%9 = store none %2, %1, %8
%10 = end none %9, %1
%11 = sink none %10
%12 = buffer f32 {2}
%13 = load f32 %12, %1
%14 = add f32 %4, %13
%15 = store none %2, %1, %14
%16 = end none %15, %1
%17 = sink none %16
in f32 [8] x
in f32 [8] z
out f32 [8] y
buffer f32 size %0 param 0
buffer f32 size %0 param 1
buffer f32 size %0 param 2
buffer f32 size %0
)" + made +
         R"(
kernel a sink %7 buffers [3, 0] depends_on []
kernel b sink %11 buffers [4, 1] depends_on []
kernel c sink %17 buffers [2, 3, 4] depends_on []
)";
}

std::vector<std::size_t> waits_for(const std::string& text, int buffer) {
  Graph g;
  Schedule s = read_schedule(g, text);
  dependencies(g, s);
  for (const Kernel& k : s.kernels)
    if (k.buffers[0] == buffer) return k.depends_on;
  return {s.kernels.size()};
}

TEST(ScheduleCopies, WaitForWhatTheirReaderWaitsFor) {
  EXPECT_EQ(waits_for(copy_and_reader("buffer f32 size %0"), 3), std::vector<std::size_t>{0});
}

// random_scopes --seed 203421: the kernel that the reader waits for overwrites what the copy reads.
TEST(ScheduleCopies, NotForAKernelThatWaitsForThem) {
  EXPECT_EQ(waits_for(copy_and_reader("buffer f32 size %0 after 0"), 3), std::vector<std::size_t>{});
}

}  // namespace
}  // namespace kiln::compiler::testing
