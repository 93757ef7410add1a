// Matrix products of small integers, which are summed two products at a time: the compiled object equals the interpreter, bit
// for bit. The random arguments contain the least and the largest value of each type.
#include <gtest/gtest.h>

#include <random>

#include "tests/run/check_at_levels.h"

namespace kiln::compiler::testing {
namespace {

constexpr int paired = 3, not_paired = 1;  // kernels: two copies and the product, or the product alone

struct Product {
  std::string a = "u8", b = "i8", sum = "i32";
  std::int64_t rows = 9, depth = 33, columns = 40;
  bool symbolic = false, spelled = false, transposed = false;  // spelled: a sum over the products
  std::string change = "";                                     // of the cast %12 of a, to %2

  std::string extent(const char* name, std::int64_t value) const { return symbolic ? name : std::to_string(value); }

  std::string text() const {
    const std::string m = extent("M", rows), k = extent("K", depth), n = extent("N", columns), all = m + ", " + n + ", " + k;
    const std::string wide = "cast " + sum + " ", kn = transposed ? n + ", " + k : k + ", " + n;
    return std::string("program product\n") + (symbolic ? "symbol M\nsymbol K\nsymbol N\n" : "") + "in " + a + " [" + m + ", " +
           k + "] a\nin " + b + " [" + kn + "] b\nout " + sum + " [" + m + ", " + n + "] c\n%0 = param a\n%1 = param b\n%" +
           (change.empty() ? "2" : "12") + " = " + wide + "%0\n" + change + "%3 = " + wide +
           "%1\n%4 = " + (transposed ? "reshape [" + n + ", " + k + "] %3" : "permute %3, axes [1, 0]") + "\n%5 = reshape [" +
           m + ", 1, " + k + "] %2\n%6 = expand [" + all + "] %5\n%7 = reshape [1, " + n + ", " + k + "] %4\n%8 = expand [" +
           all + "] %7\n" + (spelled ? "%9 = mul %6, %8\n%10 = reduce %9, sum" : "%10 = reduce %6, %8, fma") +
           ", axes [2]\nstore c, %10\n";
  }
};

void check(const Product& p, int kernels = 0) {
  SCOPED_TRACE(p.text());
  const int versions = p.symbolic && kernels > 0 ? 1 : 0;  // for short and for long rows
  check_at_levels(p.text(), p.symbolic ? Symbols{{"M", p.rows}, {"K", p.depth}, {"N", p.columns}} : Symbols{},
                  kernels + versions);
}

TEST(PairProducts, Types) {
  for (const char* a : {"i8", "u8", "i16"})
    for (const char* b : {"i8", "u8", "i16"})
      for (const char* sum : {"i32", "u32"})
        check({.a = a, .b = b, .sum = sum}, sum[0] == 'i' || (a[0] == 'u' && b[0] == 'u') ? paired : not_paired);
  check({.a = "bool", .b = "i8"}, paired);
}

TEST(PairProducts, Extents) {
  std::mt19937 random(5);
  static constexpr std::int64_t rows[] = {8, 9, 13, 24, 97, 193}, columns[] = {8, 15, 16, 31, 64, 65, 131};
  static constexpr std::int64_t depths[] = {16, 17, 30, 31, 64, 101};
  const auto any = [&](const auto& from) { return from[random() % std::size(from)]; };
  for (int i = 0; i < 24; ++i)
    check({.rows = any(rows),
           .depth = any(depths),
           .columns = any(columns),
           .symbolic = i % 2 == 0,
           .spelled = i % 3 == 0,
           .transposed = i % 5 == 0},
          paired);
}

TEST(PairProducts, SmallSymbolicExtents) {
  for (const std::int64_t depth : {0, 1, 2, 3})
    for (const std::int64_t rows : {0, 1, 5})
      check({.rows = rows, .depth = depth, .columns = 2 * rows + 1, .symbolic = true}, paired);
}

TEST(PairProducts, Panels) {  // the words of b exceed a cache, and its columns are not a multiple of a panel
  check({.rows = 40, .depth = 700, .columns = 260}, paired);
  check({.a = "i16", .b = "i16", .rows = 33, .depth = 513, .columns = 300}, paired);
}

TEST(PairProducts, RangesOfArithmetic) {
  const std::string zero_point = "%13 = const i32 ", subtracted = "\n%2 = sub %12, %13\n";
  check({.change = zero_point + "128" + subtracted}, paired);
  check({.a = "i16", .change = zero_point + "1" + subtracted}, not_paired);  // -32769 does not fit
  check({.a = "i32", .change = zero_point + "255\n%2 = and %12, %13\n"}, paired);
  check({.a = "u16"}, not_paired);
  check({.a = "i32"}, not_paired);
}

TEST(PairProducts, TooFewWalks) {
  check({.rows = 7}, not_paired);
  check({.columns = 7}, not_paired);
  check({.depth = 15}, not_paired);
}

// The one sum of two products that exceeds i32 is 2 * (-32768)^2. It wraps in both orders of addition.
TEST(PairProducts, LeastValues) {
  const std::string least = "%13 = const i32 -32768\n%14 = const i32 0\n%15 = mul %12, %14\n%2 = add %15, %13\n";
  for (const std::int64_t depth : {16, 17}) {
    Product p{.a = "i16", .b = "i16", .depth = depth, .change = least};
    std::string text = p.text();
    const std::string cast_b = "%3 = cast i32 %1\n";
    text.replace(text.find(cast_b), cast_b.size(), "%23 = cast i32 %1\n%24 = mul %23, %14\n%3 = add %24, %13\n");
    check_at_levels(text, {});
  }
}

TEST(PairProducts, BatchesAndEpilogue) {
  for (const bool symbolic : {false, true}) {
    const std::string b = symbolic ? "B" : "3", m = symbolic ? "M" : "17", k = symbolic ? "K" : "21", n = symbolic ? "N" : "35";
    const std::string all = "[" + b + ", " + m + ", " + n + ", " + k + "]";
    check_at_levels(
        std::string("program batched\n") + (symbolic ? "symbol B\nsymbol M\nsymbol K\nsymbol N\n" : "") + "in u8 [" + b + ", " +
            m + ", " + k + "] a\nin i8 [" + b + ", " + k + ", " + n + "] b\nin f32 [" + n + "] scale\nout f32 [" + b + ", " +
            m + ", " + n + "] c\n%0 = param a\n%1 = param b\n%2 = cast i32 %0\n%3 = cast i32 %1\n" +
            "%4 = permute %3, axes [0, 2, 1]\n%5 = reshape [" + b + ", " + m + ", 1, " + k + "] %2\n%6 = expand " + all +
            " %5\n%7 = reshape [" + b + ", 1, " + n + ", " + k + "] %4\n%8 = expand " + all +
            " %7\n%9 = reduce %6, %8, fma, axes [3]\n%10 = cast f32 %9\n%11 = param scale\n%12 = mul %10, %11\nstore c, %12\n",
        symbolic ? Symbols{{"B", 3}, {"M", 17}, {"K", 21}, {"N", 35}} : Symbols{}, symbolic ? 4 : 3);
  }
}

// Each element is a dot product of rows, which are contiguous.
TEST(PairProducts, FewRowsTimesRows) {
  for (const bool symbolic : {false, true})
    for (const std::int64_t depth : {9, 63, 64, 130})
      check({.rows = 3, .depth = depth, .columns = 11, .symbolic = symbolic, .transposed = true});
  check({.rows = 5, .depth = 100, .columns = 30, .spelled = true, .transposed = true}, not_paired);
}

// y[i] = sum over k of a[i, k] * (x[k] - 7), with neighbours in k next to each other in memory.
struct Dot {
  std::string a = "u8", x = "i8", sum = "i32", change = "sub";  // change: of x, with 7
  std::int64_t rows = 3, depth = 200;                           // rows: 0 for one sum
  bool symbolic = false, spelled = false;

