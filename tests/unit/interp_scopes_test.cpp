// Loops, kernels and states in the interpreter, for programs in textual form.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "compiler/ir/diagnostic.h"
#include "interp_harness.h"

using namespace kiln::compiler;
using namespace kiln::compiler::testing;

namespace {

using I = std::int32_t;

// The example of docs/reference/ir-scopes.md with this program name.
std::string example(const std::string& program) {
  std::ifstream in(KILN_IR_PAGE);
  const std::string page((std::istreambuf_iterator<char>(in)), {});
  const auto at = page.find("program " + program + "\n");
  EXPECT_NE(at, std::string::npos);
  return page.substr(at, page.find("```", at) - at);
}

int escape_iterations(float re, float im) {
  float x = 0, y = 0;
  int iterations = 0;
  for (bool on = true; on && iterations < 256; ++iterations) {
    const float nx = (x * x - y * y) + re, xy = x * y;
    y = (xy + xy) + im;
    x = nx;
    on = x * x + y * y <= 4;
  }
  return iterations;
}

}  // namespace

TEST(ScopeExamples, Scatter) {
  const auto y = run_text(example("scatter"),
                          {array<float>({4}, {1, 2, 3, 4}), array<I>({4}, {2, -1, 0, 5}), array<float>({5}, {9, 9, 9, 9, 9})});
  EXPECT_EQ(values<float>(y[2]), (std::vector<float>{3, 9, 1, 9, 9}));
}

TEST(ScopeExamples, Histogram) {
  std::vector<I> x, counts(16, 0);
  for (I i = 0; i < 1000; ++i) x.push_back(i * 37 % 23 - 3);
  for (I v : x) ++counts[static_cast<std::size_t>(std::clamp(v, 0, 15))];
  EXPECT_EQ(values<I>(run_text(example("histogram"), {array<I>({1000}, x), array<I>({16}, {})})[1]), counts);
  EXPECT_EQ(values<I>(run_text(example("histogram"), {array<I>({0}, {}), array<I>({16}, {})})[1]), std::vector<I>(16, 0));
}

TEST(ScopeExamples, Mandelbrot) {
  std::vector<float> re, im;
  std::vector<I> iterations;
  for (int i = 0; i < 40; ++i) re.push_back(-2 + 0.07f * static_cast<float>(i));
  for (int i = 0; i < 30; ++i) im.push_back(-1 + 0.06f * static_cast<float>(i));
  for (float b : im)
    for (float a : re) iterations.push_back(escape_iterations(a, b));
  const auto out = run_text(example("mandelbrot"), {array<float>({40}, re), array<float>({30}, im), array<I>({30, 40}, {})});
  EXPECT_EQ(values<I>(out[2]), iterations);
}

TEST(ScopeExamples, RunningSums) {
  EXPECT_EQ(values<float>(run_text(example("running_sums"), {array<float>({4}, {1, 2, 3, 4})})[0]),
            (std::vector<float>{1, 3, 6, 10}));
  EXPECT_EQ(values<float>(run_text(example("running_sums"), {array<float>({0}, {})})[0]).size(), 0u);
}

TEST(Loops, StepWhileAndNoIterations) {
  const std::string text = R"(program p
in i32 [] begin
in i32 [] end
out i32 [4] y
%0 = param begin
%1 = cast index %0
%2 = param end
%3 = cast index %2
%4 = range (100), id 0
%5 = const i32 0
%6 = const bool true
%7 = carry %4, %5, slot 1
%8 = cast i32 %4
%9 = add %7, %8
%10 = const i32 20
%11 = lt %9, %10
%12 = for %4, %1, %3, %6, %5, %11, %9, step 3, while
%13 = get %12, slot 1
%14 = reshape [1] %13
%15 = get %12, slot 0
%16 = cast i32 %15
%17 = reshape [1] %16
%18 = for %4, (0), (0), %5, %9
)";
  const std::string end = "%19 = concat %14, %17, %14, %17, axis 0\nstore y, %19\n";
  const auto sums = [&](I from, I to) {
    const auto y = values<I>(
        run_text(text.substr(0, text.find("%18")) + end, {array<I>({}, {from}), array<I>({}, {to}), array<I>({4}, {})})[2]);
    return std::pair(y[0], y[1]);
  };
  EXPECT_EQ(sums(1, 8), std::pair(1 + 4 + 7, 1));
  EXPECT_EQ(sums(1, 100), std::pair(1 + 4 + 7 + 10, 0));  // 22 ends the loop
  EXPECT_EQ(sums(-5, -4), std::pair(-5, 1));
  EXPECT_EQ(sums(5, 5), std::pair(0, 1));
  EXPECT_EQ(sums(5, -5), std::pair(0, 1));
}

