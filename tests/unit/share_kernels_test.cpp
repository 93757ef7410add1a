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
// kernel that copies them before it. At least eight rows: else there would be versions without the copy.
std::string products(int layers, bool stacked) {
  std::string head = "program products\nsymbol N min 8\nin f32 [N, 24] x\n", body = node(0, "param x");
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

// The code of atomic operations compares the end of a chunk with the number of iterations.
TEST(ShareKernels, AtomicsOfOneExtentOnly) {
  const auto counts = [](const std::string& extent) {
    return functions(
        compiled("program counts\nsymbol N min 1 max 1000\n" + std::string(extent == "M" ? "symbol M min 1 max 1000\n" : "") +
                 "in i32 [N] x\nin i32 [" + extent +
                 "] z\ninout i32 [16] a\ninout i32 [16] b\n%0 = param x\n%1 = param a\n%2 = const i32 1\n"
                 "%3 = const bool true\n%4 = range (N), id 0\n%5 = carry %4, %1, slot 0\n%6 = index %0, %4\n"
                 "%7 = cast index %6\n%8 = max %7, (0)\n%9 = min %8, (15)\n%10 = atomic %5, %3, %2, %9, add\n"
                 "%11 = kernel %4, %1, %10\n%12 = get %11, slot 0\nstore a, %12\n%13 = param z\n%14 = param b\n"
                 "%15 = range (" +
                 extent +
                 "), id 1\n%16 = carry %15, %14, slot 0\n%17 = index %13, %15\n"
                 "%18 = cast index %17\n%19 = max %18, (0)\n%20 = min %19, (15)\n"
                 "%21 = atomic %16, %3, %2, %20, add\n%22 = kernel %15, %14, %21\n%23 = get %22, slot 0\nstore b, %23\n"));
  };
  EXPECT_EQ(counts("N"), 1u);
  EXPECT_EQ(counts("M"), 2u);
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
