// A matrix whose rows change in place. The end of a row is stored in parts, not under a mask: a load of the next row would wait
// for a masked store.
#include <gtest/gtest.h>

#include "compiler/ir/text.h"
#include "compiler/pipeline/compile.h"
#include "compiler/target/target.h"
#include "tests/run/check_at_levels.h"

namespace kiln::compiler::testing {
namespace {

// x[i, j] = x[i, j] * s[i]; `to` is x, or another parameter.
std::string scaled(const std::string& type, const std::string& to = "x") {
  const std::string other = to == "x" ? "" : "out " + type + " [M, N] " + to + "\n";
  return "program scaled\nsymbol M\nsymbol N\ninout " + type + " [M, N] x\nin " + type + " [M, 1] s\n" + other +
         "%0 = param x\n%1 = param s\n%2 = expand [M, N] %1\n%3 = mul %0, %2\nstore " + to + ", %3\n";
}

TEST(InPlaceRows, Lengths) {
  for (std::int64_t n = 0; n <= 70; ++n) check_at_levels(scaled("f32"), {{"M", 5}, {"N", n}});
}

TEST(InPlaceRows, Types) {
  for (const char* type : {"f64", "i8", "u16", "i64", "f16"})
    for (const std::int64_t n : {1, 2, 3, 7, 8, 15, 21, 33, 63, 64, 127, 190})
      check_at_levels(scaled(type), {{"M", 4}, {"N", n}});
}

// Changes x[i, j] where j < i. The number of active lanes may be greater than a vector.
TEST(InPlaceRows, Triangles) {
  for (const std::string type : {"f32", "f64", "i8"}) {
    const std::string text = "program triangle\nsymbol M\nsymbol N\ninout " + type +
                             " [M, N] x\n%0 = param x\n%1 = iota i32 [M]\n%2 = reshape [M, 1] %1\n%3 = expand [M, N] %2\n"
                             "%4 = iota i32 [N]\n%5 = reshape [1, N] %4\n%6 = expand [M, N] %5\n%7 = lt %6, %3\n"
                             "%8 = add %0, %0\n%9 = where %7, %8, %0\nstore x, %9\n";
    for (std::int64_t n = 0; n <= 40; ++n)
      for (const std::int64_t m : {1, 9, 40}) check_at_levels(text, {{"M", m}, {"N", n}});
  }
}

bool has_masked_stores(const std::string& program) {
  Graph g;
  const Program p = read_program(g, program, "program.kiln");
  CompileOptions options;
  options.targets = {target_named("x86-64-v4")};
  options.outputs = {.object = false, .llvm_ir = true, .assembly = false};
  return compile(g, p, options).code.llvm_ir.find("call void @llvm.masked.store") != std::string::npos;
}

TEST(InPlaceRows, OnlyRowsInPlaceAreStoredInParts) {
  EXPECT_FALSE(has_masked_stores(scaled("f32")));
  EXPECT_TRUE(has_masked_stores(scaled("f32", "y")));
}

}  // namespace
}  // namespace kiln::compiler::testing
