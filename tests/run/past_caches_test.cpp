// Results larger than the caches, whose stores go past them: the compiled object equals the interpreter, bit for bit. The
// arrays begin at no multiple of a cache line.
#include <gtest/gtest.h>

#include "tests/run/check_at_levels.h"

namespace kiln::compiler::testing {
namespace {

TEST(PastCaches, Elementwise) {
  const std::string body = "%0 = param a\n%1 = param b\n%2 = mul %0, %1\n%3 = max %2, %0\nstore y, %3\n";
  check_at_levels("program product\nin f32 [2900017] a\nin f32 [2900017] b\nout f32 [2900017] y\n" + body, {});
  for (const std::int64_t n : {100, 2'796'202, 2'796'203, 3'000'000})
    check_at_levels("program product\nsymbol N\nin f32 [N] a\nin f32 [N] b\nout f32 [N] y\n" + body, {{"N", n}});
}

// Rows, each of which begins at another alignment, and rows that are too short for whole vectors.
TEST(PastCaches, RowsWithABias) {
  for (const std::int64_t columns : {3, 131, 4099})
    check_at_levels(
        "program biased\nsymbol M\nsymbol N\nin f64 [M, N] x\nin f64 [N] bias\nout f64 [M, N] y\n%0 = param x\n"
        "%1 = param bias\n%2 = reshape [1, N] %1\n%3 = expand [M, N] %2\n%4 = add %0, %3\nstore y, %4\n",
        {{"M", 2'200'000 / columns}, {"N", columns}});
}

TEST(PastCaches, Border) {
  check_at_levels(
      "program shifted\nsymbol N\nin f32 [N] x\nout f32 [N] y\n%0 = param x\n%1 = slice [N - 1] %0, begin [0]\n"
      "%2 = pad [N] %1, before [1]\n%3 = add %0, %2\nstore y, %3\n",
      {{"N", 4'400'001}});
}

// Four rows of the result at a time share loads of the argument. Each row begins at another alignment.
TEST(PastCaches, RowsThatShareLoads) {
  check_at_levels(
      "program beside\nsymbol R\nsymbol N\nin f64 [R, N] a\nout f64 [R, N + N] y\n%0 = param a\n"
      "%1 = pad [R, N + N] %0, before [0, 0]\n%2 = pad [R, N + N] %0, before [0, N]\n%3 = add %1, %2\nstore y, %3\n",
      {{"R", 301}, {"N", 7001}});
}

// An array that the kernel also reads stays in the caches.
TEST(PastCaches, InPlace) {
  check_at_levels(
      "program more\nsymbol N\nin f32 [N] x\ninout f32 [N] y\n%0 = param x\n%1 = param y\n%2 = add %0, %1\nstore y, "
      "%2\n",
      {{"N", 4'300'001}});
}

}  // namespace
}  // namespace kiln::compiler::testing
