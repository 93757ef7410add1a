// Products whose right operand is packed into panels: the compiled object equals the interpreter, bit for bit.
#include <gtest/gtest.h>

#include <random>

#include "compiler/interp/interpret.h"
#include "compiler/ir/text.h"
#include "tests/run/array_of_elements.h"
#include "tests/run/compiled.h"

namespace kiln::compiler::testing {
namespace {

struct Product {
  std::string type = "f32", rows = "M";
  std::int64_t least = 32, depth = 512, columns = 256, first_column = 0, all_columns = 256;
  std::string epilogue = "store c, %9\n";

  // c = a * b[:, first_column : first_column + columns]
  std::string text() const {
    const std::string k = std::to_string(depth), n = std::to_string(columns);
    const std::string shape = "[" + rows + ", " + n + ", " + k + "]";
    return "program product\n" + ("symbol M min " + std::to_string(least) + " max 4096\n") + "in " + type + " [" + rows + ", " +
           k + "] a\nin " + type + " [" + k + ", " + std::to_string(all_columns) + "] b\nin " + type + " [M, 1] size\nout " +
           type + " [" + rows + ", " + n + "] c\n%0 = param a\n%1 = param b\n%2 = slice [" + k + ", " + n + "] %1, begin [0, " +
           std::to_string(first_column) + "]\n%3 = permute %2, axes [1, 0]\n%4 = reshape [" + rows + ", 1, " + k +
           "] %0\n%5 = expand " + shape + " %4\n%6 = reshape [1, " + n + ", " + k + "] %3\n%7 = expand " + shape +
           " %6\n%9 = reduce %5, %7, fma, axes [2]\n" + epilogue;
  }
};

// Compares results for M = m. The number of kernels shows whether the operand was packed.
void check(const Product& product, std::int64_t m, int kernels) {
  SCOPED_TRACE(product.text());
  Graph g;
  const Program p = read_program(g, product.text(), "product.kiln");
  std::mt19937 random(5);
  const auto element = [&] { return static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 37.0f; };
  std::vector<Array> arguments;
  for (const Parameter& q : p.params) {
    std::vector<std::int64_t> extents;
    for (const Id e : q.extents) extents.push_back(g.is_const(e) ? g.arg(e, 0) : m);
    arguments.push_back(array_of_elements(q.dtype, extents, element));
  }
  const auto expected = interpret(g, p, arguments);
  const CompiledProgram compiled(g, p);
  EXPECT_EQ(compiled.description()->n_kernels, kernels);
  for (const int workers : {1, 3})
    EXPECT_EQ(difference(expected[3], compiled(arguments, workers)[3]), "") << "M = " << m << ", workers " << workers;
}

TEST(Pack, LargeOperands) {
  check({}, 37, 2);
  check({.type = "f64", .columns = 128, .all_columns = 128}, 33, 2);
  check({.type = "f16", .columns = 512, .all_columns = 512}, 35, 2);
  check({.type = "i32"}, 32, 2);
}

TEST(Pack, PartOfARow) { check({.first_column = 7, .all_columns = 300}, 41, 2); }

TEST(Pack, ColumnsElsewhereInTheKernel) {
  check({.epilogue = "%10 = cast f32 (M)\n%11 = iota f32 [256]\n%12 = mul %9, %11\n%13 = add %12, %10\nstore c, %13\n"}, 36, 2);
}

TEST(Pack, NotWorthACopy) {
  check({.least = 31}, 40, 1);                                      // perhaps too few rows
  check({.depth = 256}, 40, 1);                                     // the operand fits in a cache
  check({.columns = 250, .all_columns = 250}, 40, 1);               // no whole number of panels
  check({.depth = 4096, .columns = 64, .all_columns = 64}, 40, 1);  // too few panels for the threads
}

}  // namespace
}  // namespace kiln::compiler::testing