  std::string text() const {
    const std::string k = symbolic ? "K" : std::to_string(depth), m = rows == 0 ? "" : symbolic ? "M" : std::to_string(rows);
    const std::string all = rows == 0 ? "[" + k + "]" : "[" + m + ", " + k + "]", wide = "cast " + sum + " ";
    return std::string("program dots\n") + (symbolic ? "symbol K\n" : "") + (symbolic && rows != 0 ? "symbol M\n" : "") +
           "in " + a + " " + all + " a\nin " + x + " [" + k + "] x\nout " + sum + " [" + m +
           "] y\n%0 = param a\n%1 = param x\n%2 = " + wide + "%0\n%3 = " + wide + "%1\n%4 = const " + sum +
           " 7\n%5 = " + change + " %3, %4\n" + (spelled ? "%6 = mul %2, %5\n%7 = reduce %6, sum" : "%7 = reduce %2, %5, dot") +
           ", axes " + (rows == 0 ? "[0]" : "[1]") + "\nstore y, %7\n";
  }
};

void check(const Dot& d) {
  SCOPED_TRACE(d.text());
  Symbols symbols;
  if (d.symbolic) symbols["K"] = d.depth;
  if (d.symbolic && d.rows != 0) symbols["M"] = d.rows;
  check_at_levels(d.text(), symbols);
}

TEST(PairProducts, Dots) {
  static constexpr const char* types[] = {"i8", "u8", "i16"};
  int i = 0;
  for (const std::int64_t depth : {0, 1, 16, 17, 31, 33, 63, 64, 65, 95, 96, 127, 128, 129, 1000})
    for (const std::int64_t rows : {0, 3})
      for (const bool symbolic : {false, true}) {
        check(Dot{
            .a = types[i % 3], .x = types[i % 2], .rows = rows, .depth = depth, .symbolic = symbolic, .spelled = i % 4 == 0});
        ++i;
      }
}

TEST(PairProducts, DotsOfOtherRanges) {
  check(Dot{.a = "i16", .x = "i16"});                               // x - 7 does not fit i16
  check(Dot{.a = "i16", .x = "i16", .change = "and"});              // the least value times 7
  check(Dot{.a = "u8", .x = "u8", .sum = "u32", .change = "and"});  // summed in i32
  check(Dot{.a = "u8", .x = "u8", .sum = "u32"});                   // x - 7 wraps in u32
}

}  // namespace
}  // namespace kiln::compiler::testing
