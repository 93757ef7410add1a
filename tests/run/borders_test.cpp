// Loops whose first and last iterations differ from the others: rolls, clamps and concatenations. The compiled object equals
// the interpreter, bit for bit. The extents are near the sizes of a vector, and so small that no iteration is away from both
// ends.
#include <gtest/gtest.h>

#include <array>

#include "tests/run/check_at_levels.h"

namespace kiln::compiler::testing {
namespace {

constexpr std::int64_t widths[] = {1, 2, 3, 5, 15, 16, 17, 31, 33, 63, 65, 127, 128, 130, 131, 257, 300, 1030};

std::string extent(const char* name, std::int64_t value, bool symbolic) { return symbolic ? name : std::to_string(value); }

// y = the sum of the neighbours of each element, across the edges
std::string rolled(const std::string& type, std::int64_t h, std::int64_t w, bool symbolic) {
  const std::string rows = extent("H", h, symbolic), columns = extent("W", w, symbolic),
                    shape = "[" + rows + ", " + columns + "]";
  return std::string("program rolled\n") + (symbolic ? "symbol H min 1\nsymbol W min 1\n" : "") + "in " + type + " " + shape +
         " x\nout " + type + " " + shape + " y\n%0 = param x\n%1 = pad [" + rows + " + 2, " + columns +
         " + 2] %0, before [1, 1], mode wrap\n%2 = slice " + shape + " %1, begin [0, 1]\n%3 = slice " + shape +
         " %1, begin [2, 1]\n%4 = slice " + shape + " %1, begin [1, 0]\n%5 = slice " + shape +
         " %1, begin [1, 2]\n%6 = add %2, %3\n%7 = add %4, %5\n%8 = add %6, %7\nstore y, %8\n";
}

TEST(Borders, Rolls) {
  for (const char* type : {"f32", "u8", "f64", "i16", "f16"})
    for (const std::int64_t w : widths)
      for (const bool symbolic : {false, true}) check_at_levels(rolled(type, 3, w, symbolic), {{"H", 3}, {"W", w}});
  for (const std::int64_t h : {1, 2, 40}) check_at_levels(rolled("u8", h, 70, true), {{"H", h}, {"W", 70}});
}

// Padded rows: short ones are all vectors, of which those at the ends have masks.
TEST(Borders, PaddedRows) {
  struct Padding {
    std::int64_t before, after;
  };
  const std::int64_t short_rows[] = {8, 9, 15, 16, 24, 28, 47, 56};
  std::size_t k = 0;
  for (const std::int64_t w : short_rows)
    for (const char* type : {"f32", "f64"}) {
      const auto [before, after] =
          std::array{Padding{1, 1}, Padding{1, 0}, Padding{0, 2}, Padding{3, 9}, Padding{5, 4}}[k++ % 5];
      const std::string row = std::to_string(w), wide = std::to_string(w + before + after), shape = "[5, " + row + "]";
      const auto part = [&](std::int64_t begin) {
        return "slice " + shape + " %2, begin [0, " + std::to_string(begin) + "]\n";
      };
      check_at_levels("program padded\nin " + std::string(type) + " " + shape + " x\nout " + type + " " + shape +
                          " y\n%0 = param x\n%1 = const " + type + " 2\n%2 = pad [5, " + wide + "] %0, %1, before [0, " +
                          std::to_string(before) + "]\n%3 = " + part(0) + "%4 = " + part(before) +
                          "%5 = " + part(before + after) + "%6 = fma %3, %4, %5\nstore y, %6\n",
                      {});
    }
}

// A kernel that a program writes, with clamped indices.
TEST(Borders, ClampsInKernels) {
  for (const std::int64_t w : widths)
    check_at_levels(
        "program clamped\nsymbol H min 1\nsymbol W min 1\nin f32 [H, W] x\ninout f32 [H, W] y\n%0 = param x\n%1 = param y\n"
        "%2 = range (H), id 0\n%3 = range (W), id 1\n%4 = carry %2, %1, slot 0\n%5 = sub %3, (2)\n%6 = max %5, (0)\n"
        "%7 = add %3, (3)\n%8 = min %7, (W - 1)\n%9 = sub %2, (1)\n%10 = max %9, (0)\n%11 = index %0, %2, %6\n"
        "%12 = index %0, %10, %8\n%13 = add %11, %12\n%14 = const bool true\n%15 = update %4, %14, %13, %2, %3\n"
        "%16 = kernel %2, %3, %1, %15\n%17 = get %16, slot 0\nstore y, %17\n",
        {{"H", 3}, {"W", w}});
}

// Half and a third of a position, clamped: images that are enlarged, from the first column on or from the last one back.
TEST(Borders, QuotientsInKernels) {
  const char* places[] = {
      "%5 = sub %3, (1)\n%6 = floordiv %5, (2)\n%7 = max %6, (0)\n%8 = min %7, (W - 1)\n",
      "%5 = add %3, (1)\n%6 = floordiv %5, (2)\n%7 = min %6, (W - 1)\n%8 = max %7, (0)\n",
      "%5 = sub %3, (4)\n%6 = floordiv %5, (3)\n%7 = max %6, (0)\n%8 = min %7, (W - 1)\n",
      "%5 = floordiv %3, (2)\n%6 = sub (W), %5\n%7 = max %6, (0)\n%8 = min %7, (W - 1)\n",
      "%5 = add %3, %3\n%9 = sub %5, (3)\n%6 = floordiv %9, (4)\n%7 = max %6, (0)\n%8 = min %7, (W - 1)\n",
      "%5 = sub (2*W), %3\n%6 = floordiv %5, (2)\n%7 = max %6, (0)\n%8 = min %7, (W - 1)\n",
  };
  for (const char* place : places)
    for (const std::int64_t w : {1, 2, 8, 16, 33, 70, 150})
      for (const bool symbolic : {false, true}) {
        std::string text = std::string(symbolic ? "symbol H min 1\nsymbol W min 1\n" : "") +
                           "in f32 [H, W] x\ninout f32 [H, 2*W] y\n%0 = param x\n%1 = param y\n%2 = range (H), id 0\n"
                           "%3 = range (2*W), id 1\n%4 = carry %2, %1, slot 0\n" +
                           place +
                           "%10 = index %0, %2, %8\n%11 = const bool true\n%12 = update %4, %11, %10, %2, %3\n"
                           "%13 = kernel %2, %3, %1, %12\n%14 = get %13, slot 0\nstore y, %14\n";
        if (!symbolic) {
          const std::pair<std::string, std::int64_t> extents[] = {{"2*W", 2 * w}, {"W - 1", w - 1}, {"W", w}, {"H", 3}};
          for (const auto& [name, value] : extents)
            for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos;)
              text.replace(at, name.size(), std::to_string(value));
        }
        check_at_levels("program enlarged\n" + text, {{"H", 3}, {"W", w}});
      }
}

// A kernel that a program writes, with a loop over a window. The positions beyond the ends: the nearest, periodic, mirrored,
// with two columns for each work item, from the last one back.
TEST(Borders, WindowsInKernels) {
  const char* places[] = {
      "%9 = add %8, (-3)\n%10 = max %9, (0)\n%12 = min %10, (2*W - 1)\n",
      "%9 = add %8, (-3)\n%12 = floormod %9, (W)\n",
      "%9 = add %8, (-3)\n%10 = floormod %9, (2*W)\n%11 = sub (2*W - 1), %10\n%12 = min %10, %11\n",
      "%9 = add %8, %3\n%10 = add %9, (-3)\n%11 = max %10, (0)\n%12 = min %11, (2*W - 1)\n",
      "%9 = sub (2*W + 1), %8\n%10 = max %9, (0)\n%12 = min %10, (2*W - 1)\n",
  };
  for (const char* place : places)
    for (const std::int64_t w : {1, 2, 5, 31, 39, 70, 300})
      check_at_levels(
          std::string("program windows\nsymbol H min 1\nsymbol W min 1\nin f32 [H, 2*W] x\ninout f32 [H, W] y\n%0 = param x\n"
                      "%1 = param y\n%2 = range (H), id 0\n%3 = range (W), id 1\n%4 = carry %2, %1, slot 0\n"
                      "%5 = range (7), id 2\n%6 = const f32 2\n%7 = carry %5, %6, slot 0\n%8 = add %3, %5\n") +
              place +
              "%13 = index %0, %2, %12\n%14 = fma %7, %6, %13\n%15 = for %5, (0), (7), %6, %14\n%16 = get %15, slot 0\n"
              "%17 = const bool true\n%18 = update %4, %17, %16, %2, %3\n%19 = kernel %2, %3, %1, %18\n"
              "%20 = get %19, slot 0\nstore y, %20\n",
          {{"H", 2}, {"W", w}});
}

// Parts of 1, 40, 64 and 200 columns, in this and in other orders.
TEST(Borders, Concatenations) {
  const std::int64_t orders[][4] = {{40, 64, 1, 200}, {64, 40, 200, 1}, {1, 200, 64, 40}, {200, 1, 40, 64}};
  for (const char* type : {"f32", "u8", "i64"})
    for (const auto& sizes : orders)
      for (std::size_t parts = 2; parts <= 4; ++parts) {
        std::string head = "program joined\nsymbol M\n", body, list;
        std::int64_t all = 0;
        for (std::size_t i = 0; i < parts; ++i) {
          const std::string n = std::to_string(i);
          head += std::string("in ") + type + " [M, " + std::to_string(sizes[i]) + "] x" + n + "\n";
          body += "%" + n + " = param x" + n + "\n";
          list += (i == 0 ? "%" : ", %") + n;
          all += sizes[i];
        }
        const std::string value = "%" + std::to_string(parts);
        head += std::string("out ") + type + " [M, " + std::to_string(all) + "] y\n";
        for (const std::int64_t rows : {0, 1, 5})
          check_at_levels(head + body + value + " = concat " + list + ", axis 1\nstore y, " + value + "\n", {{"M", rows}});
      }
}

// Pieces of symbolic extents along each axis, each with a loop of its own; pieces may be empty.
TEST(Borders, SymbolicConcatenations) {
  const std::int64_t sizes[][3] = {{0, 0, 0}, {1, 0, 2}, {0, 33, 1}, {17, 64, 130}, {300, 0, 7}, {31, 32, 33}};
  for (const char* type : {"f32", "u8"})
    for (int axis = 0; axis < 3; ++axis) {
      const auto shape = [&](const std::string& extent) {
        std::string extents[] = {axis == 1 ? "M" : "3", "M", "5"};
        extents[axis] = extent;
        return std::string(type) + " [" + extents[0] + ", " + extents[1] + ", " + extents[2] + "] ";
      };
      const std::string text = "program pieces\nsymbol A\nsymbol B\nsymbol C\nsymbol M\nin " + shape("A") + "a\nin " +
                               shape("B") + "b\nin " + shape("C") + "c\nout " + shape("A + B + C") +
                               "y\n%0 = param a\n%1 = param b\n%2 = param c\n%3 = concat %0, %1, %2, axis " +
                               std::to_string(axis) + "\n%4 = add %3, %3\nstore y, %4\n";
      for (const auto& s : sizes) check_at_levels(text, {{"A", s[0]}, {"B", s[1]}, {"C", s[2]}, {"M", 3}});
    }
}

// The halves of a row, each computed from both.
TEST(Borders, Rotations) {
  for (const std::int64_t half : {1, 8, 16, 20, 32, 33, 64, 100}) {
    const std::string n = std::to_string(half), all = std::to_string(2 * half);
    check_at_levels("program rotated\nsymbol M\nin f32 [M, " + all + "] x\nin f32 [M, " + n + "] c\nout f32 [M, " + all +
                        "] y\n%0 = param x\n%1 = param c\n%2 = slice [M, " + n + "] %0, begin [0, 0]\n%3 = slice [M, " + n +
                        "] %0, begin [0, " + n +
                        "]\n%4 = mul %2, %1\n%5 = sub %4, %3\n%6 = mul %3, %1\n%7 = add %6, %2\n%8 = concat %5, %7, axis 1\n"
                        "store y, %8\n",
                    {{"M", 5}});
  }
}

// Each pixel four times: the short range of the columns is inside of lanes, that of the rows is not.
TEST(Borders, RepeatedPixels) {
  for (const std::int64_t w : {1, 7, 16, 33, 100})
    check_at_levels(
        "program doubled\nsymbol H\nsymbol W\nin f32 [H, W] x\nout f32 [2*H, 2*W] y\n%0 = param x\n"
        "%1 = reshape [H, 1, W, 1] %0\n%2 = expand [H, 2, W, 2] %1\n%3 = reshape [2*H, 2*W] %2\nstore y, %3\n",
        {{"H", 3}, {"W", w}});
}

}  // namespace
}  // namespace kiln::compiler::testing
