// The regions of loops and kernels, the order of the nodes in a region, and the memory of states.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compiler/ir/builder.h"
#include "compiler/ir/regions.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/state.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "tests/unit/scope_text.h"

using namespace kiln::compiler;
using kiln::compiler::test::head;
using kiln::compiler::test::tail;

namespace {

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

}  // namespace
