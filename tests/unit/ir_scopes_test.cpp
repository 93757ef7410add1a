// Loops, kernels and states at tensor level: builder, regions and their order, the verifier's rules, text.
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

using namespace kiln::compiler;

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

const std::string head = R"(program p
in f32 [N] x
inout f32 [N] y
inout f32 [N] z
%0 = param x
%1 = param y
%2 = param z
%3 = const bool true
%4 = range (N), id 0
%5 = range (N), id 1
%6 = carry %4, %1, slot 0
%7 = index %0, %4
)";
const std::string tail = "%98 = kernel %4, %1, %97\n%99 = get %98, slot 0\nstore y, %99\n";

// Nodes by the line of the text that defines them (1: the first line of `text`).
struct Parsed {
  explicit Parsed(const std::string& text) : program(read_program(g, text)) {
    verify(g, program);
    const Id root[] = {program.sink};
    regions = find_regions(g, root);
  }
  Id at(std::uint32_t line, Op op) const {
    for (Id id = 0; id < g.size(); ++id)
      if (g.loc(id).line == line && g.op(id) == op) return id;
    ADD_FAILURE() << "no " << name(op) << " in line " << line;
    return 0;
  }
  std::size_t position(Id id) const {
    const auto& nodes = regions.list[regions.of[id]].nodes;
    return static_cast<std::size_t>(std::ranges::find(nodes, id) - nodes.begin());
  }
  Graph g;
  Program program;
  Regions regions;
};

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

