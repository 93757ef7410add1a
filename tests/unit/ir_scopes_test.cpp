// Loops, kernels and states at tensor level: builder, the verifier's rules, text.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/regions.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/state.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/ir/verify_scopes.h"
#include "tests/unit/scope_text.h"

using namespace kiln::compiler;
using kiln::compiler::test::head;
using kiln::compiler::test::tail;

namespace {

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Diagnostic& d) {
    return d.what();
  }
  return "";
}
std::string error_of_text(const std::string& text) {
  Graph g;
  return error_of([&] { verify(g, read_program(g, text, "t")); });
}
std::string rule_of_text(const std::string& text) {
  const std::string error = error_of_text(text), key = "breaks the rule ";
  const auto at = error.find(key);
  return at == std::string::npos ? error : error.substr(at + key.size(), error.find(':', at) - at - key.size());
}

struct ScopeBuilder : testing::Test {
  Graph g;
  Builder b{g};
  Id x = b.param(0, {"x", Direction::in, DType::f32, {g.sym("N"), g.index(3)}, {}});
  Id i = b.param(1, {"i", Direction::in, DType::i32, {}, {}});
  Id gate = b.constant(DType::boolean, 1), value = b.constant(DType::f32, 0), at[2] = {g.index(0), g.index(1)};
  Id range = b.range(g.sym("N"), 0);
  std::string id_of(const std::function<void()>& f) {
    try {
      f();
    } catch (const Diagnostic& d) {
      return d.id();
    }
    return "";
  }
};

}  // namespace

TEST_F(ScopeBuilder, TypesAndShapes) {
  const Id update = b.update(x, no_id, value, at);
  EXPECT_EQ(b.shape_text(b.shape_of(update)), "[N, 3]");
  EXPECT_EQ(g.src(update, 1), gate);  // no gate: always
  const Id atomic = b.atomic(AtomicKind::compare_exchange, x, gate, value, at, value);
  EXPECT_EQ(b.shape_text(b.shape_of(atomic)), "[N, 3]");
  EXPECT_EQ(write_parts(g, atomic).expected, value);
  EXPECT_EQ(write_parts(g, atomic).index.size(), 2u);
  EXPECT_EQ(b.shapes().rank(b.old(atomic)), 0);
  const Id element = b.element(x, at, gate);
  EXPECT_EQ(b.shapes().rank(element), 0);
  EXPECT_EQ(index_gate(g, element).gate, gate);
  EXPECT_EQ(index_gate(g, element).first, at[0]);
  EXPECT_EQ(index_gate(g, b.element(x, at)).gate, no_id);
  const Id carry = b.carry(range, x, 0);
  EXPECT_EQ(b.shape_text(b.shape_of(carry)), "[N, 3]");
  const Id init[] = {x}, next[] = {b.update(carry, no_id, value, at)}, ranges[] = {range};
  const Id kernel = b.kernel(ranges, init, next), loop = b.loop(range, g.index(0), g.sym("N"), init, next, 2);
  EXPECT_EQ(b.shape_text(b.shape_of(b.get(kernel, 0))), "[N, 3]");
  EXPECT_EQ(b.shape_text(b.shape_of(b.get(loop, 0))), "[N, 3]");
  EXPECT_EQ(loop_parts(g, loop).step, 2);
  EXPECT_FALSE(loop_parts(g, loop).conditional);
  const Id three[] = {g.index(3)};
  EXPECT_EQ(b.shape_text(b.shape_of(b.local(DType::u8, range, three, 0))), "[3]");
  EXPECT_EQ(g.dtype(b.index_of(i)), DType::index);
  EXPECT_EQ(b.cast(i, DType::index), b.index_of(i));
}