// Carried values change at the same time.
TEST(Loops, ParallelAssignment) {
  const std::string text = R"(program fibonacci
in i32 [] n
inout i32 [3] a
inout i32 [3] b
out i32 [] y
%0 = param n
%1 = cast index %0
%2 = range (50), id 0
%3 = const i32 0
%4 = const i32 1
%5 = carry %2, %3, slot 0
%6 = carry %2, %4, slot 1
%7 = add %5, %6
%8 = param a
%9 = param b
%10 = carry %2, %8, slot 2
%11 = carry %2, %9, slot 3
%12 = const bool true
%13 = update %10, %12, %7, (0)
%14 = for %2, (0), %1, %3, %4, %8, %9, %6, %7, %11, %13
%15 = get %14, slot 0
%16 = get %14, slot 2
%17 = get %14, slot 3
store y, %15
store a, %16
store b, %17
)";
  const auto out =
      run_text(text, {array<I>({}, {3}), array<I>({3}, {10, 11, 12}), array<I>({3}, {20, 21, 22}), array<I>({}, {})});
  EXPECT_EQ(values<I>(out[3]), std::vector<I>{2});
  // The tensors rotate in each iteration, and the sums 1, 2, 3 are added to the first one.
  EXPECT_EQ(values<I>(out[1]), (std::vector<I>{2, 21, 22}));
  EXPECT_EQ(values<I>(out[2]), (std::vector<I>{3, 11, 12}));
}

// For each n the first divisor above 1, found by a loop with a break; then the number of smaller n with the same divisor.
TEST(Kernels, NestedLoopsWithBreak) {
  const std::string text = R"(program divisors
in i32 [N] x
out i32 [N] count
%0 = param x
%1 = param count
%2 = range (N), id 0
%3 = carry %2, %1, slot 0
%4 = index %0, %2
%5 = cast index %4
%6 = range (1000), id 1
%7 = const i32 0
%8 = carry %6, %7, slot 0
%9 = cast i32 %6
%10 = const bool true
%11 = range (1000), id 2
%12 = carry %11, %10, slot 0
%13 = carry %11, %7, slot 1
%14 = cast i32 %11
%15 = cmod %9, %14
%16 = ne %15, %7
%17 = for %11, (2), %6, %10, %7, %16, %14, while
%18 = get %17, slot 0
%19 = cast i32 %18
%20 = add %8, %19
%21 = for %6, (2), %5, %7, %20
%22 = get %21, slot 0
%23 = update %3, %10, %22, %2
%24 = kernel %2, %1, %23
%25 = get %24, slot 0
store count, %25
)";
  std::vector<I> x, primes;  // primes below x, whose search finds no divisor
  for (I n = -2; n < 60; ++n) {
    x.push_back(n);
    I count = 0;
    for (I m = 2; m < n; ++m) count += std::all_of(x.begin(), x.end(), [&](I d) { return d < 2 || d >= m || m % d != 0; });
    primes.push_back(count);
  }
  const auto n = static_cast<std::int64_t>(x.size());
  EXPECT_EQ(values<I>(run_text(text, {array<I>({n}, x), array<I>({n}, {})})[1]), primes);
}

