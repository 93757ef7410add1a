// Arguments with strides of the caller: every program gives the same bits as on dense arrays, and
// writes only its elements.
#include <gtest/gtest.h>

#include <random>

#include "compiler/interp/interpret.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/layout.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "tests/run/array_of_elements.h"
#include "tests/run/compiled.h"

namespace kiln::compiler::testing {
namespace {

// shapes: for each call, one for each parameter.
void check(const std::string& text, const std::vector<std::vector<std::vector<std::int64_t>>>& shapes) {
  SCOPED_TRACE(text);
  Graph g;
  const Program p = read_program(g, text, "strided.kiln");
  verify(g, p);
  Graph again;
  const std::string written = write_program(g, p);
  EXPECT_EQ(write_program(again, read_program(again, written)), written);
  const CompiledProgram compiled(g, p);
  std::mt19937 random(7);
  const auto element = [&] { return static_cast<float>(static_cast<int>(random() % 61)) / 4.0f; };
  for (const auto& call : shapes)
    for (int layout = 0; layout < 6; ++layout) {
      std::vector<Array> arguments;
      for (std::size_t i = 0; i < call.size(); ++i) arguments.push_back(array_of_elements(p.params[i].dtype, call[i], element));
      const auto expected = interpret(g, p, arguments);
      for (const int workers : {1, 3}) {
        const auto got = compiled(arguments, workers);
        for (std::size_t i = 0; i < got.size(); ++i)
          EXPECT_EQ(difference(expected[i], got[i]), "") << p.params[i].name << ", extents " << ::testing::PrintToString(call)
                                                         << ", layout " << layout << ", workers " << workers;
      }
    }
}

TEST(Strided, Elementwise) {
  const std::string body =
      "%0 = param a\n%1 = param x\n%2 = param y\n%3 = expand [H, W] %8\n%4 = mul %3, %1\n%5 = add %4, %2\nstore y, %5\n";
  const std::string whole = "%0 = param a\n%8 = reshape [1, 1] %0\n" + body.substr(body.find("%1"));
  for (const char* x : {"", "pitched ", "strided "})
    for (const char* y : {"", "pitched ", "strided "})
      check(
          "program saxpy\nin f32 [] a\nin f32 [H, W] " + std::string(x) + "x\ninout f32 [H, W] " + y + "y\n" + whole,
          {{{}, {3, 5}, {3, 5}}, {{}, {1, 1}, {1, 1}}, {{}, {0, 7}, {0, 7}}, {{}, {40, 130}, {40, 130}}, {{}, {2, 0}, {2, 0}}});
}

TEST(Strided, Vectors) {
  check("program twice\nin f32 [N] strided x\nout f32 [N] strided y\n%0 = param x\n%1 = add %0, %0\nstore y, %1\n",
        {{{0}, {0}}, {{1}, {1}}, {{9}, {9}}, {{1000}, {1000}}});
  check("program total\nin i64 [N] strided x\nout i64 [] y\n%0 = param x\n%1 = reduce %0, sum, axes [0]\nstore y, %1\n",
        {{{0}, {}}, {{1}, {}}, {{70000}, {}}});
}

TEST(Strided, Images) {
  for (const char* layout : {"pitched", "pitched 1", "strided"})
    check("program mean\nin u8 [H, W, 3] " + std::string(layout) + " x\nout f32 [H, W] pitched y\n" +
              "%0 = param x\n%1 = cast f32 %0\n%2 = reduce %1, sum, axes [2]\nstore y, %2\n",
          {{{4, 5, 3}, {4, 5}}, {{1, 1, 3}, {1, 1}}, {{17, 70, 3}, {17, 70}}});
  check(
      "program planes\nin f32 [H, W, 3] pitched 1 x\nout f32 [3, H, W] strided y\n%0 = param x\n"
      "%1 = permute %0, axes [2, 0, 1]\nstore y, %1\n",
      {{{4, 5, 3}, {3, 4, 5}}, {{9, 40, 3}, {3, 9, 40}}});
}

TEST(Strided, RowsAndColumns) {
  check(
      "program softmax\nin f32 [H, W] pitched x\nout f32 [H, W] pitched y\n%0 = param x\n%1 = reduce %0, max, axes [1]\n"
      "%2 = reshape [H, 1] %1\n%3 = expand [H, W] %2\n%4 = sub %0, %3\n%5 = exp %4\n%6 = reduce %5, sum, axes [1]\n"
      "%7 = reshape [H, 1] %6\n%8 = expand [H, W] %7\n%9 = fdiv %5, %8\nstore y, %9\n",
      {{{5, 33}, {5, 33}}, {{1, 1}, {1, 1}}, {{70, 130}, {70, 130}}});
  check(
      "program columns\nin f32 [H, W] strided x\nout f32 [W] strided y\n%0 = param x\n%1 = reduce %0, sum, axes [0]\n"
      "store y, %1\n",
      {{{5, 33}, {33}}, {{100, 3}, {3}}, {{0, 4}, {4}}});
  check(
      "program product\nin f32 [M, K] pitched a\nin f32 [K, N] pitched b\nout f32 [M, N] pitched c\n%0 = param a\n"
      "%1 = param b\n%2 = reshape [M, 1, K] %0\n%3 = expand [M, N, K] %2\n%4 = permute %1, axes [1, 0]\n"
      "%5 = reshape [1, N, K] %4\n%6 = expand [M, N, K] %5\n%7 = reduce %3, %6, fma, axes [2]\nstore c, %7\n",
      {{{5, 7}, {7, 9}, {5, 9}}, {{33, 40}, {40, 65}, {33, 65}}});
}

// A parameter that the program reads at other elements than it writes goes through temporary memory.
TEST(Strided, InPlace) {
  check(
      "program flipped\ninout f32 [H, W] strided x\n%0 = param x\n%1 = slice [H, W] %0, begin [H - 1, 0], step [-1, 1]\n"
      "store x, %1\n",
      {{{5, 4}}, {{1, 1}}, {{0, 3}}, {{40, 40}}});
  check(
      "program swapped\ninout f32 [N] strided x\ninout f32 [N] strided y\n%0 = param x\n%1 = param y\nstore x, %1\nstore y, "
      "%0\n",
      {{{5}, {5}}, {{100}, {100}}});
  check("program transposed\ninout f32 [4, 4] pitched x\n%0 = param x\n%1 = permute %0, axes [1, 0]\nstore x, %1\n",
        {{{4, 4}}});
}

TEST(Strided, ShapesOfOutputs) {
  check(
      "program flat\nin f32 [H, W] pitched x\nout f32 [H*W] strided y\n%0 = param x\n%1 = stage %0\n%2 = add %1, %1\n"
      "%3 = reshape [H*W] %2\nstore y, %3\n",
      {{{5, 4}, {20}}, {{1, 7}, {7}}});
  check(
      "program row\nin f32 [N] strided x\nout f32 [1, N] pitched y\nout f32 [N, 1] strided z\n%0 = param x\n"
      "%1 = reshape [1, N] %0\n%2 = reshape [N, 1] %0\nstore y, %1\nstore z, %2\n",
      {{{5}, {1, 5}, {5, 1}}, {{1}, {1, 1}, {1, 1}}});
  check(
      "program shared\nin f32 [H, W] pitched x\nout f32 [H, W] strided y\nout f32 [H, W] z\n%0 = param x\n%1 = exp %0\n"
      "%2 = add %1, %0\nstore y, %1\nstore z, %2\n",
      {{{5, 4}, {5, 4}, {5, 4}}});
}

TEST(Strided, ExplicitKernels) {
  check(
      "program scatter\nin f32 [N] strided x\nin i32 [N] strided position\ninout f32 [64] strided y\n%0 = param x\n"
      "%1 = param position\n%2 = param y\n%3 = range (N), id 0\n%4 = carry %3, %2, slot 0\n%5 = index %1, %3\n"
      "%6 = cast index %5\n%7 = const bool true\n%8 = index %0, %3\n%9 = cast i32 %8\n%10 = cast f32 %9\n"
      "%11 = atomic %4, %7, %10, %6, add\n%12 = kernel %3, %2, %11\n%13 = get %12, slot 0\nstore y, %13\n",
      {{{7}, {7}, {64}}, {{300}, {300}, {64}}});
  check(
      "program stripes\nout i32 [H, W] pitched img\n%0 = param img\n%1 = range (H), id 0\n%2 = range (W), id 1\n"
      "%3 = carry %1, %0, slot 0\n%4 = const bool true\n%5 = add index %1, %2\n%6 = cast i32 %5\n"
      "%7 = update %3, %4, %6, %1, %2\n%8 = kernel %1, %2, %0, %7\n%9 = get %8, slot 0\nstore img, %9\n",
      {{{3, 4}}, {{20, 100}}, {{1, 1}}});
}

TEST(Strided, LoopsOutsideOfKernels) {
  check(
      "program wave\nin i32 [] steps\ninout f32 [N] strided now\ninout f32 [N] strided before\n%0 = param steps\n"
      "%1 = param now\n%2 = param before\n%3 = cast index %0\n%4 = range (2147483647), id 0\n%5 = carry %4, %1, slot 0\n"
      "%6 = carry %4, %2, slot 1\n%7 = pad [N + 2] %5, before [1], mode wrap\n%8 = slice [N] %7, begin [0]\n"
      "%9 = slice [N] %7, begin [2]\n%10 = add %8, %9\n%11 = sub %10, %6\n%12 = for %4, (0), %3, %1, %2, %11, %5\n"
      "%13 = get %12, slot 0\n%14 = get %12, slot 1\nstore now, %13\nstore before, %14\n",
      {{{}, {5}, {5}}, {{}, {90}, {90}}});
  check(
      "program running_sums\ninout f32 [N] strided x\n%0 = param x\n%1 = range (N), id 0\n%2 = carry %1, %0, slot 0\n"
      "%3 = const index -1\n%4 = add index %1, %3\n%5 = index %2, %4\n%6 = index %2, %1\n%7 = add %5, %6\n"
      "%8 = const bool true\n%9 = update %2, %8, %7, %1\n%10 = for %1, (1), (N), %0, %9\n%11 = get %10, slot 0\nstore x, %11\n",
      {{{5}}, {{1}}, {{77}}});
}

TEST(Strided, TextForm) {
  const auto refused = [](const std::string& line) {
    Graph g;
    try {
      read_program(g, "program p\n" + line + "\n%0 = param x\nstore y, %0\n", "p.kiln");
    } catch (const Diagnostic& d) {
      return std::string(d.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(refused("in f32 [N] pitched x\nout f32 [N] y"),
            "p.kiln:2:20: error: E-rank: expected two axes or more of a pitched parameter, got rank 1");
  EXPECT_EQ(refused("in f32 [] strided x\nout f32 [] y"),
            "p.kiln:2:19: error: E-rank: expected an axis or more of a strided parameter, got rank 0");
  EXPECT_EQ(refused("in f32 [N, 4] pitched 3 x\nout f32 [N, 4] y"),
            "p.kiln:2:24: error: E-rank: expected at most 2 strides, got 3");
  Graph g;
  const Program p = read_program(g,
                                 "program p\nin f32 [N] pitched\nout f32 [N, M] pitched strided\nin f32 [M] m\n%0 = param m\n"
                                 "%1 = reshape [1, M] %0\n%2 = expand [N, M] %1\nstore strided, %2\n");
  EXPECT_EQ(p.params[0].name, "pitched");
  EXPECT_EQ(p.params[0].free_strides, 0);
  EXPECT_EQ(p.params[1].name, "strided");
  EXPECT_EQ(p.params[1].free_strides, 1);
  ASSERT_EQ(p.symbols.size(), 3u);
  EXPECT_EQ(p.symbols[2].name, "strided.stride0");
  EXPECT_EQ(p.symbols[2].kind, Symbol::Kind::stride);
}

}  // namespace
}  // namespace kiln::compiler::testing