TEST_F(ScopeBuilder, Mistakes) {
  const std::span<const Id> one(at, 1), none;
  const Id wide[] = {i, i}, init[] = {x}, scalar[] = {value}, flags[] = {value, value}, symbol[] = {g.sym("N")};
  const Id ranges[] = {range}, zero = g.index(0);
  EXPECT_EQ(id_of([&] { b.element(x, one); }), "E-shape");              // an index for each axis
  EXPECT_EQ(id_of([&] { b.element(x, wide); }), "E-dtype");             // of type index
  EXPECT_EQ(id_of([&] { b.update(x, value, value, at); }), "E-dtype");  // a gate is bool
  EXPECT_EQ(id_of([&] { b.update(x, gate, i, at); }), "E-dtype");
  EXPECT_EQ(id_of([&] { b.update(x, gate, x, at); }), "E-shape");  // one element at a time
  EXPECT_EQ(id_of([&] { b.atomic(AtomicKind::bit_or, x, gate, value, at); }), "E-dtype");
  EXPECT_EQ(id_of([&] { b.atomic(AtomicKind::compare_exchange, x, gate, value, at); }), "E-scope");
  EXPECT_EQ(id_of([&] { b.atomic(AtomicKind::add, x, gate, value, at, value); }), "E-scope");
  EXPECT_EQ(id_of([&] { b.old(x); }), "E-scope");
  EXPECT_EQ(id_of([&] { b.range(i, 0); }), "E-dtype");
  EXPECT_EQ(id_of([&] { b.range(zero, -1); }), "E-scope");
  EXPECT_EQ(id_of([&] { b.carry(x, x, 0); }), "E-scope");
  EXPECT_EQ(id_of([&] { b.carry(range, x, -1); }), "E-scope");
  EXPECT_EQ(id_of([&] { b.local(DType::f32, range, symbol, 0); }), "E-shape");
  EXPECT_EQ(id_of([&] { b.local(DType::index, range, one, 0); }), "E-dtype");
  EXPECT_EQ(id_of([&] { b.loop(range, zero, zero, init, none); }), "E-scope");
  EXPECT_EQ(id_of([&] { b.loop(range, zero, zero, init, scalar); }), "E-shape");
  EXPECT_EQ(id_of([&] { b.loop(range, zero, zero, none, none, 0); }), "E-scope");
  EXPECT_EQ(id_of([&] { b.loop(range, zero, zero, none, none, 1, true); }), "E-scope");
  EXPECT_EQ(id_of([&] { b.loop(range, zero, zero, flags, flags, 1, true); }), "E-dtype");
  EXPECT_EQ(id_of([&] { b.loop(range, i, zero, none, none); }), "E-dtype");
  EXPECT_EQ(id_of([&] { b.kernel(none, init, init); }), "E-scope");
  EXPECT_EQ(id_of([&] { b.kernel(ranges, init, scalar); }), "E-shape");
  EXPECT_EQ(id_of([&] { b.kernel(ranges, at, at); }), "E-dtype");
  EXPECT_EQ(id_of([&] { b.get(x, 0); }), "E-scope");
  EXPECT_EQ(id_of([&] { b.get(b.kernel(ranges, init, init), 1); }), "E-scope");
  EXPECT_EQ(id_of([&] { b.index_of(value); }), "E-dtype");
  EXPECT_EQ(id_of([&] { b.index_of(b.iota(DType::i32, g.index(3))); }), "E-shape");
  EXPECT_EQ(id_of([&] { b.iota(DType::i32, b.index_of(i)); }), "E-shape");  // extents do not depend on data
}

TEST(Atomics, Types) {
  for (int k = 0; k < 8; ++k)
    for (int d = 0; d < static_cast<int>(DType::index); ++d) {
      const auto kind = static_cast<AtomicKind>(k);
      const auto type = static_cast<DType>(d);
      const bool bits = kind == AtomicKind::bit_and || kind == AtomicKind::bit_or || kind == AtomicKind::bit_xor;
      const bool wrong = (bits && is_float(type)) || (kind == AtomicKind::add && type == DType::boolean);
      EXPECT_EQ(atomic_problem(kind, type).empty(), !wrong) << name(kind) << " " << name(type);
      EXPECT_EQ(atomic_kind_from_name(name(kind)), kind);
    }
}

