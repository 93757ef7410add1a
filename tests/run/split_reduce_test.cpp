// Reductions to one value, whose blocks or rows are shared among threads: the compiled object equals the
// interpreter, bit for bit.
#include <gtest/gtest.h>

#include <random>

#include "compiler/interp/interpret.h"
#include "compiler/ir/text.h"
#include "tests/run/array_of_elements.h"
#include "tests/run/compiled.h"

namespace kiln::compiler::testing {
namespace {

// For programs with one input x and one output s. kernels: the required number of kernels.
void check(const std::string& text, const std::vector<std::vector<std::int64_t>>& shapes, int kernels) {
  SCOPED_TRACE(text);
  Graph g;
  const Program p = read_program(g, text, "reduce.kiln");
  const CompiledProgram compiled(g, p);
  EXPECT_EQ(compiled.description()->n_kernels, kernels);
  std::mt19937 random(3);
  const auto element = [&] { return static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 997.0f; };
  for (const auto& shape : shapes) {
    const Array arguments[] = {array_of_elements(p.params[0].dtype, shape, element), {p.params[1].dtype, {}, {}}};
    const auto expected = interpret(g, p, arguments);
    for (const int workers : {1, 3})
      EXPECT_EQ(difference(expected[1], compiled(arguments, workers)[1]), "")
          << ::testing::PrintToString(shape) << ", workers " << workers;
  }
}

std::string flat(const std::string& type, const std::string& kind, const std::string& change = "") {
  return "program reduce\nin " + type + " [N] x\nout " + type + " [] s\n%0 = param x\n" +
         (change.empty() ? "%1 = add %0, %0\n" : change) + "%2 = reduce %1, " + kind + ", axes [0]\nstore s, %2\n";
}

const std::vector<std::vector<std::int64_t>> lengths = {{0}, {1}, {33}, {65535}, {65536}, {65537}, {131072}, {300'001}};

TEST(SplitReduce, BlocksOfEveryKindAndType) {
  for (const char* kind : {"sum", "prod", "min", "max"}) {
    check(flat("f32", kind), lengths, 2);
    check(flat("f16", kind), lengths, 2);
  }
  check(flat("f64", "sum"), lengths, 2);
  check(flat("bf16", "sum"), lengths, 2);
  check(flat("i32", "sum"), lengths, 2);
  check(flat("u8", "max"), lengths, 2);
}

std::string dot(const std::string& type, const std::string& change = "%1 = add %0, %0\n") {
  return "program reduce\nin " + type + " [N] x\nout " + type + " [] s\n%0 = param x\n" + change +
         "%2 = reduce %0, %1, dot, axes [0]\nstore s, %2\n";
}

TEST(SplitReduce, BlocksOfProducts) {
  for (const char* type : {"f32", "f64", "f16", "bf16", "i32", "u8"}) check(dot(type), lengths, 2);
  check(dot("f32", "%1 = slice [N] %0, begin [N - 1], step [-1]\n"), {{1}, {65537}, {131'077}, {200'000}}, 2);
}

TEST(SplitReduce, ValuesFromElsewhere) {
  check(flat("f32", "sum", "%1 = slice [N] %0, begin [N - 1], step [-1]\n"), {{1}, {65537}, {200'000}}, 2);
  check(flat("i32", "sum", "%1 = slice [N] %0, begin [N - 1], step [-1]\n"), {{1}, {65537}, {200'000}}, 2);
  check(flat("f32", "sum", "%3 = exp %0\n%4 = iota f32 [N]\n%1 = fdiv %3, %4\n"), lengths, 2);
}

TEST(SplitReduce, RowsOfAnImage) {
  const auto image = [](const std::string& kind) {
    return "program reduce\nin f32 [H, W, 3] x\nout f32 [] s\n%0 = param x\n%1 = reduce %0, " + kind +
           ", axes [0, 1, 2]\nstore s, %1\n";
  };
  const std::vector<std::vector<std::int64_t>> shapes = {{0, 5, 3}, {1, 1, 3}, {100, 70, 3}, {3, 40'000, 3}, {40'000, 1, 3}};
  check(image("sum"), shapes, 2);
  check(image("max"), shapes, 2);
}

// The deviation needs the mean, which is computed once and not for each row.
TEST(SplitReduce, ReductionOfAReduction) {
  check(
      "program reduce\nin f32 [N] x\nout f32 [] s\n%0 = param x\n%1 = reduce %0, sum, axes [0]\n%2 = cast f32 (N)\n"
      "%3 = fdiv %1, %2\n%4 = sub %0, %3\n%5 = mul %4, %4\n%6 = reduce %5, sum, axes [0]\n%7 = add %6, %3\nstore s, %7\n",
      {{1}, {65537}, {300'001}}, 4);
}

TEST(SplitReduce, ShortOnesStay) {
  check("program reduce\nin f32 [4096] x\nout f32 [] s\n%0 = param x\n%1 = reduce %0, sum, axes [0]\nstore s, %1\n", {{4096}},
        1);
  check(
      "program reduce\nsymbol N max 262143\nin f32 [N] x\nout f32 [] s\n%0 = param x\n%1 = reduce %0, sum, axes [0]\n"
      "store s, %1\n",
      {{200'000}}, 1);
}

}  // namespace
}  // namespace kiln::compiler::testing
