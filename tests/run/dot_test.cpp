// Striped products of vectors: compiled for each level, they equal the interpreter bit for bit, at the extents around the
// stripes and the blocks, and at special values. unit.interp_reduce_test compares the interpreter with the definition.
#include <gtest/gtest.h>

#include <deque>
#include <limits>
#include <random>

#include "compiler/interp/interpret.h"
#include "compiler/ir/text.h"
#include "tests/run/array_of_elements.h"
#include "tests/run/check_at_levels.h"
#include "tests/run/compiled.h"

namespace kiln::compiler::testing {
namespace {

using Shape = std::vector<std::int64_t>;
using Shapes = std::vector<Shape>;  // of the parameters

enum class Elements { random, tiny, special };

float element(Elements e, std::mt19937& random) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  static constexpr float special[] = {0, -0.0f, inf, -inf, nan, 1e38f, -1e38f, 1e-40f, -3};
  const float sign = random() % 2 == 0 ? 1.0f : -1.0f;
  if (e == Elements::tiny) return sign * 1e-30f;  // every product of f32 rounds to +0 or -0
  if (e == Elements::special && random() % 4 == 0) return special[random() % std::size(special)];
  return sign * static_cast<float>(random() % 2001) / 997.0f;
}

// For programs whose last parameter is the only output.
void check(const std::string& text, const std::vector<Shapes>& calls) {
  SCOPED_TRACE(text);
  Graph g;
  const Program p = read_program(g, text, "dot.kiln");
  std::mt19937 random(5);
  std::deque<CompiledProgram> compiled;
  const std::vector<std::string> levels = next_levels();
  for (const std::string& cpu : levels) compiled.emplace_back(g, p, std::vector{cpu});
  for (const Shapes& shapes : calls)
    for (const Elements e : {Elements::random, Elements::tiny, Elements::special}) {
      std::vector<Array> arguments;
      for (std::size_t i = 0; i < shapes.size(); ++i)
        arguments.push_back(array_of_elements(p.params[i].dtype, shapes[i], [&] { return element(e, random); }));
      const auto expected = interpret(g, p, arguments);
      for (std::size_t c = 0; c < compiled.size(); ++c)
        for (const int workers : {1, 3})
          ASSERT_EQ(difference(expected.back(), compiled[c](arguments, workers).back()), "")
              << levels[c] << ' ' << ::testing::PrintToString(shapes) << ", workers " << workers;
    }
}

constexpr std::int64_t extents[] = {0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 65535, 65536, 65537, 131'077};

class Dot : public ::testing::TestWithParam<const char*> {};

TEST_P(Dot, OfVectors) {
  const std::string d = GetParam();
  std::vector<Shapes> calls;
  for (const std::int64_t n : extents) calls.push_back({{n}, {n}, {}});
  for (const char* facts : {"", "symbol N max 1000000\n"})  // with and without a third level of blocks
    check("program dot\n" + std::string(facts) + "in " + d + " [N] x\nin " + d + " [N] y\nout " + d +
              " [] s\n%0 = param x\n%1 = param y\n%2 = reduce %0, %1, dot, axes [0]\nstore s, %2\n",
          calls);
}

TEST_P(Dot, OfConstantExtents) {
  const std::string d = GetParam();
  for (const std::int64_t n : {0, 1, 2, 7, 8, 9, 31, 32, 33, 100, 65537}) {
    const std::string k = std::to_string(n);
    check("program dot\nin " + d + " [M, " + k + "] a\nin " + d + " [" + k + "] x\nout " + d +
              " [M] y\n%0 = param a\n%1 = param x\n%2 = reduce %0, %1, dot, axes [1]\nstore y, %2\n",
          {{{0, n}, {n}, {0}}, {{1, n}, {n}, {1}}, {{19, n}, {n}, {19}}});
  }
}

TEST_P(Dot, OfEachRow) {
  const std::string d = GetParam();
  std::vector<Shapes> calls;
  for (const std::int64_t n : {0, 1, 8, 31, 32, 33, 65537})
    for (const std::int64_t m : {0, 1, 5, 9}) calls.push_back({{2, m, n}, {n}, {2, m}});
  check("program dot\nin " + d + " [B, M, K] a\nin " + d + " [K] x\nout " + d +
            " [B, M] y\n%0 = param a\n%1 = param x\n%2 = reduce %0, %1, dot, axes [2]\nstore y, %2\n",
        calls);
}

// Neighbours of the sum are far apart in memory. facts: a statement about K, if that is a symbol.
std::string columns(const std::string& d, const std::string& k, const std::string& facts = "") {
  return "program dot\n" + facts + "in " + d + " [" + k + ", M] a\nin " + d + " [" + k + "] x\nout " + d +
         " [M] y\n%0 = param a\n%1 = param x\n%2 = permute %0, axes [1, 0]\n%3 = reduce %2, %1, dot, axes [1]\nstore y, %3\n";
}

TEST_P(Dot, OfEachColumn) {
  std::vector<Shapes> calls;
  for (const std::int64_t n : {0, 1, 8, 31, 32, 33, 65, 65536})
    for (const std::int64_t m : {0, 1, 5, 33}) calls.push_back({{n, m}, {n}, {m}});
  check(columns(GetParam(), "K", "symbol K max 65536\n"), calls);
  calls.push_back({{65'537, 17}, {65'537}, {17}});
  check(columns(GetParam(), "K"), calls);
  for (const std::int64_t n : {9, 17, 32, 127})
    check(columns(GetParam(), std::to_string(n)), {{{n, 0}, {n}, {0}}, {{n, 1}, {n}, {1}}, {{n, 45}, {n}, {45}}});
}

INSTANTIATE_TEST_SUITE_P(DTypes, Dot, ::testing::Values("f32", "f64", "f16", "bf16", "i8", "i32", "u64"),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST(DotOf, WiderAccumulation) {  // matmul<f32>(weights, x)
  check(
      "program dot\nin i8 [M, K] a\nin f32 [K] x\nout f32 [M] y\n%0 = param a\n%1 = param x\n%2 = cast f32 %0\n"
      "%3 = reduce %2, %1, dot, axes [1]\nstore y, %3\n",
      {{{5, 0}, {0}, {5}}, {{5, 33}, {33}, {5}}, {{3, 65'600}, {65'600}, {3}}});
}

TEST(DotOf, OneVectorWithItself) {
  for (const char* n : {"5", "40", "N"}) {
    const std::int64_t count = *n == 'N' ? 70'000 : std::stoi(n);
    check("program dot\nin f32 [" + std::string(n) + "] x\nout f32 [] s\n%0 = param x\n%1 = reduce %0, %0, dot, axes [0]\n" +
              "store s, %1\n",
          {{{count}, {}}});
  }
}

// Inside a kernel the vectors are a few scalars, and the sum is written out.
TEST(DotOf, SmallVectorsInAKernel) {
  for (const std::string n : {"1", "2", "3", "31", "32", "33", "64"})
    check("program dot\nin f32 [N] x\nin f32 [" + n + "] w\nout f32 [N] y\n%0 = param x\n%1 = param w\n%2 = param y\n" +
              "%3 = range (N), id 0\n%4 = carry %3, %2, slot 0\n%5 = index %0, %3\n%6 = reshape [1] %5\n%7 = expand [" + n +
              "] %6\n%8 = reduce %7, %1, dot, axes [0]\n%9 = const bool true\n%10 = update %4, %9, %8, %3\n" +
              "%11 = kernel %3, %2, %10\n%12 = get %11, slot 0\nstore y, %12\n",
          {{{0}, {std::stoi(n)}, {0}}, {{1}, {std::stoi(n)}, {1}}, {{45}, {std::stoi(n)}, {45}}});
}

}  // namespace
}  // namespace kiln::compiler::testing
