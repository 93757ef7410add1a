// Scans in machine code, at every level of the CPU, beside the interpreter. ops_tensor_test compares both with a reference.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/run/check_at_levels.h"

namespace kiln::compiler::testing {
namespace {

std::string scan(const std::string& type, const std::string& kind, const std::string& shape, int axis,
                 const std::string& options = "") {
  return "program scan\nin " + type + " " + shape + " x\nout " + type + " " + shape + " y\n%0 = param x\n%1 = scan %0, " +
         kind + ", axis " + std::to_string(axis) + options + "\nstore y, %1\n";
}

constexpr const char* options[] = {"", ", exclusive", ", reversed", ", exclusive, reversed"};

// One row: no group, parts of one, whole ones, and several blocks.
TEST(Scan, OfARow) {
  for (const std::string option : options)
    for (const std::int64_t n : {0, 1, 15, 16, 17, 47, 4096, 4097, 8192, 20011})
      check_at_levels(scan("f32", "sum", "[N]", 0, option), {{"N", n}});
}

TEST(Scan, OfStaticRows) {
  for (const std::string option : options)
    for (const int n : {1, 16, 17, 33, 4099})
      check_at_levels(scan("f32", "prod", "[M, " + std::to_string(n) + "]", 1, option), {{"M", 37}});
}

TEST(Scan, OfColumns) {
  for (const std::string option : options) {
    for (const std::int64_t m : {0, 1, 13, 16, 160, 5003})
      check_at_levels(scan("f32", "sum", "[M, N]", 0, option), {{"M", m}, {"N", 67}});
    for (const int m : {1, 17, 163}) {
      check_at_levels(scan("f32", "sum", "[" + std::to_string(m) + ", N]", 0, option), {{"N", 300}});
      check_at_levels(scan("f32", "sum", "[3, " + std::to_string(m) + ", 5]", 1, option), {});
    }
  }
}

// ops_tensor_test has the other types.
TEST(Scan, OfTypes) {
  for (const std::string type : {"u8", "bf16", "f64"})
    for (const int axis : {0, 1})
      check_at_levels(scan(type, axis == 0 ? "sum" : "max", "[M, N]", axis, axis == 0 ? "" : ", exclusive, reversed"),
                      {{"M", 35}, {"N", 83}});
  check_at_levels(scan("bool", "max", "[M, N]", 1, ", exclusive"), {{"M", 35}, {"N", 83}});
}

// The value of the scan is computed in the loop, or is stored before. A scan reads the result of another one.
TEST(Scan, OfComputedValues) {
  check_at_levels(
      "program computed\nin f16 [M, N] x\nin f16 [N] b\nout f16 [M, N] y\nout f16 [N, M] t\nout f16 [M, N] twice\n"
      "out f16 [M, N] e\nout i32 [M, N] count\n"
      "%0 = param x\n%1 = param b\n%2 = add %0, %1\n%3 = scan %2, sum, axis 1\nstore y, %3\n"
      "%4 = permute %0, axes [1, 0]\n%5 = scan %4, max, axis 1, reversed\nstore t, %5\n"
      "%6 = scan %3, sum, axis 0, exclusive\nstore twice, %6\n"
      "%7 = exp %0\n%8 = scan %7, sum, axis 1\n%9 = add %8, %3\nstore e, %9\n"
      "%10 = const f16 0\n%11 = lt %10, %0\n%12 = cast i32 %11\n%13 = scan %12, sum, axis 1, exclusive\nstore count, %13\n",
      {{"M", 21}, {"N", 333}});
}

// In a kernel, a small tensor is written out.
TEST(Scan, OfASmallTensorInAKernel) {
  for (const std::string option : options)
    check_at_levels(
        "program small\nin f32 [N, 20] x\nout f32 [N] y\nin i32 [N] k\n%0 = param x\n%1 = param y\n%2 = param k\n"
        "%3 = range (N), id 0\n%4 = carry %3, %1, slot 0\n%5 = index %0, %3, (0)\n%6 = reshape [1] %5\n"
        "%7 = expand [20] %6\n%8 = iota f32 [20]\n%9 = mul %7, %8\n%10 = scan %9, sum, axis 0" +
            option +
            "\n%11 = const bool true\n%12 = index %10, (17)\n%13 = update %4, %11, %12, %3\n%14 = kernel %3, %1, %13\n"
            "%15 = get %14, slot 0\nstore y, %15\n",
        {{"N", 77}});
}

}  // namespace
}  // namespace kiln::compiler::testing
