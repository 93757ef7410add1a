// For each program the remark that names the cause, at the line of the cause: a user who asks why gets the answer.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/text.h"
#include "compiler/pipeline/compile.h"
#include "generator/import.h"
#include "generator/remarks_writer.h"

using namespace kiln;

namespace {

using compiler::Remark;

inline constexpr dim<"N", facts{.min = 1}> N;
inline constexpr dim<"M", facts{.min = 1}> M;
inline constexpr dim<"K", facts{.min = 1, .max = 1 << 20}> K;

// The remarks of the program after all passes.
template <class P>
compiler::Remarks remarks_of() {
  compiler::Graph g;
  const compiler::Program p = generator::import_program(g, ir<P>);
  compiler::Remarks remarks;
  run_passes(g, p, {.remarks = &remarks});
  return remarks;
}

// The line of this file that is marked `// here` in struct `name`.
int marked_line(const std::string& name) {
  std::ifstream file(TESTS "/run/remarks_test.cpp");
  bool inside = false;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    inside = inside || line.starts_with("struct " + name + " ");
    if (inside && line.ends_with("// here")) return number;
  }
  return 0;
}

// Expects a remark of this kind about the marked line of the program, with these words.
template <class P>
void expect(const std::string& name, const compiler::RemarkKind& kind, const std::string& words) {
  const compiler::Remarks remarks = remarks_of<P>();
  const std::string place = "remarks_test.cpp:" + std::to_string(marked_line(name)) + ":";
  const bool found = std::ranges::any_of(remarks.list(), [&](const Remark& r) {
    return r.kind.id == kind.id && r.where.find(place) != std::string::npos && r.text.find(words) != std::string::npos;
  });
  std::string all;
  for (const Remark& r : remarks.list()) all += line_of(r);
  EXPECT_TRUE(found) << "expected " << kind.id << " at " << place << " with `" << words << "`, got\n" << all;
}
#define EXPECT_REMARK(program, kind, words) expect<program>(#program, compiler::remarks::kind, words)

// ---- buffers

struct softmax_rows : program<softmax_rows> {
  in<f32, N, M> x;
  out<f32, N, M> y;
  constexpr void body() {
    auto e = exp(x - max<1>(x, keepdims));  // here
    y = e / sum<1>(e, keepdims);
  }
};
TEST(Remarks, ExponentialsOfASoftmaxAreStored) { EXPECT_REMARK(softmax_rows, stored, "its reduction would run about"); }

struct blurred : program<blurred> {
  in<f32, N, M> x;
  out<f32, N, M> y;
  constexpr void body() {
    auto e = exp(x);  // here
    y = roll<0, 1>(e) + e + roll<0, -1>(e) + roll<1, 1>(e) + roll<1, -1>(e);
  }
};
TEST(Remarks, AnExpensiveValueWithManyReadersIsStored) { EXPECT_REMARK(blurred, stored, "is used about 5 times"); }

struct differences : program<differences> {
  in<f32, N> x;
  out<f32, N> y;
  constexpr void body() {
    auto s = sqrt(x) / (x + 1.0f);  // here
    y = roll<0, 1>(s) - s;
  }
};
TEST(Remarks, ACheapValueIsComputedAgain) { EXPECT_REMARK(differences, recomputed, "at each of 2 places"); }

struct whole : program<whole> {
  in<f32, N, M> x;
  out<f32, N, M> y;
  constexpr void body() {
    auto s = stored(x * 2.0f);
    y = s - sum<1>(s, keepdims);  // here
  }
};
TEST(Remarks, AStoredValueStaysInAKernelOfItsOwn) { EXPECT_REMARK(whole, not_fused, "asks for the whole tensor"); }

// ---- kernels

struct two_products : program<two_products> {
  in<f32, N, M> a;
  in<f32, M, M> b;
  in<f32, M, K> c;
  out<f32, N, K> y;
  constexpr void body() {
    auto p = matmul(a, b);
    y = matmul(p, c);  // here
  }
};
TEST(Remarks, TwoProductsAreTwoKernels) { EXPECT_REMARK(two_products, not_fused, "both are matrix products"); }

struct transposed_use : program<transposed_use> {
  in<f32, N, N> x;
  out<f32, N, N> y;
  constexpr void body() {
    auto e = exp(x) / sum<1>(x, keepdims);
    y = matmul(transpose(e), x) + 1.0f;  // here
  }
};
TEST(Remarks, AReaderOfColumnsIsAKernelOfItsOwn) { EXPECT_REMARK(transposed_use, not_fused, "a kernel of its own"); }

