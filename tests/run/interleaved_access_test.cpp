// Rows of a few components, and every few elements of a row: the compiled object equals the interpreter, bit for bit. Each
// number of rows has other lanes under masks.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/run/check_at_levels.h"

namespace kiln::compiler::testing {
namespace {

std::string shape(const std::string& rows, int components) { return "[" + rows + ", " + std::to_string(components) + "]"; }

// y[i, c] = x[i, components - 1 - c] * x[i, c]
std::string components_text(const std::string& type, int components) {
  const std::string whole = shape("N", components);
  return "program components\nsymbol N\nin " + type + ' ' + whole + " x\nout " + type + ' ' + whole +
         " y\n%0 = param x\n%1 = slice " + whole + " %0, begin [0, " + std::to_string(components - 1) +
         "], step [1, -1]\n%2 = mul %0, %1\nstore y, %2\n";
}

// The transposed matrix, from or to rows of components.
std::string planes_text(const std::string& type, int components, bool to_planes) {
  const std::string rows = shape("N", components), planes = "[" + std::to_string(components) + ", N]";
  return "program planes\nsymbol N\nin " + type + ' ' + (to_planes ? rows : planes) + " x\nout " + type + ' ' +
         (to_planes ? planes : rows) + " y\n%0 = param x\n%1 = permute %0, axes [1, 0]\nstore y, %1\n";
}

// y[i] = max of x[i * step + offset] over `window` offsets, where the last window ends with x
std::string windows_text(const std::string& type, int step, int window) {
  const std::string length =
      "N*" + std::to_string(step) + (window < step ? " - " : " + ") + std::to_string(std::abs(window - step));
  std::string text =
      "program windows\nsymbol N min 1\nin " + type + " [" + length + "] x\nout " + type + " [N] y\n%0 = param x\n";
  std::string most;
  for (int w = 0; w < window; ++w) {
    const std::string part = "%" + std::to_string(2 * w + 1), both = "%" + std::to_string(2 * w + 2);
    text += part + " = slice [N] %0, begin [" + std::to_string(w) + "], step [" + std::to_string(step) + "]\n";
    if (w > 0) text += both + " = max " + most + ", " + part + "\n";
    most = w > 0 ? both : part;
  }
  return text + "store y, " + most + "\n";
}

TEST(InterleavedAccess, Components) {
  for (const char* type : {"f32", "f64", "u8", "i16"})
    for (const int components : {2, 3, 4})
      for (const std::int64_t rows : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 48, 63, 65, 100, 131})
        check_at_levels(components_text(type, components), {{"N", rows}});
}

// The components of rows become planes: vectorize_plan moves the planes inside the loop over rows, unless rows fill tiles.
TEST(InterleavedAccess, PlanesOfSums) {
  for (const char* type : {"f32", "f64", "u8", "i16"})
    for (const int components : {2, 3, 5, 12, 16}) {
      const std::string planes = "[" + std::to_string(components) + ", N]";
      const std::string text = std::string("program planes\nsymbol N\nin ") + type + ' ' + shape("N", components) + " x\nout " +
                               type + ' ' + planes +
                               " y\n%0 = param x\n%1 = permute %0, axes [1, 0]\n%2 = add %1, %1\nstore y, %2\n";
      for (const std::int64_t rows : {0, 1, 7, 17, 31, 63, 64, 65, 131}) check_at_levels(text, {{"N", rows}});
    }
}

// Each way of shuffling whole rows: an odd number of components, parts of 16 bytes, an even number.
TEST(InterleavedAccess, MoreComponents) {
  for (const char* type : {"f32", "i32", "f64"})
    for (const int components : {2, 4, 5, 6, 8, 12})
      for (const std::int64_t rows : {1, 8, 17, 65}) check_at_levels(components_text(type, components), {{"N", rows}});
}

// Rows to planes and planes to rows: an odd number of elements that no instruction permutes across a register.
TEST(InterleavedAccess, Planes) {
  for (const char* type : {"u8", "i16", "f16", "f32"})
    for (const int components : {3, 5, 7, 6, 12})
      for (const bool to_planes : {true, false})
        for (const std::int64_t rows : {0, 1, 15, 16, 17, 63, 64, 65, 131, 259})
          check_at_levels(planes_text(type, components, to_planes), {{"N", rows}});
}

TEST(InterleavedAccess, Windows) {
  for (const char* type : {"f32", "f64", "u8"})
    for (const int step : {2, 3})
      for (const int window : {1, 2, 3})
        for (const std::int64_t rows : {1, 2, 7, 8, 15, 16, 17, 33, 47, 65, 129})
          check_at_levels(windows_text(type, step, window), {{"N", rows}});
}

// Some columns of long rows: less than fill 16 bytes, as many, and more. The last row ends with the last column.
TEST(InterleavedAccess, ColumnsOfLongRows) {
  for (const char* type : {"f32", "f64", "u8", "i16"})
    for (const int step : {17, 49})
      for (const int window : {2, 4, 5, 17})
        for (const std::int64_t rows : {1, 16, 33, 65}) check_at_levels(windows_text(type, step, window), {{"N", rows}});
}

}  // namespace
}  // namespace kiln::compiler::testing
