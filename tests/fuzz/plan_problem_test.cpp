// The checkers of random_programs find mistakes: each test changes one thing in a task graph or a plan.
#include "tests/fuzz/plan_problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>

#include "compiler/ir/text.h"
#include "compiler/pipeline/compile.h"
#include "tests/run/loaded_object.h"

namespace kiln::compiler::testing {
namespace {

// (A B)(B A): two temporaries that are live at one time.
constexpr const char* products = R"(program products
symbol N min 2 max 31
in f32 [N, N] a
in f32 [N, N] b
out f32 [N, N] o
%0 = param f32 [N, N] a
%1 = param f32 [N, N] b
%2 = permute f32 [N, N] %1, axes [1, 0]
%3 = permute f32 [N, N] %0, axes [1, 0]
%4 = reshape f32 [N, 1, N] %0
%5 = reshape f32 [1, N, N] %2
%6 = expand f32 [N, N, N] %4
%7 = expand f32 [N, N, N] %5
%8 = reduce f32 [N, N] %6, %7, fma, axes [2]
%9 = reshape f32 [N, 1, N] %1
%10 = reshape f32 [1, N, N] %3
%11 = expand f32 [N, N, N] %9
%12 = expand f32 [N, N, N] %10
%13 = reduce f32 [N, N] %11, %12, fma, axes [2]
%14 = permute f32 [N, N] %13, axes [1, 0]
%15 = reshape f32 [N, 1, N] %8
%16 = reshape f32 [1, N, N] %14
%17 = expand f32 [N, N, N] %15
%18 = expand f32 [N, N, N] %16
%19 = reduce f32 [N, N] %17, %18, fma, axes [2]
store o, %19
)";

class PlanProblem : public ::testing::Test {
 protected:
  PlanProblem() {
    object.emplace(compiled.code.object);
    description = *reinterpret_cast<const kiln_program_desc* (*)()>(object->symbol("products_desc"))();
    temps.assign(description.temps, description.temps + description.n_temps);
    description.temps = temps.data();
  }
  static Compiled compiled_products() {
    Graph tensors;
    const Program program = read_program(tensors, products);
    return compile(tensors, program, {});
  }
  std::string plan() { return plan_problem(g, schedule, description, std::array<std::int64_t, 1>{10}); }

  Compiled compiled = compiled_products();
  const Graph& g = compiled.variants[0].graph;
  Schedule& schedule = compiled.variants[0].schedule;
  std::optional<LoadedObject> object;
  kiln_program_desc description;
  std::vector<kiln_temp_desc> temps;
};

TEST_F(PlanProblem, NoneInWhatTheCompilerMakes) {
  ASSERT_EQ(schedule.kernels.size(), 3u);
  ASSERT_EQ(temps.size(), 2u);
  EXPECT_EQ(order_problem(g, schedule, {{"N", 10}}), "");
  EXPECT_EQ(plan(), "");
}

TEST_F(PlanProblem, AMissingDependency) {
  schedule.kernels[2].depends_on.pop_back();
  EXPECT_NE(order_problem(g, schedule, {{"N", 10}}), "");
  EXPECT_NE(plan(), "");  // the object still has the old one
}

TEST_F(PlanProblem, AnArgumentWrittenBeforeItIsRead) {
  schedule.program.params[2].direction = Direction::inout;
  for (Kernel& k : schedule.kernels) std::ranges::replace(k.buffers, schedule.kernels[0].buffers[0], 2);
  EXPECT_NE(order_problem(g, schedule, {{"N", 10}}), "");
}

TEST_F(PlanProblem, SharedBytes) {
  temps[1].offset = temps[0].offset;
  EXPECT_NE(plan().find("share bytes"), std::string::npos);
}

TEST_F(PlanProblem, BytesBesideTheWorkspace) {
  static const std::int64_t eight[] = {KILN_PUSH_CONST, 8, KILN_EXPR_END};
  description.workspace_bytes = eight;
  EXPECT_NE(plan().find("of 8 bytes"), std::string::npos);
}

TEST_F(PlanProblem, AnOffsetThatIsNoMultipleOf64) {
  static const std::int64_t far[] = {KILN_PUSH_CONST, 1000, KILN_EXPR_END}, large[] = {KILN_PUSH_CONST, 9000, KILN_EXPR_END};
  description.workspace_bytes = large;
  temps[1].offset = far;
  EXPECT_NE(plan().find("at 1000"), std::string::npos);
}

TEST_F(PlanProblem, OtherBytesThanTheBufferHas) {
  static const std::int64_t few[] = {KILN_PUSH_CONST, 4, KILN_EXPR_END};
  temps[0].bytes = few;
  EXPECT_NE(plan(), "");
}

}  // namespace
}  // namespace kiln::compiler::testing