// Insertion sort of rows in a local array. The number of iterations differs by element and by data.
TEST(Kernels, LocalArrays) {
  // A new element is appended, and moves forward while it is smaller.
  const std::string text = R"(program sort_rows
in i32 [R, 6] x
out i32 [R, 6] y
%0 = param x
%1 = param y
%2 = range (R), id 0
%3 = carry %2, %1, slot 0
%4 = const bool true
%5 = local i32 [6] %2, id 0
%6 = range (6), id 1
%7 = carry %6, %5, slot 0
%8 = index %0, %2, %6
%21 = update %7, %4, %8, %6
%9 = range (6), id 2
%10 = carry %9, %4, slot 0
%11 = carry %9, %21, slot 1
%12 = sub index %6, %9
%13 = const index -1
%14 = add index %12, %13
%15 = index %11, %14
%16 = lt %8, %15
%17 = update %11, %16, %15, %12
%18 = update %17, %16, %8, %14
%19 = for %9, (0), %6, %4, %21, %16, %18, while
%20 = get %19, slot 1
%23 = for %6, (0), (6), %5, %20
%24 = get %23, slot 0
%25 = range (6), id 3
%26 = carry %25, %3, slot 0
%27 = index %24, %25
%28 = update %26, %4, %27, %2, %25
%29 = for %25, (0), (6), %3, %28
%30 = get %29, slot 0
%31 = kernel %2, %1, %30
%32 = get %31, slot 0
store y, %32
)";
  std::vector<I> x, y;
  for (I i = 0; i < 60; ++i) x.push_back(i * 7919 % 31);
  y = x;
  for (auto row = y.begin(); row != y.end(); row += 6) std::sort(row, row + 6);
  EXPECT_EQ(values<I>(run_text(text, {array<I>({10, 6}, x), array<I>({10, 6}, {})})[1]), y);
}

// Every work item sees the earlier work items' writes to the shared tensor, and `init` as it was at entry.
TEST(Kernels, SharedAndEntryContents) {
  const std::string text = R"(program p
inout i32 [5] y
out i32 [] count
%0 = param y
%1 = range (5), id 0
%2 = carry %1, %0, slot 0
%3 = const bool true
%4 = const i32 1
%5 = index %0, %1
%6 = index %2, (0)
%7 = mul %5, %6
%8 = update %2, %3, %7, (0)
%9 = const i32 0
%10 = carry %1, %9, slot 1
%11 = atomic %10, %3, %4, add
%12 = old %11
%13 = update %8, %3, %12, %1
%14 = kernel %1, %0, %9, %13, %11
%15 = get %14, slot 0
%16 = get %14, slot 1
store y, %15
store count, %16
)";
  const auto out = run_text(text, {array<I>({5}, {2, 3, 5, 7, 11}), array<I>({}, {})});
  // Work item 0 squares y[0], then overwrites it with its number. Later work items multiply 0.
  EXPECT_EQ(values<I>(out[0]), (std::vector<I>{0, 1, 2, 3, 4}));
  EXPECT_EQ(values<I>(out[1]), std::vector<I>{5});
}

TEST(Kernels, ExtentsFromDataAndNoPoints) {
  const std::string text = R"(program p
in i32 [] n
inout i32 [4, 4] y
%0 = param n
%1 = cast index %0
%2 = param y
%3 = range %1, id 0
%4 = range (2), id 1
%5 = carry %3, %2, slot 0
%6 = const bool true
%7 = const i32 1
%8 = update %5, %6, %7, %3, %4
%9 = kernel %3, %4, %2, %8
%10 = get %9, slot 0
store y, %10
)";
  const auto sum = [&](I n) {
    const auto v = values<I>(run_text(text, {array<I>({}, {n}), array<I>({4, 4}, std::vector<I>(16, 0))})[1]);
    return std::count(v.begin(), v.end(), 1);
  };
  EXPECT_EQ(sum(3), 6);
  EXPECT_EQ(sum(0), 0);
  EXPECT_EQ(sum(-7), 0);
}