struct softmax : program<softmax> {
  in<f32, N, M> x;
  out<f32, N, M> y;
  constexpr void body() {
    auto e = exp(x - max<1>(x, keepdims));
    y = e / sum<1>(e, keepdims);  // here
  }
};
TEST(Remarks, ASoftmaxIsOneKernel) { EXPECT_REMARK(softmax, fused, "kernels run as one"); }

struct layer : program<layer> {
  in<f32, 512, 256> x;
  in<f32, 256, 512> w;
  out<f32, 512, 512> y;
  constexpr void body() {
    y = matmul(x, w);  // here
  }
};
TEST(Remarks, WeightsArePacked) { EXPECT_REMARK(layer, packed, "256 x 512 operand"); }

struct convolved : program<convolved> {
  in<f32, 2, 4, 24, 40> x;
  in<f32, 16, 4, 3, 3> w;
  out<f32, 2, 16, 24, 40> y;
  constexpr void body() {
    y = conv2d<conv{.padding = 1}>(x, w);  // here
  }
};
TEST(Remarks, ABorderIsCopied) { EXPECT_REMARK(convolved, windows, "with its border"); }

// ---- derivatives

struct trained : program<trained> {
  in<f32, N, 64> x;
  in<f32, 64, 32> w;
  in<i32, N> rows;
  in<f32, M, 32> table;
  out<f32, 64, 32> dw;
  out<f32, M, 32> dtable;
  constexpr void body() {
    auto loss = sum(tanh(matmul(x, w)) * table(rows));
    auto [a, b] = grad(loss, w, table);  // here
    dw = a, dtable = b;
  }
};
TEST(Remarks, AGradientNamesWhatItReads) { EXPECT_REMARK(trained, derivative, "1 contraction, 1 scatter; reads"); }
struct multiplied : program<multiplied> {
  in<f32, N, 64> x;
  in<f32, 64, 32> w;
  out<f32, 64, 32> dw;
  constexpr void body() {
    auto y = matmul(x, w);  // here
    dw = grad(sum(tanh(y)), w);
  }
};
TEST(Remarks, TheDerivativeOfAProductIsAProduct) { EXPECT_REMARK(multiplied, contraction, "are not stored"); }
struct scattered : program<scattered> {
  in<i32, N> rows;
  in<f32, M, 32> table;
  out<f32, M, 32> dtable;
  constexpr void body() {
    auto y = table(rows);  // here
    dtable = grad(sum(tanh(y)), table);
  }
};
TEST(Remarks, TheDerivativeOfAReadIsAScatter) { EXPECT_REMARK(scattered, scatter, "in parallel over the axes"); }
struct tangents : program<tangents> {
  in<f32, N> x;
  out<f32, N> dy;
  constexpr void body() {
    auto y = var(x);
    for (auto [i] : kernel(N)) y(i) = x(i) * x(i);
    dy = jvp(y, x, x);  // here
  }
};
TEST(Remarks, ATangentNamesTheScopes) { EXPECT_REMARK(tangents, derivative, "tangents in `kernel`"); }

// ---- copies

struct wave : program<wave> {
  in<i32> steps;
  inout<f32, N> now, before;
  constexpr void body() {
    for (auto t : loop(steps)) {  // here
      auto next = 2.0f * now - before + 0.1f * (roll<0, 1>(now) + roll<0, -1>(now) - 2.0f * now);
      before = now;
      now = next;
    }
  }
};
TEST(Remarks, BuffersOfAWaveRotate) { EXPECT_REMARK(wave, rotated, "3 buffers change places"); }

struct stopped : program<stopped> {
  in<i32> steps;
  inout<f32, N> u;
  constexpr void body() {
    for (auto t : loop(steps)) {
      break_if(sum(u) > 100.0f);
      u = roll<0, 1>(u) + 1.0f;  // here
    }
  }
};
TEST(Remarks, ACopyInEachIterationIsSeen) { EXPECT_REMARK(stopped, copied, "in each iteration of the loop"); }

// ---- lanes

struct chain : program<chain> {
  in<f32, N> x;
  out<f32, N> y;
  constexpr void body() {
    y = x * 2.0f + 1.0f;  // here
  }
};
TEST(Remarks, AChainRunsInLanes) { EXPECT_REMARK(chain, vectorised, "16 iterations at a time"); }
TEST(Remarks, TheirPlanIsNamed) { EXPECT_REMARK(chain, plan, "i0 of N: lanes 16, "); }

struct histogram : program<histogram> {
  in<f32, N> x;
  in<i32, N> bin;
  inout<f32, M> h;
  constexpr void body() {
    for (auto [i] : kernel(N)) h(bin(i)).atomic_add(x(i));  // here
  }
};
TEST(Remarks, AtomicsOnFloatsKeepTheOrder) { EXPECT_REMARK(histogram, serial, "rounding depends on the order"); }