TEST(States, KnowTheirMemory) {
  Graph g;
  const Id one = g.constant(DType::f32, 0), at = g.index(0), range = g.make(Op::RANGE, DType::index, {g.index(4)}, {0, 0});
  const Id buffer = g.make(Op::BUFFER, DType::f32, {}, {0}), local = g.make(Op::LOCAL, DType::f32, {range, g.index(3)}, {0});
  const Id entry = g.make(Op::ENTRY, DType::none, {buffer, range});
  Id state = entry;
  for (int i = 0; i < 100'000; ++i) state = g.make(Op::STORE, DType::none, {state, at, g.constant(DType::f32, state)});
  EXPECT_EQ(memory_of(g, state), buffer);
  const Id carry = g.make(Op::CARRY, DType::none, {range, state}, {1});
  const Id end = g.make(Op::STORE, DType::none, {carry, at, one});
  const Id loop = g.make(Op::FOR, DType::none, {range, at, at, one, state, one, end}, {2, 1});
  EXPECT_EQ(memory_of(g, end), buffer);
  EXPECT_EQ(memory_of(g, g.make(Op::GET, DType::none, {loop}, {1})), buffer);
  EXPECT_EQ(memory_of(g, g.make(Op::GET, DType::f32, {loop}, {0})), no_id);  // a value
  EXPECT_EQ(memory_of(g, g.make(Op::STORE, DType::none, {local, at, one})), local);
  EXPECT_FALSE(is_state(g, one));
  // A text may contain this before the verifier sees it.
  EXPECT_FALSE(is_state(g, g.make(Op::STORE, DType::none, std::span<const Id>())));
  EXPECT_FALSE(is_state(g, g.make(Op::CARRY, DType::none, {range}, {0})));
  EXPECT_FALSE(is_state(g, g.make(Op::GET, DType::none, {loop}, {9})));
  EXPECT_FALSE(is_state(g, g.make(Op::GET, DType::none, {loop}, {-1})));
}

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

TEST(Regions, NodesAndNesting) {
  const Parsed p(head +
                 "%10 = range (8), id 2\n"             // 13
                 "%11 = carry %10, %7, slot 0\n"       // 14
                 "%12 = add %11, %11\n"                // 15
                 "%13 = const f32 2\n"                 // 16
                 "%14 = exp %13\n"                     // 17: does not change
                 "%15 = mul %12, %14\n"                // 18
                 "%16 = for %10, (0), (8), %7, %15\n"  // 19
                 "%17 = get %16, slot 0\n"             // 20
                 "%97 = update %6, %3, %17, %4\n" +
                 tail);
  const auto region = [&](std::uint32_t line, Op op) { return p.regions.of[p.at(line, op)]; };
  ASSERT_EQ(p.regions.list.size(), 3u);
  const std::uint32_t loop = p.regions.owned[p.at(19, Op::FOR)], kernel = p.regions.owned[p.at(22, Op::KERNEL)];
  EXPECT_EQ(region(17, Op::EXP), 0u);
  EXPECT_EQ(region(12, Op::INDEX), kernel);
  EXPECT_EQ(region(15, Op::ADD), loop);
  EXPECT_EQ(region(18, Op::MUL), loop);
  EXPECT_EQ(region(19, Op::FOR), kernel);
  EXPECT_EQ(region(20, Op::GET), kernel);
  EXPECT_EQ(region(22, Op::KERNEL), 0u);
  EXPECT_EQ(p.regions.list[loop].parent, kernel);
  EXPECT_EQ(p.regions.list[kernel].parent, 0u);
  EXPECT_TRUE(p.regions.list[loop].in_kernel);
  EXPECT_FALSE(p.regions.list[0].in_kernel);
  EXPECT_EQ(p.regions.lifted(p.at(15, Op::ADD), kernel), p.at(19, Op::FOR));
  EXPECT_EQ(p.regions.lifted(p.at(15, Op::ADD), 0), p.at(22, Op::KERNEL));
}

TEST(Regions, ReadersComeBeforeTheWriter) {
  const Parsed p(head +
                 "%10 = update %6, %3, %7, %4\n"  // 13: changes %6
                 "%11 = index %6, %4\n"           // 14: reads %6
                 "%12 = index %10, %4\n"          // 15
                 "%13 = add %11, %12\n"           // 16
                 "%97 = update %10, %3, %13, %4\n" +
                 tail);
  EXPECT_LT(p.position(p.at(14, Op::INDEX)), p.position(p.at(13, Op::UPDATE)));
  EXPECT_LT(p.position(p.at(13, Op::UPDATE)), p.position(p.at(15, Op::INDEX)));
}

TEST(Regions, ReadersInsideALoopCount) {
  const Parsed p(head +
                 "%10 = update %6, %3, %7, %4\n"       // 13
                 "%11 = range (8), id 2\n"             // 14
                 "%12 = carry %11, %7, slot 0\n"       // 15
                 "%13 = index %6, %11\n"               // 16: reads the state before line 13
                 "%14 = add %12, %13\n"                // 17
                 "%15 = for %11, (0), (8), %7, %14\n"  // 18
                 "%16 = get %15, slot 0\n"             // 19
                 "%97 = update %10, %3, %16, %4\n" +
                 tail);
  EXPECT_LT(p.position(p.at(18, Op::FOR)), p.position(p.at(13, Op::UPDATE)));
}

// Outside of kernels a tensor is a value, so a reader may come after the writer.
TEST(Regions, ValuesOutsideOfKernels) {
  const Parsed p(R"(program p
inout i32 [8] y
%0 = param y
%1 = const bool true
%2 = const i32 3
%3 = update %0, %1, %2, (0)
%4 = index %3, (1)
%5 = cast index %4
%6 = index %0, %5
%7 = update %3, %1, %6, (1)
%8 = update %0, %1, %6, (1)
%9 = add %7, %8
store y, %9
)");
  EXPECT_LT(p.position(p.at(6, Op::UPDATE)), p.position(p.at(9, Op::INDEX)));
}

TEST(Regions, Origins) {
  const Parsed p(head +
                 "%10 = range (8), id 2\n"
                 "%11 = carry %10, %6, slot 0\n"
                 "%12 = update %11, %3, %7, %10\n"
                 "%13 = for %10, (0), (8), %6, %12\n"
                 "%97 = get %13, slot 0\n" +
                 tail);
  const Id root[] = {p.program.sink};
  const auto origin = state_origins(p.g, root);
  const Id carry = p.at(11, Op::CARRY);
  EXPECT_EQ(origin[p.at(15, Op::UPDATE)], carry);
  EXPECT_EQ(origin[p.at(17, Op::GET)], carry);
  const Id kernel = p.at(18, Op::KERNEL);
  EXPECT_EQ(origin[p.at(19, Op::GET)], p.at(19, Op::GET));
  EXPECT_EQ(entry_values(p.g, kernel).size(), 1u);
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
    std::string t = text;
    for (int k = 0; k < 3; ++k) {  // mostly numbers: operands, slots and ids that do not fit
      const auto at = t.find_first_of(digits, head.size() / 2 + random() % (t.size() - head.size() / 2));
      if (at != std::string::npos) t[at] = i % 4 == 0 ? static_cast<char>(random()) : digits[random() % 10];
    }
    accepted += error_of_text(t).empty() ? 1 : 0;
  }
  EXPECT_GT(accepted, 20u);
}

// Time and stack do not depend on the depth of the graph.
TEST(Regions, LongChains) {
  Graph g;
  Builder b(g);
  const Parameter y{"y", Direction::inout, DType::f32, {g.sym("N")}, {}};
  const Id param = b.param(0, y), range = b.range(g.sym("N"), 0), carry = b.carry(range, param, 0);
  const Id one = b.constant(DType::f32, 0x3f800000);
  Id state = carry;
  for (int i = 0; i < 200000; ++i) {
    const Id at[] = {range}, read = b.element(state, at);
    state = b.update(state, no_id, b.elementwise(Op::ADD, {read, one}), at);
  }
  const Id ranges[] = {range}, init[] = {param}, final[] = {state};
  Program p;
  p.name = "long";
  p.params = {y};
  p.symbols = {{"N"}};
  p.sink = g.make(Op::SINK, DType::none, {b.store(param, y, b.get(b.kernel(ranges, init, final), 0))});
  verify(g, p);
  const Id root[] = {p.sink};
  EXPECT_EQ(find_regions(g, root).list[1].nodes.size(), 2u + 3 * 200000);
}