// Vectors inside a kernel: whole-array operations in every work item.
TEST(Kernels, SmallVectors) {
  const std::string text = R"(program lengths
in f32 [N, 3] x
out f32 [N] y
%0 = param x
%1 = param y
%2 = range (N), id 0
%3 = carry %2, %1, slot 0
%4 = const bool true
%5 = local f32 [3] %2, id 0
%6 = index %0, %2, (0)
%7 = index %0, %2, (1)
%8 = index %0, %2, (2)
%9 = update %5, %4, %6, (0)
%10 = update %9, %4, %7, (1)
%11 = update %10, %4, %8, (2)
%12 = mul %11, %11
%13 = reduce %12, sum, axes [0]
%14 = sqrt %13
%15 = range (2), id 1
%16 = carry %15, %12, slot 0
%17 = add %16, %12
%18 = for %15, (0), (2), %12, %17
%19 = get %18, slot 0
%20 = reduce %19, max, axes [0]
%21 = add %14, %20
%22 = update %3, %4, %21, %2
%23 = kernel %2, %1, %22
%24 = get %23, slot 0
store y, %24
)";
  const auto y = run_text(text, {array<float>({2, 3}, {3, 0, 4, 2, 1, 2}), array<float>({2}, {})})[1];
  EXPECT_EQ(values<float>(y), (std::vector<float>{5 + 48, 3 + 12}));
}

// An operation on elements in a kernel gives the same bits as on a whole array.
TEST(Kernels, MathIsTheSame) {
  std::vector<std::string> ops;
#define KILN_X(e, t, l, a) \
  if (is_math(Op::e) && is_unary(Op::e)) ops.push_back(t);
  KILN_OPS(KILN_X)
#undef KILN_X
  for (const char* type : {"f16", "bf16", "f32", "f64"})
    for (const std::string& op : ops) {
      const std::string t = type;
      const std::string text = "program p\nin f64 [N] x\nout " + t + " [N] a\nout " + t + " [N] b\n%0 = param x\n%1 = cast " +
                               t + " %0\n%2 = " + op + " %1\n%3 = param b\n%4 = range (N), id 0\n%5 = carry %4, %3, slot 0\n" +
                               "%6 = index %1, %4\n%7 = " + op + " %6\n%8 = const bool true\n%9 = update %5, %8, %7, %4\n" +
                               "%10 = kernel %4, %3, %9\n%11 = get %10, slot 0\nstore a, %2\nstore b, %11\n";
      const DType d = *dtype_from_name(t);
      const auto out =
          run_text(text, {array<double>({6}, {-1.5, 0.1, 0.7, 3.3, 100, 1e-6}), Array{d, {6}, {}}, Array{d, {6}, {}}});
      EXPECT_EQ(out[1].data, out[2].data) << op << " " << t;
    }
}

// A promise that elements differ is kept, or the second of two writes to an element is an error.
TEST(Kernels, UniqueStoresAreUnique) {
  const std::string text = example("scatter");
  const auto run = [&](std::vector<I> places) {
    return run_text(text, {array<float>({3}, {1, 2, 3}), array<I>({3}, places), array<float>({4}, {0, 0, 0, 0})});
  };
  EXPECT_EQ(values<float>(run({2, 0, 3})[2]), (std::vector<float>{2, 0, 1, 3}));
  EXPECT_EQ(values<float>(run({-1, 0, -1})[2]), (std::vector<float>{2, 0, 0, 0}));  // skipped
  try {
    run({2, 0, 2});
    FAIL() << "two positions wrote element 2";
  } catch (const Diagnostic& d) {
    EXPECT_EQ(d.id(), "E-race");
    EXPECT_NE(std::string(d.what()).find("store to one element, number 2 in row-major order"), std::string::npos) << d.what();
  }
}
