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
  check_at_levels(product("f32", "120", "70"), {}, 1);
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

// The number of elements is no multiple of 32, so the tree adds the last ones.
TEST(SplitStripes, RestBehindTheStripes) {
  for (const char* k : {"129", "200", "255"}) check_at_levels(product("f32", k, "70"), {}, 2);
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

// The rows of w are scaled, so that a load does not depend on the stripe; stripes have different lengths.
TEST(SplitStripes, LoadsThatDoNotDependOnTheStripe) {
  for (const std::string k : {"700", "704", "K"}) {
    Symbols symbols{{"N", 33}};
    if (k == "K") symbols["K"] = 1000;
    const std::string scale = "in f32 [" + k + ", N] w\nin f32 [N] s\nin f32 [" + k +
                              "] x\nout f32 [N] y\n%0 = param w\n%1 = param s\n%2 = param x\n" +
                              "%3 = reshape [1, N] %1\n%4 = expand [" + k +
                              ", N] %3\n%5 = mul %0, %4\n%6 = permute %5, axes [1, 0]\n";
    check_at_levels("program scaled\n" + scale + "%7 = reshape [1, " + k + "] %2\n%8 = expand [N, " + k +
                        "] %7\n%9 = reduce %6, %8, dot, axes [1]\nstore y, %9\n",
                    symbols);
    check_at_levels("program squares\n" + scale + "%9 = reduce %6, %6, dot, axes [1]\nstore y, %9\n", symbols);
  }
}

// Products in striped order, and distances of all pairs: stripes would be 32 times the result. In batches each row has its own
// matrix, whose stripes have different lengths.
TEST(SplitStripes, RowsTimesColumns) {
  for (const std::string k : {"700", "K"})
    for (const char* reduction : {"%9 = reduce %5, %7, dot, axes [2]\n", "%8 = sub %5, %7\n%9 = reduce %8, sum, axes [2]\n"}) {
      Symbols symbols{{"M", 3}, {"N", 40}};
      if (k == "K") symbols["K"] = 700;
      const std::string whole = "[M, N, " + k + "] ";
      check_at_levels("program pairs\nin f32 [M, " + k + "] a\nin f32 [" + k + ", N] b\nout f32 [M, N] c\n%0 = param a\n" +
                          "%1 = param b\n%2 = permute %1, axes [1, 0]\n%4 = reshape [M, 1, " + k + "] %0\n%5 = expand " +
                          whole + "%4\n%6 = reshape [1, N, " + k + "] %2\n%7 = expand " + whole + "%6\n" + reduction +
                          "store c, %9\n",
                      symbols, k == "K" ? 2 : 1);  // with a version for short rows
    }
  for (const std::int64_t b : {1, 40})
    check_at_levels(
        "program batch\nsymbol K max 65536\nin f32 [B, K] a\nin f32 [B, K, N] b\nout f32 [B, N] c\n%0 = param a\n%1 = param b\n"
        "%2 = permute %1, axes [0, 2, 1]\n%4 = reshape [B, 1, K] %0\n%5 = expand [B, N, K] %4\n%9 = reduce %5, %2, dot, axes "
        "[2]\nstore c, %9\n",
        {{"B", b}, {"N", 40}, {"K", 700}}, 2);
}

// An operand that all batches share has rows, but no copy: the stripes have different lengths.
TEST(SplitStripes, SharedOperand) {
  for (const std::string k : {"700", "K"}) {
    Symbols symbols{{"B", 40}, {"N", 300}};
    if (k == "K") symbols["K"] = 700;
    check_at_levels("program shared\nin f32 [" + k + ", N] w\nin f32 [B, " + k + ", N] x\nout f32 [B, N] y\n%0 = param w\n" +
                        "%1 = permute %0, axes [1, 0]\n%2 = reshape [1, N, " + k + "] %1\n%3 = expand [B, N, " + k +
                        "] %2\n%4 = param x\n%5 = permute %4, axes [0, 2, 1]\n%6 = reduce %3, %5, dot, axes [2]\nstore y, %6\n",
                    symbols);
  }
}

}  // namespace
}  // namespace kiln::compiler::testing
