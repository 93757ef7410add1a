// min and max of floats: NaN if either side is, and -0 below +0, also where one side is a constant.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/run/check_at_levels.h"

namespace kiln::compiler::testing {
namespace {

constexpr const char* types[] = {"f32", "f64", "f16", "bf16"};

TEST(Extremum, OfTwoValues) {
  for (const std::string type : types)
    for (const std::string op : {"min", "max"})
      check_at_levels("program extremum\nsymbol N\nin " + type + " [N, 1] x\nin " + type + " [N] y\nout " + type +
                          " [N, N] z\n%0 = param x\n%1 = param y\n%2 = expand [N, N] %0\n%3 = " + op + " %2, %1\nstore z, %3\n",
                      {{"N", 300}});
}

TEST(Extremum, OfAConstant) {
  for (const std::string type : types)
    for (const std::string op : {"min", "max"})
      for (const std::string c : {"0", "-0.0", "1.5", "-2", "inf", "-inf", "nan"})
        for (const bool first : {false, true})
          check_at_levels("program extremum\nsymbol N\nin " + type + " [N] x\nout " + type +
                              " [N] z\n%0 = param x\n%1 = const " + type + " " + c + "\n%2 = " + op +
                              (first ? " %1, %0" : " %0, %1") + "\nstore z, %2\n",
                          {{"N", 700}});
}

// The extremum %3 of all pairs of values, and what uses it: users that give the same number for both zeros, users that do not,
// and both together.
TEST(Extremum, UsersOfZeros) {
  const std::string half = "%4 = const TYPE 0.5\n";
  const std::string users[] = {
      half + "%5 = sub %3, %4\nstore z, %5\n",
      half + "%5 = sub %4, %3\nstore z, %5\n",
      "%4 = const TYPE 0\n%5 = sub %3, %4\nstore z, %5\n",
      "%4 = const TYPE -0.0\n%5 = add %3, %4\nstore z, %5\n",
      "%4 = abs %3\nstore z, %4\n",
      "%4 = neg %3\nstore z, %4\n",
      half + "%5 = fdiv %4, %3\nstore z, %5\n",
      half + "%5 = fdiv %3, %4\n%6 = add %5, %4\nstore z, %6\n",
      half + "%5 = mul %3, %2\n%6 = add %5, %4\nstore z, %6\n",
      half + "%5 = mul %3, %2\n%6 = add %5, %4\n%7 = add %6, %5\nstore z, %7\n",
      "%4 = const TYPE 0\n%5 = fma %4, %4, %3\nstore z, %5\n",
      "%4 = const TYPE -1e-30\n%5 = fma %4, %4, %3\n%6 = fdiv %4, %5\nstore z, %6\n",
      half + "%5 = lt %3, %4\n%6 = where %5, %4, %2\nstore z, %6\n",
      half + "%5 = le %3, %4\n%6 = where %5, %3, %4\nstore z, %6\n",
      half + "%5 = min %3, %4\n%6 = max %5, %2\n%7 = sub %6, %4\nstore z, %7\n",
      half + "%5 = const TYPE 0\n%6 = max %5, %3\n%7 = const TYPE -0.0\n%8 = min %6, %7\n%9 = sub %8, %4\nstore z, %9\n",
      "%4 = sqrt %3\n%5 = cast i32 %4\n%6 = cast TYPE %5\nstore z, %6\n",
      half + "%5 = sub %3, %4\n%6 = max %5, %2\n%7 = sub %6, %4\n%8 = max %2, %7\n%9 = sub %8, %4\nstore z, %9\n",
  };
  for (const std::string type : types)
    for (const std::string op : {"min", "max"})
      for (std::string user : users) {
        for (std::size_t at = user.find("TYPE"); at != std::string::npos; at = user.find("TYPE")) user.replace(at, 4, type);
        check_at_levels("program extremum\nsymbol N\nin " + type + " [N, 1] x\nin " + type + " [N] y\nout " + type +
                            " [N, N] z\n%0 = param x\n%1 = expand [N, N] %0\n%2 = param y\n%3 = " + op + " %1, %2\n" + user,
                        {{"N", 300}});
      }
}

// magnitudes: of the absolute values.
void check_reduction(const std::string& type, const std::string& op, const std::string& axis, bool magnitudes) {
  const std::string text = "program extremum\nsymbol M\nsymbol N\nin " + type + " [M, N] x\nout " + type + " [" +
                           (axis == "0" ? "N" : "M") + "] z\n%0 = param x\n" + (magnitudes ? "%1 = abs %0\n" : "") +
                           "%2 = reduce " + (magnitudes ? "%1, " : "%0, ") + op + ", axes [" + axis + "]\nstore z, %2\n";
  for (const Symbols& s : {Symbols{{"M", 20}, {"N", 70}}, {{"M", 1}, {"N", 1}}, {{"M", 3}, {"N", 0}}, {{"M", 0}, {"N", 3}}})
    check_at_levels(text, s);
}

TEST(Extremum, OfReductions) {
  for (const std::string op : {"min", "max"})
    for (const std::string axis : {"0", "1"}) check_reduction("f32", op, axis, false);
}

TEST(Extremum, OfMagnitudes) {
  for (const std::string type : types)
    for (const std::string op : {"min", "max"})
      for (const std::string axis : {"0", "1"}) check_reduction(type, op, axis, true);
}

// Networks over taps of x: min and max that use each other's values. zeros: the elements are zeros of both signs and NaN, so
// that signs decide.
void check_network(const std::string& type, const std::string& extent, std::int64_t n, bool zeros) {
  const std::string shape = " [" + extent + "]";
  std::string s = std::string("program network\n") + (extent == "N" ? "symbol N min 1\n" : "") + "in " + type + " [" +
                  (extent == "N" ? "N + 8" : std::to_string(n + 8)) + "] x\nin i32" + shape + " k\n";
  for (const char* name : {"middle", "bounds", "both", "count"}) s += "out " + type + shape + " " + name + "\n";
  s += "%0 = param x\n%1 = const " + type + " 0\n%2 = mul %0, %1\n%3 = const " + type + " -0.0\n%4 = param k\n%5 = cast " +
       type + " %4\n";
  int id = 6;
  const auto made = [&](const std::string& code) {
    s += "%" + std::to_string(id) + " = " + code + "\n";
    return "%" + std::to_string(id++);
  };
  const auto low = [&](const std::string& a, const std::string& b) { return made("min " + a + ", " + b); };
  const auto high = [&](const std::string& a, const std::string& b) { return made("max " + a + ", " + b); };
  std::vector<std::string> taps;
  for (int i = 0; i < 9; ++i)
    taps.push_back(made("slice" + shape + (zeros ? " %2" : " %0") + ", begin [" + std::to_string(i) + "]"));
  std::vector<std::string> sorted = taps;  // by exchanges of neighbours
  for (std::size_t round = 0; round < 9; ++round)
    for (std::size_t i = round % 2; i + 1 < 9; i += 2) {
      const std::string a = sorted[i], b = sorted[i + 1];
      sorted[i] = low(a, b);
      sorted[i + 1] = high(a, b);
    }
  const std::string lower = high(high(taps[0], taps[1]), high(taps[2], "%3")), upper = low(low(lower, taps[3]), taps[4]);
  const std::string both = made("add " + lower + ", " + low(high(upper, "%1"), taps[5]));
  const std::string count = high(low(high(low("%5", taps[6]), taps[7]), "%5"), taps[0]);
  s += "store middle, " + sorted[4] + "\nstore bounds, " + upper + "\nstore both, " + both + "\nstore count, " + count + "\n";
  check_at_levels(s, extent == "N" ? Symbols{{"N", n}} : Symbols{});
}

TEST(Extremum, Networks) {
  for (const std::string type : {"f32", "f64", "f16"})
    for (const std::int64_t n : {1, 3, 17, 64, 1031})
      for (const bool zeros : {false, true})
        for (const std::string& extent : {std::string("N"), std::to_string(n)}) check_network(type, extent, n, zeros);
}

TEST(Extremum, PositionsOfReductions) {
  for (const std::string type : {"f32", "f64", "bf16", "i32", "u8", "i64"})
    for (const std::string op : {"argmax", "argmin"})
      for (const std::int64_t n : {1, 2, 31, 32, 63, 64, 65, 200})
        for (const bool constant : {false, true}) {
          const std::string columns = constant ? std::to_string(n) : "N";
          check_at_levels(std::string("program extremum\nsymbol M\n") + (constant ? "" : "symbol N\n") + "in " + type +
                              " [M, " + columns + "] x\nout i64 [M] z\n%0 = param x\n%1 = reduce %0, " + op +
                              ", axes [1]\nstore z, %1\n",
                          {{"M", 9}, {"N", n}});
        }
}

// Extrema of more than one block have the loops of a sum over the same elements.
TEST(Extremum, BesideSumsInBlocks) {
  for (const std::string type : {"f32", "f64", "f16", "i32"})
    for (const std::int64_t n : {65535, 65536, 65537, 140001})
      for (const bool constant : {false, true}) {
        const std::string columns = constant ? std::to_string(n) : "N", result = "out " + type + " [2] ";
        check_at_levels(
            std::string("program extrema\n") + (constant ? "" : "symbol N\n") + "in " + type + " [2, " + columns + "] x\n" +
                result + "low\n" + result + "high\n" + result +
                "total\nout i64 [2] place\n%0 = param x\n%1 = reduce %0, min, axes [1]\n%2 = reduce %0, max, axes [1]\n"
                "%3 = reduce %0, sum, axes [1]\n%4 = reduce %0, argmax, axes [1]\n"
                "store low, %1\nstore high, %2\nstore total, %3\nstore place, %4\n",
            {{"N", n}});
      }
}

}  // namespace
}  // namespace kiln::compiler::testing
