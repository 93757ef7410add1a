// Few rows times a transposed matrix, and other reductions along rows whose lanes are in different rows: lanes load tiles and
// transpose them. The compiled object equals the interpreter, bit for bit. Extents: around the tiles, none, one, symbolic.
#include <gtest/gtest.h>

#include "tests/run/check_at_levels.h"

namespace kiln::compiler::testing {
namespace {

// y[m, n] = sum over k of x[m, k] * w[n, k].
std::string product(const std::string& type, const std::string& m, const std::string& k, const std::string& n) {
  const std::string all = " [" + m + ", " + n + ", " + k + "] ";
  return "program product\nin " + type + " [" + m + ", " + k + "] x\nin " + type + " [" + n + ", " + k + "] w\nout " + type +
         " [" + m + ", " + n + "] y\n%0 = param x\n%1 = param w\n%2 = reshape [" + m + ", 1, " + k + "] %0\n%3 = reshape [1, " +
         n + ", " + k + "] %1\n%4 = expand" + all + "%2\n%5 = expand" + all +
         "%3\n%6 = reduce %4, %5, fma, axes [2]\nstore y, %6\n";
}

TEST(TransposeLoads, TypesOfProducts) {
  for (const char* type : {"f32", "f64", "f16", "bf16", "i32", "i64", "u8"})
    check_at_levels(product(type, "1", "83", "67"), {});
}

TEST(TransposeLoads, ConstantExtents) {
  for (const char* k : {"15", "16", "17", "32", "100"})
    for (const char* m : {"1", "2", "5", "7"}) check_at_levels(product("f32", m, k, "37"), {});
}

TEST(TransposeLoads, SymbolicExtents) {
  for (const std::int64_t k : {0, 1, 8, 16, 31, 70})
    for (const std::int64_t n : {0, 1, 16, 33}) {
      check_at_levels(product("f32", "3", "K", "N"), {{"K", k}, {"N", n}});
      check_at_levels(product("f32", "1", "K", "N"), {{"K", k}, {"N", n}});
    }
}

// Heads: each has rows of its own, so that the tiles are not shared.
TEST(TransposeLoads, Batches) {
  check_at_levels(
      "program heads\nin f32 [5, 64] q\nin f32 [5, 40, 64] k\nout f32 [5, 40] y\n%0 = param q\n%1 = param k\n"
      "%2 = reshape [5, 1, 64] %0\n%3 = expand [5, 40, 64] %2\n%4 = reduce %3, %1, fma, axes [2]\nstore y, %4\n",
      {});
}

}  // namespace
}  // namespace kiln::compiler::testing
