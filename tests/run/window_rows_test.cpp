// Windows of one channel: several rows of results at a time load each row of the image once. The compiled object equals the
// interpreter, bit for bit. The extents leave 0 to 3 rows, and columns that are no multiple of a vector.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/run/check_at_levels.h"

namespace kiln::compiler::testing {
namespace {

struct Image {
  std::int64_t rows, columns;
  bool symbolic;

  Symbols symbols() const { return {{"H", rows}, {"W", columns}}; }
  std::string declared() const { return symbolic ? "symbol H min 1\nsymbol W min 1\n" : ""; }

  // a * extent + b
  std::string linear(int a, char extent, int b) const {
    if (!symbolic) return std::to_string(a * (extent == 'H' ? rows : columns) + b);
    const std::string product = (a == 1 ? "" : std::to_string(a) + "*") + extent;
    return b == 0 ? product : product + (b < 0 ? " - " : " + ") + std::to_string(std::abs(b));
  }
};

constexpr Image images[] = {{5, 70, false}, {8, 56, true},   {1, 9, true},   {2, 33, false},
                            {4, 16, false}, {23, 100, true}, {7, 200, false}};

// y[c, i, j] = a reduction of windows of 3 channels, each of k x k elements, with the weights w of the channel.
void check_windows(const std::string& type, const std::string& kind, int k, int padding, const Image& image) {
  const int grown = 2 * padding, result = grown - k + 1;
  if (image.rows + result < 1 || image.columns + result < 1) return;
  const std::string size = std::to_string(k), twice = std::to_string(2 * k), border = std::to_string(padding), c = "[3, ";
  const auto h = [&](int a, int b) { return image.linear(a, 'H', b); };
  const auto w = [&](int a, int b) { return image.linear(a, 'W', b); };
  const std::string wide = w(1, grown), all = c + h(1, result) + ", " + w(1, result) + ", " + size + ", " + size + "]";
  std::string s = "program windows\n" + image.declared() + "in " + type + " " + c + h(1, 0) + ", " + w(1, 0) + "] x\nin " +
                  type + " " + c + "1, 1, " + size + ", " + size + "] w\nout " + type + " " + c + h(1, result) + ", " +
                  w(1, result) + "] y\n%0 = param x\n%1 = const " + type + " [] 0\n";
  s += "%2 = pad " + c + h(1, grown) + ", " + wide + "] %0, %1, before [0, " + border + ", " + border + "], mode constant\n";
  s += "%3 = reshape " + c + "1, " + h(1, grown) + ", " + wide + "] %2\n";
  s += "%4 = expand " + c + twice + ", " + h(1, grown) + ", " + wide + "] %3\n";
  s += "%5 = reshape " + c + h(2 * k, 2 * k * grown) + ", " + wide + "] %4\n";
  s += "%6 = slice " + c + h(k, k * (grown + 1)) + ", " + wide + "] %5, begin [0, 0, 0]\n";
  s += "%7 = reshape " + c + size + ", " + h(1, grown + 1) + ", " + wide + "] %6\n";
  const std::string rows = c + size + ", " + h(1, result) + ", ";
  s += "%8 = slice " + rows + wide + "] %7, begin [0, 0, 0, 0]\n";
  s += "%9 = reshape " + rows + "1, " + wide + "] %8\n%10 = expand " + rows + twice + ", " + wide + "] %9\n";
  s += "%11 = reshape " + rows + w(2 * k, 2 * k * grown) + "] %10\n";
  s += "%12 = slice " + rows + w(k, k * (grown + 1)) + "] %11, begin [0, 0, 0, 0]\n";
  s += "%13 = reshape " + rows + size + ", " + w(1, grown + 1) + "] %12\n";
  s += "%14 = slice " + rows + size + ", " + w(1, result) + "] %13, begin [0, 0, 0, 0, 0]\n";
  s += "%15 = permute " + all + " %14, axes [0, 2, 4, 1, 3]\n%16 = param w\n%17 = expand " + all + " %16\n";
  s += kind == "fma" ? "%18 = reduce %15, %17, fma, axes [3, 4]\n"
                     : "%19 = add %15, %17\n%18 = reduce %19, " + kind + ", axes [3, 4]\n";
  check_at_levels(s + "store y, %18\n", image.symbols());
}

TEST(WindowRows, Products) {
  for (const Image& image : images)
    for (const char* type : {"f32", "f64", "f16", "i32"}) check_windows(type, "fma", 3, 1, image);
  for (const int size : {2, 4, 5})
    for (const Image& image : {images[0], images[5]}) check_windows("f32", "fma", size, size / 2, image);
  check_windows("f32", "fma", 3, 0, images[6]);
}

TEST(WindowRows, OtherReductions) {
  for (const char* kind : {"sum", "max", "min"})
    for (const Image& image : {images[0], images[1], images[3]}) check_windows("f32", kind, 3, 1, image);
  // Windows of more operations, and of elements that have no masks with AVX2.
  for (const char* kind : {"max", "min"})
    for (const char* type : {"u8", "i16", "f32"})
      for (const Image& image : images) check_windows(type, kind, 5, 2, image);
}

// Slices of a padded image, whose operations are in the program one by one.
TEST(WindowRows, Taps) {
  for (const Image& image : images) {
    const std::string h = image.linear(1, 'H', 0), w = image.linear(1, 'W', 0);
    std::string s = "program taps\n" + image.declared() + "in f32 [" + h + ", " + w + "] x\nout f32 [" + h + ", " + w +
                    "] y\n%0 = param x\n%1 = const f32 [] 0.5\n%2 = pad [" + image.linear(1, 'H', 2) + ", " +
                    image.linear(1, 'W', 2) + "] %0, %1, before [1, 1], mode constant\n%3 = abs %0\n";
    std::string sum = "%3";
    int id = 4;
    for (const char* begin : {"0, 0", "0, 1", "1, 0", "1, 1", "2, 1", "2, 2"}) {
      const std::string tap = "%" + std::to_string(id++), next = "%" + std::to_string(id++);
      s += tap + " = slice [" + h + ", " + w + "] %2, begin [" + begin + "]\n" + next + " = sub " + tap + ", " + sum + "\n";
      sum = next;
    }
    check_at_levels(s + "store y, " + sum + "\n", image.symbols());
  }
}

// y[i, j] = (x[i] - p[j, 1]) * p[j, 3]: all rows of results use the same components of p.
TEST(WindowRows, Pairs) {
  for (const Image& image : images)
    for (const char* type : {"f32", "f64", "i16"})
      for (const std::string components : {"4", "5"}) {
        const std::string h = image.linear(1, 'H', 0), w = image.linear(1, 'W', 0), t = type, all = "[" + h + ", " + w + "]";
        check_at_levels("program pairs\n" + image.declared() + "in " + t + " [" + h + ", 1] x\nin " + t + " [" + w + ", " +
                            components + "] p\nout " + t + " " + all + " y\n%0 = param x\n%1 = param p\n%2 = slice [" + w +
                            ", 1] %1, begin [0, 1]\n%3 = slice [" + w + ", 1] %1, begin [0, 3]\n%4 = reshape [1, " + w +
                            "] %2\n%5 = reshape [1, " + w + "] %3\n%6 = expand " + all + " %0\n%7 = expand " + all +
                            " %4\n%8 = expand " + all + " %5\n%9 = sub %6, %7\n%10 = mul %9, %8\nstore y, %10\n",
                        image.symbols());
      }
}

}  // namespace
}  // namespace kiln::compiler::testing
