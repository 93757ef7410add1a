// Reductions with lanes of columns: distances between the rows of two matrices, and their kin. The compiled object equals the
// interpreter, bit for bit. The lengths of reductions are near 32, the number of stripes, and near 65536, a block of them.
#include <gtest/gtest.h>

#include <random>

#include "tests/run/check_at_levels.h"

namespace kiln::compiler::testing {
namespace {

struct Case {
  const char *kind, *type, *result, *element;  // element: of %5 = x - y
};

constexpr Case cases[] = {
    {"sum", "f32", "f32", "mul %5, %5"}, {"sum", "f32", "f32", "abs %5"},     {"sum", "f64", "f64", "mul %5, %5"},
    {"sum", "f32", "f32", "neg %5"},     {"sum", "f16", "f16", "mul %5, %5"}, {"sum", "bf16", "bf16", "abs %5"},
    {"sum", "i32", "i32", "mul %5, %5"}, {"sum", "u8", "u8", "mul %5, %5"},   {"prod", "f32", "f32", "abs %5"},
    {"max", "f32", "f32", "abs %5"},     {"max", "f64", "f64", "abs %5"},     {"min", "i16", "i16", "abs %5"},
    {"argmin", "f32", "i64", "abs %5"},  {"argmax", "i32", "i64", "abs %5"},  {"min", "f16", "f16", "mul %5, %5"},
};

// z[b, i, j] = the reduction over k of an element of x[b, i, k] and y[b, j, k]
void check(const Case& c, const Symbols& e, bool symbolic) {
  const auto extent = [&](const char* n) { return symbolic ? n : std::to_string(e.at(n)); };
  const std::string b = "[" + extent("B") + ", ", m = extent("M") + ", ", n = extent("N") + ", ", k = extent("K") + "]";
  const std::string whole = b + m + n + k, t = c.type;
  std::string s = "program distances\n";
  if (symbolic)
    for (const auto& [name, value] : e) s += "symbol " + name + "\n";
  s += "in " + t + " " + b + m + k + " x\nin " + t + " " + b + n + k + " y\nout " + c.result + " " + b + m + extent("N") +
       "] z\n%0 = param x\n%1 = reshape " + b + m + "1, " + k + " %0\n%2 = expand " + whole +
       " %1\n%8 = param y\n%3 = reshape " + b + "1, " + n + k + " %8\n%4 = expand " + whole +
       " %3\n%5 = sub %2, %4\n%6 = " + c.element + "\n%7 = reduce %6, " + c.kind + ", axes [3]\nstore z, %7\n";
  check_at_levels(s, e);
}

TEST(ColumnLanes, EveryReduction) {
  static constexpr std::int64_t rows[] = {1, 7, 8, 16, 17, 33}, columns[] = {1, 8, 15, 16, 31, 64, 65, 130, 257},
                                depths[] = {0, 1, 2, 3, 9, 16, 24, 31, 32, 33, 63, 64, 65, 100, 131};
  std::mt19937 random(7);
  const auto any = [&](const auto& from) { return from[random() % std::size(from)]; };
  for (const Case& c : cases)
    for (int i = 0; i < 4; ++i)
      check(c, {{"B", std::int64_t{1} + i / 3}, {"K", any(depths)}, {"M", any(rows)}, {"N", any(columns)}}, i % 2 == 0);
}

TEST(ColumnLanes, NoElements) {
  for (const char* none : {"B", "K", "M", "N"}) {
    Symbols e = {{"B", 2}, {"K", 24}, {"M", 17}, {"N", 40}};
    e[none] = 0;
    check(cases[0], e, true);
    check(cases[12], e, true);
  }
}

TEST(ColumnLanes, MoreThanOneBlock) {
  for (const std::int64_t k : {65535, 65536, 65537, 131'072, 131'105})
    for (const bool symbolic : {false, true}) check(cases[0], {{"B", 1}, {"K", k}, {"M", 4}, {"N", 17}}, symbolic);
}

// A large operand is packed into panels.
TEST(ColumnLanes, Panels) {
  for (const std::int64_t n : {1024, 1100}) {
    check(cases[0], {{"B", 1}, {"K", 70}, {"M", 19}, {"N", n}}, false);
    check(cases[2], {{"B", 1}, {"K", 40}, {"M", 9}, {"N", n}}, false);
    check(cases[9], {{"B", 1}, {"K", 70}, {"M", 19}, {"N", n}}, false);
  }
}

// The nearest row: the reduction over k is inside another one. Symbolic: short rows that many others meet are transposed first.
void check_nearest(const char* element, const Symbols& e, bool symbolic, int kernels = 0) {
  const auto extent = [&](const char* n) { return symbolic ? n : std::to_string(e.at(n)); };
  const std::string m = extent("M"), n = extent("N"), k = extent("K"), whole = "[" + m + ", " + n + ", " + k + "]";
  check_at_levels(std::string("program nearest\n") + (symbolic ? "symbol K\nsymbol M\nsymbol N\n" : "") + "in f32 [" + m +
                      ", " + k + "] x\nin f32 [" + n + ", " + k + "] y\nout i64 [" + m + "] z\n%0 = param x\n%1 = reshape [" +
                      m + ", 1, " + k + "] %0\n%2 = expand " + whole + " %1\n%3 = param y\n%4 = reshape [1, " + n + ", " + k +
                      "] %3\n%5 = expand " + whole + " %4\n%6 = sub %2, %5\n%7 = " + element +
                      "\n%8 = reduce %7, sum, axes [2]\n%9 = reduce %8, argmin, axes [1]\nstore z, %9\n",
                  e, kernels);
}

TEST(ColumnLanes, NearestRow) {
  for (const std::int64_t k : {0, 1, 5, 8, 17, 32, 64, 65})
    for (const std::int64_t n : {7, 8}) check_nearest("mul %6, %6", {{"K", k}, {"M", 50 + k % 3}, {"N", n}}, true, 3);
  for (const std::int64_t k : {7, 13, 40})
    for (const std::int64_t n : {3, 45}) check_nearest("mul %6, %6", {{"K", k}, {"M", 50}, {"N", n}}, false);
  for (const std::int64_t m : {0, 1, 33}) check_nearest("neg %6", {{"K", 13}, {"M", m}, {"N", 9}}, true, 3);
}

// Sums that are written out: of the stripes, one element each.
TEST(ColumnLanes, OneElementForEachStripe) {
  for (const std::int64_t k : {0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 32, 33})
    check(cases[k % 4], {{"B", 1}, {"K", k}, {"M", 3}, {"N", 70}}, true);
}

// A product of rows that is summed in stripes, and the norms of the rows beside it.
TEST(ColumnLanes, Cosine) {
  for (const char* type : {"f32", "f64", "i32"})
    for (const bool symbolic : {false, true}) {
      const std::string k = symbolic ? "K" : "37", t = type, whole = "[40, 70, " + k + "]";
      check_at_levels(
          std::string("program cosine\n") + (symbolic ? "symbol K\n" : "") + "in " + t + " [40, " + k + "] x\nin " + t +
              " [70, " + k + "] y\nout " + t + " [40, 70] z\n%0 = param x\n%1 = reshape [40, 1, " + k + "] %0\n%2 = expand " +
              whole + " %1\n%3 = param y\n%4 = reshape [1, 70, " + k + "] %3\n%5 = expand " + whole +
              " %4\n%6 = reduce %2, %5, dot, axes [2]\n%7 = reduce %0, %0, dot, axes [1]\n%8 = reshape [40, 1] %7\n" +
              "%9 = expand [40, 70] %8\n%10 = sub %6, %9\nstore z, %10\n",
          {{"K", 37}});
    }
}

// Sums of the columns of a matrix that is transposed first are striped.
TEST(ColumnLanes, TransposedMatrix) {
  for (const char* type : {"f32", "f64", "f16"})
    for (const std::int64_t k : {5, 32, 50, 200})
      for (const bool symbolic : {false, true}) {
        const std::string rows = symbolic ? "K" : std::to_string(k), t = type;
        check_at_levels(std::string("program columns\n") + (symbolic ? "symbol K\n" : "") + "in " + t + " [3, " + rows +
                            ", 70] x\nout " + t + " [3, 70] y\n%0 = param x\n%1 = permute %0, axes [0, 2, 1]\n" +
                            "%2 = reduce %1, sum, axes [2]\nstore y, %2\n",
                        {{"K", k}});
      }
}

}  // namespace
}  // namespace kiln::compiler::testing
