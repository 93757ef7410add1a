// Programs with versions for rows of 2 to 8 components: the compiled object equals the interpreter, bit for bit.
#include <gtest/gtest.h>

#include "tests/run/check_at_levels.h"

namespace kiln::compiler::testing {
namespace {

constexpr int versions = 7;

// x and y [N, D]; `body` reads them as %0 and %1.
std::string program(const std::string& outputs, const std::string& body, const std::string& symbols = "symbol N\nsymbol D\n") {
  return "program rows\n" + symbols + "in f32 [N, D] x\nin f32 [D] y\n" + outputs + "%0 = param x\n%1 = param y\n" + body;
}

void check_lengths(const std::string& text, int general = 0) {
  for (const std::int64_t d : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 33})
    for (const std::int64_t n : {0, 1, 5, 64, 130})
      check_at_levels(text, {{"N", n}, {"D", d}}, general > 0 ? general + versions : 0);
}

const std::string rows = "out f32 [N, D] z\n";

TEST(ComponentVersions, Sums) { check_lengths(program("out f32 [N] z\n", "%2 = reduce %0, sum, axes [1]\nstore z, %2\n"), 2); }
TEST(ComponentVersions, Extrema) {
  check_lengths(program("out f32 [N] m\nout i64 [N] p\n",
                        "%2 = reduce %0, max, axes [1]\n%3 = reduce %0, argmin, axes [1]\nstore m, %2\nstore p, %3\n"));
}
TEST(ComponentVersions, SharedRow) { check_lengths(program(rows, "%2 = mul %0, %1\nstore z, %2\n"), 1); }
TEST(ComponentVersions, Scans) { check_lengths(program(rows, "%2 = scan %0, sum, axis 1\nstore z, %2\n"), 1); }
TEST(ComponentVersions, Softmax) {
  check_lengths(program(rows,
                        "%2 = reduce %0, max, axes [1]\n%3 = reshape [N, 1] %2\n%4 = sub %0, %3\n%5 = exp %4\n"
                        "%6 = reduce %5, sum, axes [1]\n%7 = reshape [N, 1] %6\n%8 = fdiv %5, %7\nstore z, %8\n"));
}

// The number of components is a value, too.
TEST(ComponentVersions, Mean) {
  check_lengths(
      program("out f32 [N] z\n", "%2 = reduce %0, sum, axes [1]\n%3 = cast f32 (D)\n%4 = fdiv %2, %3\nstore z, %4\n"));
}

// Points times a small matrix.
TEST(ComponentVersions, SmallMatrix) {
  check_lengths(
      "program points\nsymbol N\nsymbol D\nin f32 [N, D] x\nin f32 [D, D] w\nout f32 [N, D] z\n%0 = param x\n%1 = param w\n"
      "%2 = reshape [N, 1, D] %0\n%3 = expand [N, D, D] %2\n%4 = permute %1, axes [1, 0]\n%5 = reshape [1, D, D] %4\n"
      "%6 = expand [N, D, D] %5\n%7 = reduce %3, %6, fma, axes [2]\nstore z, %7\n");
}

// The rows are changed in place, and read by a second output.
TEST(ComponentVersions, InPlace) {
  check_lengths(
      "program unit\nsymbol N\nsymbol D\ninout f32 [N, D] x\nout f32 [N] n\n%0 = param x\n%1 = mul %0, %0\n"
      "%2 = reduce %1, sum, axes [1]\n%3 = sqrt %2\n%4 = reshape [N, 1] %3\n%5 = fdiv %0, %4\nstore x, %5\nstore n, %3\n");
}

// Facts about the symbol leave versions out.
TEST(ComponentVersions, Facts) {
  const std::string body = "%2 = reduce %0, sum, axes [1]\nstore z, %2\n", out = "out f32 [N] z\n";
  check_at_levels(program(out, body, "symbol N\nsymbol D min 3 max 4\n"), {{"N", 70}, {"D", 4}}, 2);
  check_at_levels(program(out, body, "symbol N\nsymbol D min 7 max 30\n"), {{"N", 70}, {"D", 7}}, 3);
  check_at_levels(program(out, body, "symbol N\nsymbol D min 9\n"), {{"N", 70}, {"D", 9}}, 2);
  check_at_levels(program(out, body, "symbol N\nsymbol D multiple_of 4\n"), {{"N", 70}, {"D", 4}}, 2);
}

// The rows of an image have many elements: no versions.
TEST(ComponentVersions, Images) {
  check_at_levels(
      "program total\nsymbol N\nsymbol H\nsymbol W\nin f32 [N, H, W] x\nout f32 [N] z\n%0 = param x\n"
      "%1 = reduce %0, sum, axes [1, 2]\nstore z, %1\n",
      {{"N", 3}, {"H", 4}, {"W", 3}}, 4);
}

}  // namespace
}  // namespace kiln::compiler::testing
