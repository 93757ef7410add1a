// Striped sums down the columns of a matrix, whose stripes a kernel of their own computes: the compiled object equals the
// interpreter, bit for bit. Extents: around the stripes and the blocks, none, one, constant and symbolic.
#include <gtest/gtest.h>

#include "tests/run/check_at_levels.h"

namespace kiln::compiler::testing {
namespace {

// y[j] = sum over k of w[k, j] * x[k]. facts: a line about K.
std::string product(const std::string& type, const std::string& k, const std::string& n, const std::string& facts = "") {
  return "program product\n" + facts + "in " + type + " [" + k + ", " + n + "] w\nin " + type + " [" + k + "] x\nout " + type +
         " [" + n + "] y\n%0 = param w\n%1 = param x\n%2 = permute %0, axes [1, 0]\n%3 = reshape [1, " + k +
         "] %1\n%4 = expand [" + n + ", " + k + "] %3\n%5 = reduce %2, %4, dot, axes [1]\nstore y, %5\n";
}

TEST(SplitStripes, ConstantProducts) {
  for (const char* type : {"f32", "f64", "f16", "bf16"}) check_at_levels(product(type, "512", "70"), {}, 2);
  for (const char* k : {"543", "544", "545", "1021"}) check_at_levels(product("f32", k, "33"), {}, 2);
  check_at_levels(product("f32", "65536", "33"), {}, 2);
  check_at_levels(product("f32", "65537", "33"), {}, 3);
}

TEST(SplitStripes, ShortOnesAndIntegersStay) {
  check_at_levels(product("f32", "500", "70"), {}, 1);
  check_at_levels(product("f32", "600", "31"), {}, 1);
  check_at_levels(product("i32", "600", "70"), {}, 1);
}

TEST(SplitStripes, SymbolicProducts) {
  for (const std::int64_t k : {0, 1, 31, 32, 33, 1000, 65536, 65537})
    for (const std::int64_t n : {0, 1, 37}) {
      check_at_levels(product("f32", "K", "N"), {{"K", k}, {"N", n}}, 3);
      if (k < 65536) check_at_levels(product("f32", "K", "N", "symbol K max 65535\n"), {{"K", k}, {"N", n}}, 2);
    }
}

// The axis that is summed is the last one of the operand, but not the last one in memory. The factor comes before the sum.
TEST(SplitStripes, SumsAndProducts) {
  for (const char* kind : {"sum", "prod"})
    for (const char* type : {"f32", "bf16"})
      for (const std::int64_t k : {0, 5, 700, 65600})
        check_at_levels("program columns\nin " + std::string(type) + " [B, K, N] x\nin " + type + " [N] s\nout " + type +
                            " [B, N] y\n%0 = param x\n%1 = param s\n%2 = permute %0, axes [0, 2, 1]\n"
                            "%3 = reshape [1, N, 1] %1\n%4 = expand [B, N, K] %3\n%5 = mul %2, %4\n%6 = reduce %5, " +
                            kind + ", axes [2]\nstore y, %6\n",
                        {{"B", 3}, {"K", k}, {"N", 40}}, 3);
}

}  // namespace
}  // namespace kiln::compiler::testing
