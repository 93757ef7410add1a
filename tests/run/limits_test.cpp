// The compiler refuses a program beyond the limits of one call, and takes one at the limit (E-limit).
#include <gtest/gtest.h>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/text.h"
#include "compiler/pipeline/compile.h"

namespace kiln::compiler::testing {
namespace {

// y = x*2 + x*3 + ..., where each product is stored: the last kernel has a buffer for each product, and one for y.
std::string sum_of_stored(int products) {
  std::string text = "program many\nin f32 [8] x\nout f32 [8] y\n%0 = param x\n";
  int next = 1;
  const auto name = [](int id) { return '%' + std::to_string(id); };
  std::vector<int> stored;
  for (int k = 0; k < products; ++k, next += 3) {
    text += name(next) + " = const f32 [] " + std::to_string(k + 2) + '\n';
    text += name(next + 1) + " = mul " + name(0) + ", " + name(next) + '\n';
    text += name(next + 2) + " = stage " + name(next + 1) + '\n';
    stored.push_back(next + 2);
  }
  int sum = stored.front();
  for (std::size_t i = 1; i < stored.size(); ++i, sum = next++)
    text += name(next) + " = add " + name(sum) + ", " + name(stored[i]) + '\n';
  return text + "store y, " + name(sum) + '\n';
}

// The error of compile(), or the number of buffers of the last kernel.
std::string compiled(int products) {
  Graph g;
  const Program p = read_program(g, sum_of_stored(products), "many.kiln");
  try {
    return std::to_string(compile(g, p, {}).variants[0].schedule.kernels.back().buffers.size()) + " buffers";
  } catch (const Diagnostic& d) {
    return d.what();
  }
}

TEST(Limits, ACompiledKernelHasAtMost1024Buffers) {
  EXPECT_EQ(compiled(1023), "1024 buffers");
  const std::string refused = compiled(1024);
  EXPECT_NE(refused.find("E-limit: buffers of kernel `many_k1024`: expected at most 1024, got 1025"), std::string::npos)
      << refused;
}

}  // namespace
}  // namespace kiln::compiler::testing
