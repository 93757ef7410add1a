// Products whose right operand is packed into panels or rows: the compiled object equals the interpreter, bit for bit.
#include <gtest/gtest.h>

#include "tests/run/check_at_levels.h"

namespace kiln::compiler::testing {
namespace {

struct Product {
  std::string type = "f32", rows = "M";
  std::int64_t least = 32, depth = 512, columns = 256, first_column = 0, all_columns = 256;
  std::string output = "out", epilogue = "store c, %9\n";

  // c = a * b[:, first_column : first_column + columns]
  std::string text() const {
    const std::string k = std::to_string(depth), n = std::to_string(columns);
    const std::string shape = "[" + rows + ", " + n + ", " + k + "]";
    return "program product\n" + ("symbol M min " + std::to_string(least) + " max 4096\n") + "in " + type + " [" + rows + ", " +
           k + "] a\nin " + type + " [" + k + ", " + std::to_string(all_columns) + "] b\nin " + type + " [M, 1] size\n" +
           output + " " + type + " [" + rows + ", " + n + "] c\n%0 = param a\n%1 = param b\n%2 = slice [" + k + ", " + n +
           "] %1, begin [0, " + std::to_string(first_column) + "]\n%3 = permute %2, axes [1, 0]\n%4 = reshape [" + rows +
           ", 1, " + k + "] %0\n%5 = expand " + shape + " %4\n%6 = reshape [1, " + n + ", " + k + "] %3\n%7 = expand " + shape +
           " %6\n%9 = reduce %5, %7, fma, axes [2]\n" + epilogue;
  }
};

void check(const Product& product, std::int64_t m, int kernels) { check_at_levels(product.text(), {{"M", m}}, kernels); }

// c = a * transpose(b), over a batch that both operands have.
void check_transposed(const Symbols& extents, bool symbolic) {
  std::string text = "program product\n";
  const auto e = [&](const char* name) { return symbolic ? std::string(name) : std::to_string(extents.at(name)); };
  if (symbolic)
    for (const auto& [name, value] : extents) text += "symbol " + name + "\n";
  const std::string k = ", " + e("K") + "]", batch = "[" + e("B") + ", ", shape = batch + e("M") + ", " + e("N");
  text += "in f32 " + batch + e("M") + k + " a\nin f32 " + batch + e("N") + k + " b\nout f32 " + shape + "] c\n" +
          "%0 = param a\n%1 = param b\n%2 = reshape " + batch + e("M") + ", 1" + k + " %0\n%3 = expand " + shape + k +
          " %2\n%4 = reshape " + batch + "1, " + e("N") + k + " %1\n%5 = expand " + shape + k +
          " %4\n%6 = reduce %3, %5, fma, axes [3]\nstore c, %6\n";
  const int versions = symbolic ? 4 : 1;  // product_versions
  check_at_levels(text, extents, extents.at("M") < 8 ? 1 : 1 + versions);
}

TEST(Pack, LargeOperands) {
  check({}, 37, 2);
  check({.type = "f64", .columns = 128, .all_columns = 128}, 33, 2);
  check({.type = "f16", .columns = 512, .all_columns = 512}, 35, 2);
  check({.type = "i32"}, 32, 2);
}

TEST(Pack, LastPanelBeginsEarlier) {
  for (const std::int64_t columns : {257, 300, 319}) check({.columns = columns, .all_columns = columns}, 45, 2);
}

// Elements of the last panel are stored twice: not where the kernel loads them.
TEST(Pack, OutputThatIsLoaded) {
  const std::string add = "%8 = param c\n%10 = add %9, %8\nstore c, %10\n";
  check({.columns = 256, .output = "inout", .epilogue = add}, 45, 2);
  check({.columns = 300, .all_columns = 300, .output = "inout", .epilogue = add}, 45, 1);
}

// Neighbouring lanes would load elements of b that are K apart.
TEST(Pack, TransposedOperand) {
  for (const Symbols& s : {Symbols{{"B", 1}, {"K", 3}, {"M", 9}, {"N", 5}},
                           {{"B", 2}, {"K", 17}, {"M", 8}, {"N", 64}},
                           {{"B", 1}, {"K", 700}, {"M", 40}, {"N", 300}},
                           {{"B", 3}, {"K", 64}, {"M", 50}, {"N", 31}}})
    for (const bool symbolic : {false, true}) check_transposed(s, symbolic);
}

TEST(Pack, TransposedOperandOfFewRows) { check_transposed({{"B", 2}, {"K", 9}, {"M", 7}, {"N", 20}}, false); }

// transpose(a) * b: neighbours in the sum would be rows of a apart. The right operand is packed too where it is large enough.
void check_transposed_left(std::int64_t rows, std::int64_t depth, std::int64_t columns, int kernels) {
  const std::string m = std::to_string(rows), k = std::to_string(depth), n = std::to_string(columns),
                    shape = "[" + m + ", " + n + ", " + k + "]";
  check_at_levels(
      "program product\nin f64 [" + k + ", " + m + "] a\nin f64 [" + k + ", " + n + "] b\nout f64 [" + m + ", " + n +
          "] c\n%0 = param a\n%1 = param b\n%2 = permute %0, axes [1, 0]\n%3 = permute %1, axes [1, 0]\n%4 = reshape [" + m +
          ", 1, " + k + "] %2\n%5 = expand " + shape + " %4\n%6 = reshape [1, " + n + ", " + k + "] %3\n%7 = expand " + shape +
          " %6\n%8 = reduce %5, %7, fma, axes [2]\nstore c, %8\n",
      {}, kernels);
}

TEST(Pack, TransposedLeftOperand) {
  check_transposed_left(17, 1930, 513, 2);
  check_transposed_left(33, 1000, 448, 2);  // too few columns: only the right operand
}

TEST(Pack, PartOfARow) { check({.first_column = 7, .all_columns = 300}, 41, 2); }

TEST(Pack, ColumnsElsewhereInTheKernel) {
  check({.epilogue = "%10 = cast f32 (M)\n%11 = iota f32 [256]\n%12 = mul %9, %11\n%13 = add %12, %10\nstore c, %13\n"}, 36, 2);
}

TEST(Pack, PerhapsTooFewRows) { check({.least = 31}, 40, 3); }  // product_versions makes the other two

TEST(Pack, NotWorthACopy) {
  check({.depth = 48}, 40, 1);                                      // the operand fits in a cache
  check({.least = 96, .depth = 128}, 100, 1);                       // nearly so
  check({.depth = 4096, .columns = 31, .all_columns = 31}, 40, 1);  // less than two panels
}

}  // namespace
}  // namespace kiln::compiler::testing
