// Reductions along short rows of symbolic length, which have lanes of rows: the compiled object equals the interpreter, bit for
// bit.
#include <gtest/gtest.h>

#include "tests/run/check_at_levels.h"

namespace kiln::compiler::testing {
namespace {

// One input x [N, D] of the type; `body` reads it as %0.
std::string program(const std::string& type, const std::string& outputs, const std::string& body,
                    const std::string& symbols = "symbol N\nsymbol D\n") {
  return "program rows\n" + symbols + "in " + type + " [N, D] x\n" + outputs + "%0 = param x\n" + body;
}

std::string reduced(const std::string& type, const std::string& kind) {
  const bool is_position = kind.starts_with("arg");
  return program(type, "out " + (is_position ? "i64" : type) + " [N] y\n",
                 "%1 = reduce %0, " + kind + ", axes [1]\nstore y, %1\n");
}

// Kernels for rows of 2 to 8 elements (component_versions), and the ones of this test.
// Around the limits of short rows, of blocks of a row, and of whole tiles.
const std::int64_t lengths[] = {0, 1, 3, 4, 5, 7, 8, 10, 16, 17, 31, 32, 33, 65}, rows[] = {0, 63, 64, 65, 127, 200};

void check_lengths(const std::string& text, int kernels) {
  for (const std::int64_t d : lengths)
    for (const std::int64_t n : rows) check_at_levels(text, {{"N", n}, {"D", d}}, kernels);
}

TEST(ShortRows, Reductions) {
  for (const char* kind : {"sum", "prod"}) check_lengths(reduced("f32", kind), 9);
  for (const char* kind : {"max", "argmax", "argmin"}) check_lengths(reduced("f32", kind), 10);  // with tiles, too
}

TEST(ShortRows, Types) {
  for (const char* type : {"f64", "f16", "bf16", "i32", "u8", "i64"})
    for (const std::int64_t d : {0, 5, 9, 32, 40})
      for (const std::int64_t n : {65, 300}) {
        check_at_levels(reduced(type, "sum"), {{"N", n}, {"D", d}});
        check_at_levels(reduced(type, "min"), {{"N", n}, {"D", d}});
      }
}

// Many tiles, on several threads.
TEST(ShortRows, ManyRows) {
  for (const std::int64_t n : {4095, 4097, 9000}) check_at_levels(reduced("f32", "sum"), {{"N", n}, {"D", 12}}, 9);
}

const std::string softmax =
    "%1 = reduce %0, max, axes [1]\n%2 = reshape [N, 1] %1\n%3 = expand [N, D] %2\n%4 = sub %0, %3\n%5 = exp %4\n"
    "%6 = reduce %5, sum, axes [1]\n%7 = reshape [N, 1] %6\n%8 = expand [N, D] %7\n%9 = fdiv %5, %8\nstore y, %9\n";

TEST(ShortRows, Softmax) { check_lengths(program("f32", "out f32 [N, D] y\n", softmax), 9); }

// A sum over two short axes: the sums of the last axis have a tile step of their own. Images whose rows are short have a
// version too.
TEST(ShortRows, TwoAxes) {
  const std::string text =
      "program means\nsymbol N\nsymbol H\nsymbol W\nin f32 [N, H, W] x\nout f32 [N] y\n%0 = param x\n"
      "%1 = reduce %0, sum, axes [2]\n%2 = reduce %1, sum, axes [1]\nstore y, %2\n";
  for (const std::int64_t n : {64, 100})
    for (const std::int64_t h : {0, 1, 2, 7, 8, 33})
      for (const std::int64_t w : {0, 1, 3, 7, 9, 33}) check_at_levels(text, {{"N", n}, {"H", h}, {"W", w}}, 4);
}

// Rows of two lengths, and a vector that all rows share.
TEST(ShortRows, SeveralInputs) {
  const std::string text =
      "program several\nsymbol N\nsymbol D\nsymbol E\nin f32 [N, D] x\nin f32 [N, E] z\nin f32 [D] w\nout f32 [N, E] y\n"
      "%0 = param x\n%1 = param z\n%2 = param w\n%3 = reshape [1, D] %2\n%4 = expand [N, D] %3\n"
      "%5 = reduce %0, %4, dot, axes [1]\n%6 = reshape [N, 1] %5\n%7 = expand [N, E] %6\n%8 = mul %1, %7\nstore y, %8\n";
  for (const std::int64_t n : {64, 130})
    for (const std::int64_t d : {0, 4, 11, 32, 33})
      for (const std::int64_t e : {0, 4, 9, 64, 65}) check_at_levels(text, {{"N", n}, {"D", d}, {"E", e}});
}

// The facts decide: rows are never short, always short, or too few for a tile. Then they have versions by their length
// (row_lengths.h).
TEST(ShortRows, FactsDecide) {
  const std::string sum = "%1 = reduce %0, sum, axes [1]\nstore y, %1\n", y = "out f32 [N] y\n";
  check_at_levels(program("f32", y, sum, "symbol N\nsymbol D min 33\n"), {{"N", 70}, {"D", 40}}, 1);
  check_at_levels(program("f32", y, sum, "symbol N min 64\nsymbol D min 9 max 32\n"), {{"N", 70}, {"D", 9}}, 1);
  check_at_levels(program("f32", y, sum, "symbol N max 63\nsymbol D min 9\n"), {{"N", 60}, {"D", 9}}, 2);
}

// A copy takes whole rows, so kernels whose last rows are not in memory have versions by the length of rows only.
TEST(ShortRows, RowsBehindTheEnd) {
  const std::string sum = "%2 = reduce %1, sum, axes [1]\nstore y, %2\n";
  check_lengths(program("f32", "out f32 [N + 5] y\n", "%1 = pad f32 [N + 5, D] %0, before [0, 0]\n" + sum), 9);
  const std::string odd = "program rows\nsymbol N\nsymbol D\nin f32 [2 * N + 1, D] x\nout f32 [N + 1] y\n%0 = param x\n";
  check_lengths(odd + "%1 = slice f32 [N + 1, D] %0, begin [0, 0], step [2, 1]\n" + sum, 9);
}

// A kernel that loads an output which it stores has no version that computes rows twice.
TEST(ShortRows, OutputThatIsLoaded) {
  check_lengths(program("f32", "out f32 [N, D] y\nout f32 [N] m\n", softmax + "store m, %6\n"), 9);
}

}  // namespace
}  // namespace kiln::compiler::testing