struct tallest : program<tallest> {
  in<i32, N> bin;
  in<f32, N> x;
  inout<f32, M> h;
  constexpr void body() {
    for (auto [i] : kernel(N)) h(bin(i)).atomic_max(x(i));  // here
  }
};
TEST(Remarks, AtomicMaximaOfFloatsKeepTheOrder) { EXPECT_REMARK(tallest, serial, "the processor has no instruction"); }

struct tickets : program<tickets> {
  inout<i32> next;
  out<i32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N)) y(i) = next().atomic_add(1);  // here
  }
};
TEST(Remarks, OldValuesOfAtomicsKeepTheOrder) { EXPECT_REMARK(tickets, serial, "uses the value before"); }

struct sorted_rows : program<sorted_rows> {
  in<f32, N, 128> x;
  out<f32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto row = local<f32, 128>();
      for (auto k : loop(128)) row(k) = x(i, k) * 2.0f;
      y(i) = row(cast<i32>(x(i, 0)));  // here
    }
  }
};
TEST(Remarks, ALargeArrayWithPlacesFromDataIsTooMuchForLanes) {
  EXPECT_REMARK(sorted_rows, not_vectorised, "an array of 64 elements or more");
}

struct chained : program<chained> {
  inout<f32, 90> y;
  constexpr void body() {
    for (auto i : loop(1, 90)) y(i) = 0.5f * y(i) + y(i - 1);  // here
  }
};
TEST(Remarks, ALoopWhoseIterationsWaitForEachOther) {
  EXPECT_REMARK(chained, not_vectorised, "an iteration may load an element that an earlier one stores");
}

struct three : program<three> {
  in<f32, 3> x;
  out<f32, 3> y;
  constexpr void body() {
    for (auto [i] : kernel(3)) y(i) = x(i) * x(2 - i);  // here
  }
};
TEST(Remarks, ThreeWorkItemsAreTooFew) { EXPECT_REMARK(three, not_vectorised, "fewer than 4 iterations"); }

// Each iteration waits for a division, and all lanes use the same element of their arrays, so two vectors run side by side.
struct systems : program<systems> {
  in<f64, 100, 256> a, b, c, d;
  out<f64, 100, 256> x;
  constexpr void body() {
    for (auto [s] : kernel(256)) {
      auto upper = local<f64, 100>(), right = local<f64, 100>();
      auto u = var(0.0), v = var(0.0);
      for (auto k : loop(100)) {
        auto pivot = 1 / (b(k, s) - a(k, s) * u);
        v = (d(k, s) - a(k, s) * v) * pivot;
        u = c(k, s) * pivot;
        upper(k) = u;
        right(k) = v;
      }
      auto solution = var(0.0);
      for (auto k : loop(99, -1, -1)) {  // here
        solution = right(k) - upper(k) * solution;
        x(k, s) = solution;
      }
    }
  }
};
TEST(Remarks, SystemsInColumnsRunSideBySide) { EXPECT_REMARK(systems, vectorised, "256 work items runs 16 at a time"); }

struct escape : program<escape> {
  in<f32, N> c;
  out<i32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto z = var(0.0f);
      auto n = var(0);
      for (auto k : loop(100)) {  // here
        break_if(z > 4.0f);
        z = z * z + c(i);
        n = k + 1;
      }
      y(i) = n;
    }
  }
};
TEST(Remarks, LanesOfALoopWaitForTheLast) { EXPECT_REMARK(escape, masked, "until the last lane has left"); }

struct flagged : program<flagged> {
  in<i32> flag;
  in<f32, N> x;
  out<f32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N)) {
      auto v = var(0.0f);
      if (auto c = when(flag > 3)) v = sqrt(x(i)) / rsqrt(x(i));  // here
      y(i) = v;
    }
  }
};
TEST(Remarks, AConditionThatAllLanesShareIsABranch) { EXPECT_REMARK(flagged, branch, "the same in all lanes"); }

struct in_workgroups : program<in_workgroups> {
  in<i32> flag;
  in<f32, N> x;
  out<f32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N).workgroup<64>()) {  // here
      auto s = shared<f32, 64>();
      auto t = local_id(i);
      s(t) = x(i);
      barrier();
      auto v = var(s(63 - t));
      if (auto c = when(flag > 3)) v = sqrt(x(i)) / rsqrt(x(i));
      for (auto k : loop(100)) {
        break_if(v > 4.0f);
        v = v * v + x(i);
      }
      y(i) = v;
    }
  }
};
TEST(Remarks, WorkItemsBetweenBarriersRunInLanes) { EXPECT_REMARK(in_workgroups, vectorised, "between two barriers"); }

