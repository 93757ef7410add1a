// Reductions along the rows of a matrix that is larger than the caches, which read 2 or 4 rows side by side: the compiled
// object equals the interpreter, bit for bit. 4101 rows leave one behind the groups of four. If the extents are symbols, the
// call decides.
#include <gtest/gtest.h>

#include "tests/run/check_at_levels.h"

namespace kiln::compiler::testing {
namespace {

void check(const std::string& type, const std::string& kind) {
  check_at_levels("program rows\nin " + type + " [4101, 1100] x\nout " + type + " [4101] y\n%0 = param x\n%1 = reduce %0, " +
                      kind + ", axes [1]\nstore y, %1\n",
                  {});
}

TEST(RowsSideBySide, SumsAndExtrema) {
  check("f32", "sum");
  check("f32", "max");
}

void check_symbolic(const std::string& type, const std::string& kind, std::int64_t rows, std::int64_t length) {
  check_at_levels("program rows\nsymbol K\nsymbol M\nin " + type + " [M, K] x\nout " + type +
                      " [M] y\n%0 = param x\n%1 = reduce %0, " + kind + ", axes [1]\nstore y, %1\n",
                  {{"K", length}, {"M", rows}});
}

TEST(RowsSideBySide, Symbolic) {
  check_symbolic("f32", "sum", 4101, 1100);
  check_symbolic("f32", "sum", 3, 1'500'000);
  for (const char* kind : {"sum", "max"})
    for (const std::int64_t rows : {0, 1, 11}) check_symbolic("f32", kind, rows, 300);
}

// Rows of up to 8 elements are written out; their sums are the elements of other rows.
TEST(RowsSideBySide, ShortRows) {
  for (const char* type : {"f32"})
    for (const std::int64_t h : {0, 1, 3, 7, 9})
      for (const std::int64_t w : {0, 1, 5, 8, 9})
        check_at_levels(std::string("program mean\nsymbol H\nsymbol W\nin ") + type + " [5, H, W] x\nout " + type +
                            " [5] y\n%0 = param x\n%1 = neg %0\n%2 = reduce %1, sum, axes [2]\n" +
                            "%3 = reduce %2, sum, axes [1]\nstore y, %3\n",
                        {{"H", h}, {"W", w}});
}

TEST(RowsSideBySide, NarrowElements) {
  check("bf16", "sum");
  for (const std::int64_t rows : {1, 4, 7}) check_symbolic("bf16", "sum", rows, 100);
}

// Blocks of one long reduction are rows of 65536 elements, of which the last one is shorter.
TEST(RowsSideBySide, BlocksOfALongReduction) {
  const auto total = [](const std::string& kind, const std::string& extent, const Symbols& symbols) {
    const std::string symbol = symbols.empty() ? "" : "symbol N\n";
    check_at_levels("program total\n" + symbol + "in f32 [" + extent + "] x\nout f32 [] y\n%0 = param x\n%1 = reduce %0, " +
                        kind + ", axes [0]\nstore y, %1\n",
                    symbols);
  };
  total("sum", "4523117", {});
  for (const std::int64_t n : {0, 1, 65'536, 131'072, 196'700, 4'718'592, 5'000'001}) total("sum", "N", {{"N", n}});
  total("max", "N", {{"N", 4'259'841}});
}

}  // namespace
}  // namespace kiln::compiler::testing
