// Plans from text, and tuning files.
#include "compiler/lower/tuning.h"

#include "compiler/ir/diagnostic.h"
#include "compiler/lower/plan_text.h"
#include "tests/unit/lower_program.h"

namespace kiln::compiler::testing {
namespace {

const std::string lines =
    "i0 of 64: blocks of 12\n"
    "rows 8, if the rows are large\n"
    "terms 96\n"
    "i1 of N: lanes 32, tails 16, 16 masked, aligned to 64 bytes, past the caches from 100 iterations, all masked\n"
    "i0 of 64: copies 4, tails 2, 1, transposes to lanes of i1, share loads\n"
    "i1 of N: lanes 24 in 3 vectors, tails 8 masked\n"
    "i1 of N: one at a time\n";

struct Read {
  Id i, j, load;
  OneKernel k;
  Read() : i(0), j(0), load(0) {
    i = k.range(k.g.index(64)), j = k.range(k.symbol("N"));
    load = k.load(k.buffer(DType::f32, k.g.index(64)), i);
  }
  std::string operator()(const std::string& text, std::vector<LoopPlan>& plan, bool has_load = true) const {
    const Id ranges[] = {i, j};
    return read_plan(ranges, has_load ? load : no_id, text, plan);
  }
};

TEST(Tuning, PlansReadBack) {
  const Read read;
  const Id ranges[] = {read.i, read.j};
  std::vector<LoopPlan> plan;
  EXPECT_EQ(read(lines, plan), "");
  EXPECT_EQ(plan_text(read.k.g, ranges, plan), lines);
  EXPECT_EQ(plan[3].tails.size(), 2u);
  EXPECT_TRUE(plan[3].tails[1].masked);
}

TEST(Tuning, OtherTextsAreNoPlans) {
  const Read read;
  for (const std::string wrong :
       {"", "i2 of N: one at a time", "i0 of 64 one at a time", "i0 of 64: lanes", "i0 of 64: lanes 8,",
        "i0 of 64: lanes 8, tails x", "i0 of 64: lanes 24 in vectors", "i0 of 64: copies 99999999999999999999",
        "i0 of 64: copies 5000", "i0 of 64: copies -1", "i0 of 64: lanes 8, tails 1 mask",
        "i0 of 64: lanes 8, aligned to 4096 bytes", "i0 of 64: copies 4, transposes to lanes of i7", "words"}) {
    std::vector<LoopPlan> plan;
    EXPECT_EQ(read(wrong + "\n", plan), "no loop of a plan: '" + wrong + "'");
  }
  std::vector<LoopPlan> plan;
  EXPECT_EQ(read("rows 8, if the rows are large\n", plan, false), "no loop of a plan: 'rows 8, if the rows are large'");
}

TEST(Tuning, FilesReadBackAndAreSorted) {
  const std::string text =
      "kiln-tuning 1\n"
      "kernel 00000000000000aa x86-64-v3 10 9 p\n  i0 of 64: lanes 8, tails 1\n"
      "kernel 00000000000000aa x86-64-v4 10 8 p\n"
      "kernel f0000000000000aa x86-64-v3 7 6 q\n  i0 of 64: copies 2, tails 1\n  i1 of N: one at a time\n";
  const Tuning tuning = read_tuning(text, "a.tune");
  EXPECT_EQ(tuning.size(), 3u);
  EXPECT_EQ(write_tuning(tuning), text);
  EXPECT_EQ(write_tuning({}), "kiln-tuning 1\n");
}

TEST(Tuning, OtherFilesAreRefused) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      read_tuning(text, "a.tune");
    } catch (const Diagnostic& d) {
      return d.what();
    }
    return "none";
  };
  EXPECT_EQ(refusal("kiln-tuning 2\n"), "a.tune:1: error: E-plan: expected `kiln-tuning 1`, got 'kiln-tuning 2'");
  EXPECT_EQ(refusal("kiln-tuning 1\nkernel 12 v3 1 1 p\n"),
            "a.tune:2: error: E-plan: expected `kernel KEY TARGET NANOSECONDS NANOSECONDS NAME`, got 'kernel 12 v3 1 1 p'");
  const std::string entry = "kernel 00000000000000aa v3 1 1 p\n";
  EXPECT_EQ(refusal("kiln-tuning 1\n" + entry + entry),
            "a.tune:3: error: E-plan: expected each kernel once, got 00000000000000aa twice");
  EXPECT_EQ(refusal("kiln-tuning 1\n  i0 of 1: one at a time\n").substr(0, 25), "a.tune:2: error: E-plan: ");
}

// y[i] = x[i] + x[i]: the plan of the file, a plan that the kernel cannot have, and a kernel that is not in the file.
TEST(Tuning, PlansApplyIfTheyAreLegal) {
  OneKernel k;
  const Id n = k.symbol("N");
  const int x = k.buffer(DType::f32, n), y = k.buffer(DType::f32, n);
  const Id i = k.range(n), element = k.load(x, i);
  const Id stores[] = {k.g.make(Op::STORE, DType::none, {k.node(y), i, k.op(Op::ADD, DType::f32, {element, element})})};
  const Id ranges[] = {i};
  const Target target;
  const std::uint64_t key = kernel_key(k.g, stores, ranges);
  std::string warnings;
  const auto planned = [&](std::uint64_t at, const std::string& variant, const std::string& plan) {
    const Tuning tuning = {{{at, variant}, {2, 1, "p", plan, "a.tune:2"}}};
    warnings.clear();
    const PlanMaker make = tuned_plans(tuning, [&](const std::string& m) { warnings += m; });
    return plan_text(k.g, ranges, make(k.g, stores, ranges, target));
  };
  const std::string own = plan_text(k.g, ranges, vectorize_plan(k.g, stores, ranges, target)),
                    other = "i0 of N: lanes 4, tails 1\n";
  EXPECT_NE(own, other);
  EXPECT_EQ(planned(key, "x86-64-v3", other), other);
  EXPECT_EQ(planned(key, "x86-64-v4", other), own);
  EXPECT_EQ(planned(key + 1, "x86-64-v3", other), own);
  EXPECT_EQ(warnings, "");
  EXPECT_EQ(planned(key, "x86-64-v3", "i0 of N: lanes 3, tails 1\n"), own);
  EXPECT_EQ(
      warnings,
      "a.tune:2: warning: E-plan: expected a plan that the kernel can have, got another one (the lanes are no power of two); "
      "the compiler's plan is used");
}

// Names of symbols are part of a kernel, places in the source are not.
TEST(Tuning, KeysDependOnTheKernelOnly) {
  const auto key_of = [](const char* symbol, std::uint32_t line, float factor) {
    OneKernel k;
    k.g.set_loc({1, line, 1});
    const Id n = k.symbol(symbol), i = k.range(n);
    const int x = k.buffer(DType::f32, n);
    const Id stores[] = {
        k.g.make(Op::STORE, DType::none, {k.node(x), i, k.op(Op::MUL, DType::f32, {k.load(x, i), k.f32(factor)})})};
    const Id ranges[] = {i};
    return kernel_key(k.g, stores, ranges);
  };
  EXPECT_EQ(key_of("N", 1, 2), key_of("N", 7, 2));
  EXPECT_NE(key_of("N", 1, 2), key_of("M", 1, 2));
  EXPECT_NE(key_of("N", 1, 2), key_of("N", 1, 3));
}

}  // namespace
}  // namespace kiln::compiler::testing
