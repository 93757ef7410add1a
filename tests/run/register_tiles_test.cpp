// Register blocks of products and tiles of transposed loads: the compiled object equals the interpreter, bit for bit, for
// extents around the sizes of blocks, lanes and copies.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "tests/run/check_at_levels.h"

namespace kiln::compiler::testing {
namespace {

// "[4, 7]" of constant extents, or "[M, N]".
std::string shape(const std::vector<std::string>& names, const Symbols& extents, bool symbolic) {
  std::string s;
  for (const std::string& n : names) s += (s.empty() ? "[" : ", ") + (symbolic ? n : std::to_string(extents.at(n)));
  return s + "]";
}

std::string declared(const Symbols& extents, bool symbolic) {
  std::string s = "program tiles\n";
  if (symbolic)
    for (const auto& [name, value] : extents) s += "symbol " + name + "\n";
  return s;
}

// c = relu(a * b + bias)
void check_product(const std::string& type, const Symbols& e, bool symbolic) {
  const std::string mk = shape({"M", "K"}, e, symbolic), kn = shape({"K", "N"}, e, symbolic), n = shape({"N"}, e, symbolic);
  const std::string mn = shape({"M", "N"}, e, symbolic), mnk = shape({"M", "N", "K"}, e, symbolic);
  const auto with_one = [](std::string s, std::size_t at) { return s.insert(at, "1, "); };
  check_at_levels(declared(e, symbolic) + "in " + type + " " + mk + " a\nin " + type + " " + kn + " b\nin " + type + " " + n +
                      " bias\nout " + type + " " + mn + " c\n%0 = param a\n%1 = param b\n%2 = param bias\n" +
                      "%3 = permute %1, axes [1, 0]\n%4 = reshape " + with_one(mk, mk.find(' ') + 1) + " %0\n%5 = expand " +
                      mnk + " %4\n%6 = reshape " + with_one(shape({"N", "K"}, e, symbolic), 1) + " %3\n%7 = expand " + mnk +
                      " %6\n%8 = reduce %5, %7, fma, axes [2]\n%9 = add %8, %2\n%10 = const " + type +
                      " 0\n%11 = max %9, %10\nstore c, %11\n",
                  e);
}

TEST(RegisterTiles, Products) {
  std::mt19937 random(7);
  static constexpr std::int64_t rows[] = {1, 2, 5, 6, 7, 12, 13, 29, 97, 193},
                                columns[] = {1, 3, 15, 16, 31, 48, 64, 65, 100, 131};
  static constexpr std::int64_t depths[] = {0, 1, 2, 33};
  const auto any = [&](const auto& from) { return from[random() % std::size(from)]; };
  for (const char* type : {"f32", "f64", "f16", "bf16", "i32", "u8", "i64"})
    for (int i = 0; i < 6; ++i) check_product(type, {{"K", any(depths)}, {"M", any(rows)}, {"N", any(columns)}}, i % 2 == 0);
}

TEST(RegisterTiles, BlocksOfALongReduction) {  // a block has few rows if a row is long
  check_product("f32", {{"K", 4099}, {"M", 40}, {"N", 70}}, false);
  check_product("f64", {{"K", 40000}, {"M", 9}, {"N", 9}}, false);
}

// A block of rows keeps its accumulators in an array while some terms of the chain run. The last terms are fewer, or there are
// as many in each turn.
TEST(RegisterTiles, TermsOfALongChain) {
  check_product("f32", {{"K", 1500}, {"M", 40}, {"N", 64}}, false);
  check_product("f32", {{"K", 1440}, {"M", 91}, {"N", 50}}, false);
  check_product("f64", {{"K", 768}, {"M", 31}, {"N", 32}}, false);
  check_product("i32", {{"K", 1537}, {"M", 25}, {"N", 64}}, false);
  check_product("f16", {{"K", 1501}, {"M", 25}, {"N", 64}}, false);
}

// Neighbouring rows and terms of the left operand are apart in memory, so blocks have few rows.
TEST(RegisterTiles, ScatteredRows) {
  for (const auto& [rows, columns, terms] : {std::array{128, 196, 256}, {40, 65, 300}, {13, 100, 64}, {25, 16, 1001}}) {
    const std::string m = std::to_string(rows), n = std::to_string(columns), k = std::to_string(terms);
    const std::string all = "[" + m + ", " + n + ", " + k + "]";
    check_at_levels("program tiles\nin f32 [" + k + ", " + m + ", 9] w\nin f32 [" + k + ", " + n + "] x\nout f32 [" + m + ", " +
                        n + "] y\n%0 = param w\n%1 = slice [" + k + ", " + m + ", 1] %0, begin [0, 0, 4]\n%2 = reshape [" + k +
                        ", " + m + "] %1\n%3 = permute %2, axes [1, 0]\n%4 = reshape [" + m + ", 1, " + k +
                        "] %3\n%5 = expand " + all + " %4\n%6 = param x\n%7 = permute %6, axes [1, 0]\n%8 = reshape [1, " + n +
                        ", " + k + "] %7\n%9 = expand " + all + " %8\n%10 = reduce %5, %9, fma, axes [2]\nstore y, %10\n",
                    {});
  }
}

// Few rows have accumulators of more vectors, of which the last columns fill a part.
TEST(RegisterTiles, FewRows) {
  for (const int rows : {2, 3})
    for (const int columns : {192, 199, 530}) check_product("f32", {{"K", 33}, {"M", rows}, {"N", columns}}, false);
  check_product("f64", {{"K", 5}, {"M", 3}, {"N", 101}}, false);
}

// The derivatives of a convolution of few channels, steps of 2: its chains are nests of loops. By the image they have few rows,
// and the phases have borders of different widths. By the filters they are longer than the second-level cache, and so they run
// in parts; a part is a row of the image, or less.
void check_convolution(int channels, int rows, int columns, int taps, int filters) {
  const auto s = [](int n) { return std::to_string(n); };
  const std::string h = s(rows), w = s(columns), t = s(taps), k = s(filters), c = s(channels), ph = s(rows + taps - 1),
                    pw = s(columns + taps - 1), border = s(taps / 2), oh = s((rows - 1) / 2 + 1), ow = s((columns - 1) / 2 + 1),
                    products = " [" + k + ", " + oh + ", " + ow + ", " + c + ", " + t + ", " + t + "] ";
  check_at_levels(
      "program convolution\nin f32 [" + c + ", " + h + ", " + w + "] x\nin f32 [" + k + ", " + c + ", " + t + ", " + t +
          "] w\nin f32 [" + k + ", " + oh + ", " + ow + "] g\nout f32 [" + c + ", " + h + ", " + w + "] gx\nout f32 [" + k +
          ", " + c + ", " + t + ", " + t + "] gw\n%0 = param x\n%1 = const f32 0\n%2 = pad [" + c + ", " + ph + ", " + pw +
          "] %0, %1, before [0, " + border + ", " + border + "]\n%3 = reshape [" + c + ", 1, " + ph + ", " + pw +
          "] %2\n%4 = expand [" + c + ", " + t + ", " + ph + ", " + pw + "] %3\n%5 = shear [" + c + ", " + t + ", " + oh +
          ", " + pw + "] %4, axes [1, 2], step [2, 1]\n%6 = reshape [" + c + ", " + t + ", " + oh + ", 1, " + pw +
          "] %5\n%7 = expand [" + c + ", " + t + ", " + oh + ", " + t + ", " + pw + "] %6\n%8 = shear [" + c + ", " + t + ", " +
          oh + ", " + t + ", " + ow + "] %7, axes [3, 4], step [2, 1]\n%9 = permute %8, axes [2, 4, 0, 1, 3]\n" +
          "%10 = reshape [1, " + oh + ", " + ow + ", " + c + ", " + t + ", " + t + "] %9\n%11 = expand" + products +
          "%10\n%12 = param w\n%13 = reshape [" + k + ", 1, 1, " + c + ", " + t + ", " + t + "] %12\n%14 = expand" + products +
          "%13\n%15 = reduce %11, %14, fma, axes [3, 4, 5]\n%16 = param g\n%17 = gradient %15, %16, %0\n" +
          "%18 = gradient %15, %16, %12\nstore gx, %17\nstore gw, %18\n",
      {});
}

TEST(RegisterTiles, DerivativesOfConvolutions) {
  check_convolution(3, 80, 84, 3, 64);
  check_convolution(2, 74, 41, 7, 72);
  check_convolution(1, 40, 60, 5, 48);
}

void check_permuted(const std::string& type, const Symbols& e, const std::vector<std::string>& from, const std::string& axes,
                    const std::vector<std::string>& to, bool symbolic) {
  check_at_levels(declared(e, symbolic) + "in " + type + " " + shape(from, e, symbolic) + " a\nin " + type + " " +
                      shape(to, e, symbolic) + " b\nout " + type + " " + shape(to, e, symbolic) +
                      " c\n%0 = param a\n%1 = param b\n%2 = permute %0, axes " + axes + "\n%3 = add %2, %1\nstore c, %3\n",
                  e);
}

TEST(RegisterTiles, Transposes) {
  for (const char* type : {"f32", "f64", "i16", "u8"})
    for (const auto& [m, n] : {std::pair<int, int>{1, 40}, {16, 16}, {17, 15}, {64, 33}, {100, 130}})
      for (const bool symbolic : {false, true})
        check_permuted(type, {{"M", m}, {"N", n}}, {"M", "N"}, "[1, 0]", {"N", "M"}, symbolic);
}

TEST(RegisterTiles, PermutedAxes) {
  const Symbols e = {{"A", 5}, {"B", 34}, {"C", 19}};
  for (const bool symbolic : {false, true}) {
    check_permuted("f32", e, {"A", "B", "C"}, "[0, 2, 1]", {"A", "C", "B"}, symbolic);
    check_permuted("f32", e, {"B", "A", "C"}, "[2, 1, 0]", {"C", "A", "B"}, symbolic);
    check_permuted("f32", e, {"B", "C", "A"}, "[2, 0, 1]", {"A", "B", "C"}, symbolic);
  }
}

}  // namespace
}  // namespace kiln::compiler::testing
