// Reductions and single elements of the same inputs in one loop, and channels of images as rows: the compiled object equals
// the interpreter, bit for bit.
#include <gtest/gtest.h>

#include <random>

#include "compiler/interp/interpret.h"
#include "compiler/ir/text.h"
#include "tests/run/array_of_elements.h"
#include "tests/run/compiled.h"

namespace kiln::compiler::testing {
namespace {

using Shapes = std::vector<std::vector<std::int64_t>>;  // by parameter

// kernels: the required number of kernels.
void check(const std::string& text, const std::vector<Shapes>& calls, int kernels) {
  SCOPED_TRACE(text);
  Graph g;
  const Program p = read_program(g, text, "siblings.kiln");
  const CompiledProgram compiled(g, p);
  EXPECT_EQ(compiled.description()->n_kernels, kernels);
  std::mt19937 random(5);
  const auto element = [&] { return static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 499.0f; };
  for (const Shapes& shapes : calls) {
    std::vector<Array> arguments;
    for (std::size_t i = 0; i < p.params.size(); ++i) {
      arguments.push_back(array_of_elements(p.params[i].dtype, shapes[i], element));
      if (p.params[i].direction == Direction::out) arguments[i].data.clear();
    }
    const auto expected = interpret(g, p, arguments);
    for (const int workers : {1, 3}) {
      const auto results = compiled(arguments, workers);
      for (std::size_t i = 0; i < p.params.size(); ++i)
        EXPECT_EQ(difference(expected[i], results[i]), "")
            << p.params[i].name << " of " << ::testing::PrintToString(shapes) << ", workers " << workers;
    }
  }
}

std::vector<Shapes> vectors(const std::vector<std::int64_t>& lengths, const Shapes& shape_of_call) {
  std::vector<Shapes> out;
  for (const std::int64_t n : lengths) {
    out.push_back(shape_of_call);
    for (auto& shape : out.back())
      for (std::int64_t& extent : shape) extent = n;
  }
  return out;
}

const std::vector<std::int64_t> lengths = {0, 1, 31, 33, 65'535, 65'537, 131'072, 300'001};

std::string loss(const std::string& type, const std::string& kind) {
  return "program p\nin " + type + " [N] x\nin " + type + " [N] t\nout " + type + " [] loss\nout " + type +
         " [N] g\n%0 = param x\n%1 = param t\n%2 = sub %0, %1\n%3 = abs %2\n%4 = mul %2, %3\n%5 = reduce %3, " + kind +
         ", axes [0]\nstore loss, %5\nstore g, %4\n";
}

TEST(SiblingKernels, GradientBesideALoss) {
  for (const char* type : {"f32", "f64", "f16"}) check(loss(type, "sum"), vectors(lengths, {{0}, {0}, {}, {0}}), 2);
  check(loss("f32", "max"), vectors(lengths, {{0}, {0}, {}, {0}}), 2);
}

// The sum takes the values that are stored, rounded to f16, without loading them.
TEST(SiblingKernels, ResidualBesideItsNorm) {
  for (const std::string type : {"f32", "f16"})
    check("program p\nin " + type + " [N] x\nin " + type + " [N] t\nout " + type + " [N] r\nout " + type +
              " [] norm\n%0 = param x\n%1 = param t\n%2 = sub %0, %1\n%3 = exp %2\n%4 = reduce %3, %3, dot, axes [0]\n"
              "store r, %3\nstore norm, %4\n",
          vectors({1, 33, 65'537, 300'001}, {{0}, {0}, {0}, {}}), 2);
}

TEST(SiblingKernels, UpdateInPlaceBesideANorm) {
  check(
      "program p\ninout f32 [N] w\ninout f32 [N] m\nin f32 [N] g\nout f32 [] norm\n%0 = param w\n%1 = param m\n%2 = param g\n"
      "%3 = add %1, %2\n%4 = sub %0, %3\n%5 = mul %2, %2\n%6 = reduce %5, sum, axes [0]\n"
      "store w, %4\nstore m, %3\nstore norm, %6\n",
      vectors({1, 33, 65'537, 300'001}, {{0}, {0}, {0}, {}}), 2);
}

// The sum reads the old values of w, so no loop may change them before.
TEST(SiblingKernels, NormOfOldValues) {
  check(
      "program p\ninout f32 [N] w\nin f32 [N] g\nout f32 [] norm\n%0 = param w\n%1 = param g\n%2 = sub %0, %1\n"
      "%3 = mul %0, %1\n%4 = reduce %3, sum, axes [0]\nstore w, %2\nstore norm, %4\n",
      vectors({1, 65'537, 300'001}, {{0}, {0}, {}}), 3);
}

// The second result needs its neighbours, which another iteration computes.
TEST(SiblingKernels, NeighboursStayApart) {
  check(
      "program p\nin f32 [300001] x\nout f32 [300001] e\nout f32 [300000] d\nout f32 [] s\n%0 = param x\n%1 = exp %0\n"
      "%2 = slice [300000] %1, begin [0]\n%3 = slice [300000] %1, begin [1]\n%4 = sub %3, %2\n%5 = reduce %1, sum, axes [0]\n"
      "store e, %1\nstore d, %4\nstore s, %5\n",
      {{{300'001}, {300'001}, {300'000}, {}}}, 3);
}

TEST(SiblingKernels, Rows) {
  const auto rows = [](const std::string& n) {
    return "program p\nin f32 [40, " + n + "] x\nin f32 [40] a\nout f32 [40, " + n +
           "] y\nout f32 [40] most\nout f32 [40] s\n" +
           "%0 = param x\n%1 = param a\n%2 = reshape [40, 1] %1\n%3 = expand [40, " + n + "] %2\n%4 = mul %0, %3\n" +
           "%5 = reduce %0, max, axes [1]\n%6 = mul %0, %0\n%7 = reduce %6, sum, axes [1]\n" +
           "store y, %4\nstore most, %5\nstore s, %7\n";
  };
  for (const std::int64_t n : {64, 100, 129}) check(rows(std::to_string(n)), {{{40, n}, {40}, {40, n}, {40}, {40}}}, 1);
}

// Statistics and results of one channel after the other. Rows of symbolic length have two versions (row_lengths.h), of which a
// call runs one.
TEST(SiblingKernels, ChannelsOfImages) {
  const auto normal = [](const std::string& shape) {
    return "program p\nin f32 [" + shape + "] x\nout f32 [" + shape +
           "] y\n%0 = param x\n%1 = reduce %0, sum, axes [0, 2, 3]\n" +
           "%2 = const f32 0.01\n%3 = reshape [1] %2\n%4 = expand [20] %3\n%5 = mul %1, %4\n%6 = reshape [1, 20, 1, 1] %5\n" +
           "%7 = expand [" + shape + "] %6\n%8 = sub %0, %7\n%9 = mul %8, %8\n%10 = reduce %9, sum, axes [0, 2, 3]\n" +
           "%11 = reshape [1, 20, 1, 1] %10\n%12 = expand [" + shape + "] %11\n%13 = fdiv %8, %12\nstore y, %13\n";
  };
  check(normal("3, 20, 9, 15"), {{{3, 20, 9, 15}, {3, 20, 9, 15}}}, 1);
  check(normal("2, 20, 33, 65"), {{{2, 20, 33, 65}, {2, 20, 33, 65}}}, 1);
  check(normal("N, 20, H, W"),
        {{{3, 20, 7, 9}, {3, 20, 7, 9}}, {{1, 20, 1, 1}, {1, 20, 1, 1}}, {{2, 20, 3, 65}, {2, 20, 3, 65}}, {{2, 20, 5, 33}, {2, 20, 5, 33}}},
        2);
}

// Two sums of each channel that do not need each other, and results that need both.
TEST(SiblingKernels, DerivativeOfChannels) {
  const std::string shape = "3, 20, 7, 40";
  check("program p\nin f32 [" + shape + "] d\nin f32 [" + shape + "] x\nout f32 [" + shape + "] y\nout f32 [20] a\n" +
            "%0 = param d\n%1 = param x\n%2 = reduce %0, sum, axes [0, 2, 3]\n%3 = mul %0, %1\n" +
            "%4 = reduce %3, sum, axes [0, 2, 3]\n%5 = reshape [1, 20, 1, 1] %2\n%6 = expand [" + shape + "] %5\n" +
            "%7 = reshape [1, 20, 1, 1] %4\n%8 = expand [" + shape + "] %7\n%9 = mul %1, %8\n%10 = sub %0, %6\n" +
            "%11 = sub %10, %9\nstore y, %11\nstore a, %4\n",
        {{{3, 20, 7, 40}, {3, 20, 7, 40}, {3, 20, 7, 40}, {20}}}, 1);
}

// Rows whose last elements fill a part of a vector, of which the number is a constant.
TEST(SiblingKernels, SumsWrittenOut) {
  for (const std::int64_t n : {17, 31, 32, 33, 40, 63, 64, 65, 95})
    for (const std::string type : {"f32", "f16", "i8"}) {
      const std::string shape = "[9, " + std::to_string(n) + "]";
      check(
          "program p\nin " + type + " " + shape + " x\nout " + type + " [9] s\nout " + type +
              " [9] m\n%0 = param x\n%1 = reduce %0, sum, axes [1]\n%2 = reduce %0, max, axes [1]\nstore s, %1\nstore m, %2\n",
          {{{9, n}, {9}, {9}}}, 1);
    }
}

// Without its load of y the maximum has no contiguous load, so it is no loop over vectors that could store y.
TEST(SiblingKernels, ValuesWithoutContiguousLoads) {
  check(
      "program p\nin f32 [40, 70] strided x\nout i32 [40, 70] y\nout i32 [40] most\n%0 = param x\n%1 = exp %0\n"
      "%2 = cast i32 %1\n%3 = reduce %2, max, axes [1]\nstore y, %2\nstore most, %3\n",
      {{{40, 70}, {40, 70}, {40}}}, 1);
}

}  // namespace
}  // namespace kiln::compiler::testing