struct looked_up : program<looked_up> {
  in<f32, M> table;
  in<i32, N> k;
  out<f32, N> y;
  constexpr void body() {
    y = table(k) + 1.0f;  // here
  }
};
TEST(Remarks, ALookupLoadsOneByOne) { EXPECT_REMARK(looked_up, gathered, "one by one"); }

struct diagonal : program<diagonal> {
  in<f32, N, M> x;
  out<f32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N)) y(i) = x.at<mode::unchecked>(i, i);  // here
  }
};
TEST(Remarks, ADiagonalNamesARowForEachDiagonal) { EXPECT_REMARK(diagonal, gathered, "one row for each column or diagonal"); }

struct running : program<running> {
  in<f32, N> x;
  out<f32> y;
  constexpr void body() {
    for (auto [one] : kernel(1)) {
      auto best = var(0.0f);
      for (auto k : loop(N)) best = select(x(k) > best, x(k), best * 0.5f);  // here
      y() = best;
    }
  }
};
TEST(Remarks, OneWorkItemIsOneThread) { EXPECT_REMARK(running, one_thread, "one work item"); }

TEST(Remarks, AnExtentWithoutABoundNeedsWideIndices) { EXPECT_REMARK(differences, wide_index, "N may be"); }

// ---- what every program's remarks have in common

// The remarks of the texts in the folders of all tests.
std::vector<Remark> remarks_of_texts() {
  std::vector<Remark> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(TESTS)) {
    if (entry.path().extension() != ".kiln") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    compiler::Remarks remarks;
    try {
      compiler::Graph g;
      const compiler::Program p = compiler::read_program(g, text.str());
      run_passes(g, p, {.remarks = &remarks});
    } catch (const compiler::Diagnostic&) {  // the text has a mistake, or is no program
    }
    all.insert(all.end(), remarks.list().begin(), remarks.list().end());
  }
  return all;
}

TEST(Remarks, KindsNameThePassesThatMakeThem) {
  std::set<std::string> named, made;
  for (const compiler::RemarkKind& kind : compiler::remarks::all)
    for (const std::string_view pass : kind.passes)
      if (!pass.empty()) named.insert(std::string(kind.id) + " of " + std::string(pass));
  std::vector<Remark> all = remarks_of_texts();
  for (const compiler::Remarks& of_kernels : {remarks_of<flagged>(), remarks_of<in_workgroups>()})
    all.insert(all.end(), of_kernels.list().begin(), of_kernels.list().end());
  for (const Remark& r : all) made.insert(std::string(r.kind.id) + " of " + std::string(r.pass));
  EXPECT_EQ(made, named);
}

TEST(Remarks, EachIsMadeOnceAndInTheSameOrder) {
  const compiler::Remarks a = remarks_of<softmax_rows>(), b = remarks_of<softmax_rows>();
  ASSERT_EQ(a.list().size(), b.list().size());
  for (std::size_t i = 0; i < a.list().size(); ++i) EXPECT_EQ(line_of(a.list()[i]), line_of(b.list()[i]));
}

TEST(Remarks, NeverChangeTheProgram) {
  compiler::Graph g;
  const compiler::Program p = generator::import_program(g, ir<softmax>);
  compiler::Remarks remarks;
  compiler::CompileOptions silent, asked;
  asked.remarks = &remarks;
  EXPECT_EQ(compile(g, p, silent).code.object, compile(g, p, asked).code.object);
  EXPECT_FALSE(remarks.list().empty());
}

TEST(Remarks, AreChosenByPassAndByCost) {
  const compiler::Remarks remarks = remarks_of<wave>();
  generator::RemarkOptions o{.wanted = true, .pass = "ping_pong"};
  EXPECT_NE(remarks_text(remarks, o, "wave").find("rotated"), std::string::npos);
  EXPECT_EQ(remarks_text(remarks, o, "wave").find("vectorised"), std::string::npos);
  o = {.wanted = true, .pass = "workgroup_lanes"};
  EXPECT_NE(remarks_text(remarks_of<in_workgroups>(), o, "in_workgroups").find("[workgroup_lanes]"), std::string::npos);
  o = {.wanted = true, .missed = true};
  EXPECT_EQ(remarks_text(remarks, o, "wave").find("rotated"), std::string::npos);
  o = {.wanted = true, .json = true, .pass = "ping_pong"};
  EXPECT_TRUE(remarks_text(remarks, o, "wave").starts_with(R"({"program":"wave","where":")"));
}

}  // namespace