TEST(VerifyScopes, EveryRuleFires) {
  const std::string write = "%97 = update %6, %3, %7, %4\n";
  const std::vector<std::pair<std::string, std::string>> wrong = {
      // A copy of a kernel or loop, as a faulty pass could make it.
      {"range-owner", write + tail + "%100 = kernel %4, %1, %6\n%101 = get %100, slot 0\nstore z, %101\n"},
      {"range-owner",
       "%97 = add %7, %7\n%98 = index %0, %5\n%99 = reshape [1] %98\nstore y, %1\n"
       "%100 = expand [N] %99\nstore z, %100\n"},
      {"escape", write + tail + "store z, %97\n"},
      {"escape", write + tail + "%100 = reshape [1] %7\n%101 = expand [N] %100\nstore z, %101\n"},
      {"scope-entry", write + tail + "%100 = for %5, %5, (N), %2, %2\n%101 = get %100, slot 0\nstore z, %101\n"},
      {"scope-entry",
       "%97 = update %6, %3, %7, %4\n%90 = range %4, id 7\n%91 = carry %4, %1, slot 0\n"
       "%98 = kernel %4, %90, %1, %97\n%99 = get %98, slot 0\nstore y, %99\n"},
      {"state-order",
       "%90 = update %6, %3, %7, %4\n%91 = index %90, %4\n%92 = cast i32 %91\n%93 = cast index %92\n"
       "%94 = index %6, %93\n%97 = update %90, %3, %94, %4\n" +
           tail},
      {"state-order",
       "%90 = range (8), id 7\n%91 = carry %90, %6, slot 0\n%92 = index %6, %90\n"
       "%93 = update %91, %3, %92, %90\n%94 = for %90, (0), (8), %6, %93\n%97 = get %94, slot 0\n" +
           tail},
      {"kernel-nesting",
       "%90 = carry %5, %6, slot 0\n%91 = update %90, %3, %7, %5\n%92 = kernel %5, %6, %91\n"
       "%97 = get %92, slot 0\n" +
           tail},
      {"kernel-whole", "%90 = stage %7\n%97 = update %6, %3, %90, %4\n" + tail},
      {"carry-slot", "%90 = carry %4, %2, slot 0\n%97 = update %90, %3, %7, %4\n" + tail},
      {"carry-slot", "%90 = carry %4, %1, slot 1\n%97 = update %90, %3, %7, %4\n" + tail},
      {"kernel-state",
       "%90 = carry %4, %2, slot 1\n%91 = update %6, %3, %7, %4\n%92 = update %90, %3, %7, %4\n"
       "%93 = kernel %4, %1, %2, %92, %91\n%94 = get %93, slot 0\nstore y, %94\n"},
      {"kernel-state", "%97 = update %2, %3, %7, %4\n" + tail},
      // The loop's result is its initial state, so its writes would be lost.
      {"kernel-state",
       "%90 = range (8), id 7\n%91 = carry %90, %6, slot 0\n%92 = index %91, %90\n"
       "%94 = for %90, (0), (8), %6, %7, %6, %92\n%95 = get %94, slot 0\n%97 = update %95, %3, %7, %4\n" +
           tail},
      {"kernel-write", "%90 = update %2, %3, %7, %4\n%91 = index %90, (0)\n%97 = update %6, %3, %91, %4\n" + tail},
      {"kernel-write",
       "%90 = range (8), id 7\n%91 = carry %90, %6, slot 0\n%92 = update %6, %3, %7, %90\n"
       "%93 = index %92, %90\n%94 = for %90, (0), (8), %7, %93\n%95 = get %94, slot 0\n%97 = update %6, %3, %95, %4\n" +
           tail},
      {"one-writer", "%90 = update %6, %3, %7, (0)\n%91 = index %90, (0)\n%97 = update %6, %3, %91, %4\n" + tail},
      // An effect that does not lead to the final state.
      {"one-writer",
       "%90 = const f32 1\n%91 = atomic %6, %3, %90, (0), add\n%92 = old %91\n%97 = update %6, %3, %92, %4\n" + tail},
      {"merged-effect",
       "%90 = range (8), id 7\n%91 = carry %90, %6, slot 0\n%92 = carry %90, %6, slot 1\n"
       "%93 = update %91, %3, %7, %90\n%94 = update %92, %3, %7, %90\n"
       "%95 = for %90, (0), (8), %6, %6, %93, %94\n%97 = get %95, slot 0\n" +
           tail},
      {"state-use", "%90 = neg %6\n%91 = index %90, (0)\n%97 = update %6, %3, %91, %4\n" + tail},
  };
  std::set<std::string> fired;
  for (const auto& [rule, text] : wrong) {
    EXPECT_EQ(rule_of_text(head + text), rule) << text;
    fired.insert(rule);
  }
  for (const VerifyRule& r : scope_rules()) EXPECT_TRUE(fired.contains(std::string(r.name))) << r.name;
}

TEST(VerifyScopes, Accepted) {
  EXPECT_EQ(error_of_text(head + "%97 = update %6, %3, %7, %4\n" + tail), "");
  // Effects without an index of the kernel: one for each work item.
  EXPECT_EQ(error_of_text(
                head + "%90 = const f32 1\n%91 = atomic %6, %3, %90, (0), add\n%97 = atomic %91, %3, %90, (0), add\n" + tail),
            "");
  // Two kernels on the states before and after; a local array that a loop carries.
  EXPECT_EQ(
      error_of_text(head + "%97 = update %6, %3, %7, %4\n" + tail.substr(0, tail.find("store")) +
                    "%100 = carry %5, %99, slot 0\n%101 = index %1, %5\n%102 = local f32 [4] %5, id 0\n"
                    "%103 = range (4), id 2\n%104 = carry %103, %102, slot 0\n%105 = update %104, %3, %101, %103\n"
                    "%106 = for %103, (0), (4), %102, %105\n%107 = get %106, slot 0\n%108 = index %107, (3)\n"
                    "%109 = update %100, %3, %108, %5\n%110 = kernel %5, %99, %109\n%111 = get %110, slot 0\nstore y, %111\n"),
      "");
}

