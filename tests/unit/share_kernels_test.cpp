// Equal layers become one kernel function, which is called with different pointers.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "compiler/ir/text.h"
#include "compiler/pipeline/compile.h"

namespace kiln::compiler {
namespace {

Compiled compiled(const std::string& text) {
  Graph g;
  const Program p = read_program(g, text);
  CompileOptions options;
  options.outputs = {false, true, false};
  return compile(g, p, options);
}

std::size_t functions(const Compiled& c) {
  const auto first = kernel_functions(c.variants[0].graph, c.variants[0].schedule, c.variants[0].schedule.lowered);
  return std::set<std::size_t>(first.begin(), first.end()).size();
}

std::size_t views(const Compiled& c) {
  return static_cast<std::size_t>(
      std::ranges::count_if(c.variants[0].schedule.buffers, [](const Buffer& b) { return b.param >= 0 && b.offset != no_id; }));
}

std::string node(int n, const std::string& rest) { return "%" + std::to_string(n) + " = " + rest + "\n"; }
std::string ref(int n) { return "%" + std::to_string(n); }

// y = ((x w0') w1') ..., with all weights in one tensor, or each in its own. The weights are transposed, so each product has a
// kernel that copies them before it.
std::string products(int layers, bool stacked) {
  std::string head = "program products\nin f32 [N, 24] x\n", body = node(0, "param x");
  int n = 1, value = 0;
  if (stacked) {
    head += "in f32 [" + std::to_string(layers) + ", 24, 24] w\n";
    body += node(n++, "param w");
  }
  for (int i = 0; i < layers; ++i) {
    if (stacked) {
      body += node(n++, "slice [1, 24, 24] %1, begin [" + std::to_string(i) + ", 0, 0]");
    } else {
      head += "in f32 [24, 24] w" + std::to_string(i) + "\n";
      body += node(n, "param w" + std::to_string(i)) + node(n + 1, "reshape [1, 24, 24] " + ref(n));
      n += 2;
    }
    body += node(n, "expand [N, 24, 24] " + ref(n - 1)) + node(n + 1, "reshape [N, 1, 24] " + ref(value)) +
            node(n + 2, "expand [N, 24, 24] " + ref(n + 1)) +
            node(n + 3, "reduce " + ref(n) + ", " + ref(n + 2) + ", fma, axes [2]");
    value = n + 3;
    n += 4;
  }
  return head + "out f32 [N, 24] y\n" + body + "store y, " + ref(value) + "\n";
}

TEST(ShareKernels, LayersWithTheirOwnInputs) {
  const Compiled c = compiled(products(20, false));
  EXPECT_EQ(c.variants[0].schedule.kernels.size(), 40u);
  EXPECT_EQ(functions(c), 2u);
  EXPECT_EQ(views(c), 0u);
}

TEST(ShareKernels, LayersWithPlacesInOneInput) {
  const Compiled c = compiled(products(20, true));
  EXPECT_EQ(c.variants[0].schedule.kernels.size(), 40u);
  EXPECT_EQ(functions(c), 2u);
  EXPECT_EQ(views(c), 19u);  // the first weights begin at offset 0
  std::size_t emitted = 0;
  for (std::size_t at = 0; (at = c.code.llvm_ir.find("define internal", at)) != std::string::npos; ++at) ++emitted;
  EXPECT_EQ(emitted, 3u);  // with the entry of the variant
}

TEST(ShareKernels, NoViewsWhereNothingIsShared) {
  const Compiled c = compiled(
      "program p\nsymbol N min 3\nin f32 [N] x\nout f32 [N - 3] y\n%0 = param x\n%1 = slice [N - 3] %0, begin [3]\nstore y, "
      "%1\n");
  EXPECT_EQ(functions(c), 1u);
  EXPECT_EQ(views(c), 0u);
}

}  // namespace
}  // namespace kiln::compiler
