// Reductions of rows with accumulators in memory: the compiled object equals the interpreter, bit for bit. The numbers of rows
// are near 8 and 16, and the numbers of columns near the sizes of a vector and of a block.
#include <gtest/gtest.h>

#include <random>

#include "tests/run/check_at_levels.h"

namespace kiln::compiler::testing {
namespace {

struct Case {
  const char *kind, *type, *result;
};

// y[i, j] = the reduction over k of x[i, k, j], for M matrices of K rows and N columns
void check(const Case& c, const Symbols& e, bool symbolic) {
  const auto extent = [&](const char* n) { return symbolic ? n : std::to_string(e.at(n)); };
  std::string s = "program rows\n";
  if (symbolic)
    for (const auto& [name, value] : e) s += "symbol " + name + "\n";
  const std::string matrices = "[" + extent("M") + ", " + extent("K") + ", " + extent("N") + "]";
  s += std::string("in ") + c.type + " " + matrices + " x\nout " + c.result + " [" + extent("M") + ", " + extent("N") +
       "] y\n%0 = param x\n%1 = reduce %0, " + c.kind + ", axes [1]\nstore y, %1\n";
  check_at_levels(s, e);
}

TEST(MemoryAccumulators, EveryReduction) {
  static constexpr Case cases[] = {
      {"sum", "f32", "f32"},   {"sum", "f64", "f64"},    {"sum", "f16", "f16"},    {"sum", "bf16", "bf16"},
      {"sum", "i32", "i32"},   {"sum", "i64", "i64"},    {"sum", "u8", "u8"},      {"prod", "f32", "f32"},
      {"prod", "i16", "i16"},  {"max", "f32", "f32"},    {"max", "f64", "f64"},    {"max", "i8", "i8"},
      {"min", "f32", "f32"},   {"min", "bf16", "bf16"},  {"min", "u32", "u32"},    {"any", "bool", "bool"},
      {"all", "bool", "bool"}, {"argmax", "f32", "i64"}, {"argmin", "f64", "i64"}, {"argmax", "i32", "i64"},
      {"argmin", "u8", "i64"},
  };
  static constexpr std::int64_t rows[] = {0, 1, 7, 8, 15, 16, 17, 23, 24, 25, 41},
                                columns[] = {1,    63,   64,   65,   127,  128,  129,  200, 511,
                                             1024, 2047, 2048, 2049, 4095, 4096, 4097, 8200};
  std::mt19937 random(11);
  const auto any = [&](const auto& from) { return from[random() % std::size(from)]; };
  for (const Case& c : cases)
    for (int i = 0; i < 4; ++i) check(c, {{"M", std::int64_t{1} + i / 3}, {"K", any(rows)}, {"N", any(columns)}}, i % 2 == 0);
}

TEST(MemoryAccumulators, ReductionsThatUseOneAnother) {  // the variance of columns
  for (const bool symbolic : {false, true})
    for (const std::int64_t n : {130, 1025, 3000}) {
      const std::string rows = symbolic ? "K" : "37", columns = symbolic ? "N" : std::to_string(n);
      const std::string matrix = "[" + rows + ", " + columns + "]", row = "[1, " + columns + "]";
      check_at_levels(
          std::string("program variance\n") + (symbolic ? "symbol K\nsymbol N\n" : "") + "in f32 " + matrix + " x\nout f32 [" +
              columns + "] y\n%0 = param x\n%1 = reduce %0, sum, axes [0]\n%2 = reshape " + row + " %1\n%3 = expand " + matrix +
              " %2\n%4 = sub %0, %3\n%5 = mul %4, %4\n%6 = reduce %5, sum, axes [0]\n%7 = add %6, %1\nstore y, %7\n",
          {{"K", 37}, {"N", n}});
    }
}

TEST(MemoryAccumulators, InATileOfAFusedKernel) {  // the columns of each matrix, centred
  for (const bool symbolic : {false, true})
    for (const char* n : {"45", "130", "2049"}) {
      const std::string matrices = std::string("[3, ") + (symbolic ? "K" : "19") + ", " + n + "]";
      check_at_levels(std::string("program centred\n") + (symbolic ? "symbol K\n" : "") + "in f64 " + matrices +
                          " x\nout f64 " + matrices + " y\n%0 = param x\n%1 = reduce %0, max, axes [1]\n%2 = reshape [3, 1, " +
                          n + "] %1\n%3 = expand " + matrices + " %2\n%4 = sub %0, %3\nstore y, %4\n",
                      {{"K", 19}});
    }
}

// The mean of some rows of each matrix: the number of these rows is the same for all columns.
TEST(MemoryAccumulators, MeanOfMarkedRows) {
  for (const bool symbolic : {false, true})
    for (const char* n : {"70", "130", "2049"}) {
      const std::string k = symbolic ? "K" : "19", matrices = "[3, " + k + ", " + n + "]", marks = "[3, " + k + "]",
                        means = std::string("[3, ") + n + "]";
      check_at_levels(std::string("program means\n") + (symbolic ? "symbol K\n" : "") + "in f32 " + matrices + " x\nin bool " +
                          marks + " marks\nout f32 " + means + " y\n%0 = param x\n%1 = param marks\n%2 = cast f32 %1\n" +
                          "%3 = reshape [3, " + k + ", 1] %2\n%4 = expand " + matrices + " %3\n%5 = mul %0, %4\n" +
                          "%6 = reduce %5, sum, axes [1]\n%7 = reduce %2, sum, axes [1]\n%8 = reshape [3, 1] %7\n" +
                          "%9 = expand " + means + " %8\n%10 = fdiv %6, %9\nstore y, %10\n",
                      {{"K", 19}});
    }
}

// Numbers of rows that eight divides, and others.
TEST(MemoryAccumulators, MatricesNearTheSizeOfACache) {
  for (const bool symbolic : {false, true})
    for (const std::int64_t rows : {255, 256, 257, 263})
      for (const std::int64_t columns : {1023, 1024, 1091})
        check({"sum", "f32", "f32"}, {{"M", 1}, {"K", rows}, {"N", columns}}, symbolic);
}

TEST(MemoryAccumulators, VectorTimesMatrix) {
  for (const char* type : {"f32", "f64", "f16", "i32"})
    for (const std::int64_t n : {128, 1000, 2100}) {
      const std::string kn = "[40, " + std::to_string(n) + "]", t = type;
      check_at_levels("program gemv\nin " + t + " [40] x\nin " + t + " " + kn + " w\nout " + t + " [" + std::to_string(n) +
                          "] y\n%0 = param x\n%1 = param w\n%2 = reshape [40, 1] %0\n%3 = expand " + kn +
                          " %2\n%4 = reduce %3, %1, fma, axes [0]\n%5 = add %4, %4\nstore y, %5\n",
                      {});
    }
}

}  // namespace
}  // namespace kiln::compiler::testing