TEST(ScopeText, RoundTrip) {
  const std::string text =
      head +
      "%10 = invalid\n%11 = lt %4, (N)\n%12 = where %11, %4, %10\n%13 = index %0, %12\n"
      "%14 = atomic %6, %11, %13, %4, min\n%15 = old %14\n%16 = atomic %14, %3, %13, %15, %4, compare_exchange\n"
      "%17 = local f32 [2, 3] %4, id 4\n%18 = update %17, %3, %13, (1), (2)\n%19 = index %18, (0), (0)\n"
      "%20 = range (100), id 9\n%21 = carry %20, %3, slot 0\n%22 = carry %20, %19, slot 1\n%23 = lt %22, %13\n"
      "%24 = for %20, (2), (100), %3, %19, %23, %22, step 3, while\n%25 = get %24, slot 1\n"
      "%97 = update %16, %3, %25, %4\n" +
      tail;
  Graph g1, g2;
  const Program p1 = read_program(g1, text);
  verify(g1, p1);
  const std::string once = write_program(g1, p1, {.locations = false});
  const Program p2 = read_program(g2, once);
  verify(g2, p2);
  EXPECT_EQ(write_program(g2, p2, {.locations = false}), once);
  EXPECT_EQ(g1[p1.sink].hash, g2[p2.sink].hash) << once;
  EXPECT_NE(once.find("step 3, while"), std::string::npos);
  const Id roots[] = {p1.sink};
  Graph g3;
  const auto back = read_nodes(g3, write_nodes(g1, roots));
  EXPECT_EQ(g3[back[0]].hash, g1[p1.sink].hash);
}

TEST(ScopeText, Mistakes) {
  EXPECT_NE(error_of_text(head + "%10 = range (N)\n").find("`range` expected `id n`"), std::string::npos);
  EXPECT_NE(error_of_text(head + "%10 = carry %4, %1\n").find("`carry` expected `slot n`"), std::string::npos);
  EXPECT_NE(error_of_text(head + "%10 = atomic %6, %3, %7, %4\n").find("expected a kind such as add"), std::string::npos);
  EXPECT_NE(error_of_text(head + "%10 = update %6, %3\n").find("`update` expected at least 3 operands, got 2"),
            std::string::npos);
  EXPECT_NE(error_of_text(head + "%10 = for %4, (0)\n").find("`for` expected at least 3 operands, got 2"), std::string::npos);
  EXPECT_NE(error_of_text(head + "%10 = kernel %1\n").find("E-scope: `kernel` expected at least one range"), std::string::npos);
  EXPECT_NE(error_of_text(head + "%10 = local f32 [3] %4\n").find("`local` expected `id n`"), std::string::npos);
}

// Reading and verifying any text gives a program or a diagnostic.
TEST(ScopeText, NoiseNeverCrashes) {
  const std::string text = head +
                           "%10 = range (8), id 2\n%11 = carry %10, %6, slot 0\n%12 = atomic %11, %3, %7, %10, add\n"
                           "%13 = old %12\n%14 = carry %10, %7, slot 1\n%15 = add %13, %14\n%16 = local f32 [4] %10, id 0\n"
                           "%17 = update %16, %3, %15, (1)\n%18 = index %17, (2)\n"
                           "%19 = for %10, (0), (8), %6, %7, %12, %18\n%97 = get %19, slot 0\n" +
                           tail;
  EXPECT_EQ(error_of_text(text), "");
  const std::string digits = "0123456789";
  std::uint64_t state = 5;
  const auto random = [&] {
    return static_cast<std::size_t>((state = state * 6364136223846793005u + 1442695040888963407u) >> 33);
  };
  std::size_t accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string seed = "state " + std::to_string(state);
    std::string t = text;
    for (int k = 0; k < 3; ++k) {  // mostly numbers: operands, slots and ids that do not fit
      const auto at = t.find_first_of(digits, head.size() / 2 + random() % (t.size() - head.size() / 2));
      if (at != std::string::npos) t[at] = i % 4 == 0 ? static_cast<char>(random()) : digits[random() % 10];
    }
    EXPECT_NO_THROW(accepted += error_of_text(t).empty() ? 1 : 0) << seed << '\n' << t;
    if (HasFailure()) return;
  }
  EXPECT_GT(accepted, 20u);
}
