// The part of a program with host loops that a pass sees of one segment. A pass's cost must depend on the segment only.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/ir/symbols.h"
#include "compiler/ir/text.h"
#include "compiler/schedule/host_loops.h"
#include "compiler/schedule/segments.h"

using namespace kiln::compiler;

namespace {

// A loop whose counter begins below zero, and a loop whose counter is not used.
constexpr const char* two_loops = R"(program two
inout f32 [N] y
out f32 [N] z
%0 = param y
%1 = const bool true
%2 = range (7), id 1
%3 = carry %2, %0, slot 0
%4 = range (N), id 2
%5 = carry %4, %3, slot 0
%6 = index %5, %4
%7 = cast f32 %2
%8 = add %6, %7
%9 = update %5, %1, %8, %4
%10 = kernel %4, %3, %9
%11 = get %10, slot 0
%12 = for %2, (-3), (7), %0, %11
%13 = get %12, slot 0
%14 = range (5), id 3
%15 = carry %14, %13, slot 0
%16 = add %15, %15
%17 = for %14, (0), (5), %13, %16
%18 = get %17, slot 0
store y, %13
store z, %18
)";

TEST(Segments, SeeTheirOwnSymbolsAndDirections) {
  Graph g;
  Schedule s;
  s.program = read_program(g, two_loops);
  const std::vector<Direction> directions = {s.program.params[0].direction, s.program.params[1].direction};
  host_loops(g, s);
  ASSERT_GE(s.segments.size(), 2u);
  static std::vector<std::vector<Symbol>> symbols;
  static std::size_t written;
  symbols.clear();
  written = 0;
  in_segments(g, s, [](Graph& graph, Schedule& segment) {
    symbols.push_back(segment.program.symbols);
    const Id roots[] = {segment.program.sink};
    for (const Id id : graph.reachable(roots)) {
      const bool known =
          std::ranges::find(segment.program.symbols, graph.name(id), &Symbol::name) != segment.program.symbols.end();
      EXPECT_TRUE(graph.op(id) != Op::SYM || known) << graph.name(id);
    }
    for (const Parameter& p : segment.program.params) written += p.direction == Direction::in ? 0 : 1;
  });
  ASSERT_EQ(symbols.size(), s.segments.size());
  std::size_t with_counter = 0;
  for (const std::vector<Symbol>& segment : symbols)
    for (const Symbol& y : segment) {
      if (y.kind != Symbol::Kind::counter) continue;
      ++with_counter;
      EXPECT_EQ(y.min, -3);
      EXPECT_EQ(y.max, 6);
    }
  EXPECT_EQ(with_counter, 1u);  // only the first loop's kernel uses the counter
  std::size_t writes = 0;
  for (const Segment& p : s.segments) writes += p.writes.size();
  EXPECT_EQ(written, writes);
  EXPECT_EQ(s.program.params[0].direction, directions[0]);
  EXPECT_EQ(s.program.params[1].direction, directions[1]);
}

TEST(SymbolIndex, FindsWhatNodesDependOn) {
  Graph g;
  const Symbol symbols[] = {{.name = "A"}, {.name = "B"}, {.name = "C"}};
  const SymbolIndex index(symbols);
  const Id sum = g.make(Op::ADD, DType::index, {g.sym("C"), g.sym("A")});
  const Id roots[] = {g.make(Op::ADD, DType::index, {sum, g.sym("$begin")})};  // $begin is not a symbol of the program
  EXPECT_EQ(index.numbers_in(g, roots), (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(index.in(g, roots).back().name, "C");
  EXPECT_EQ(index.find("B"), 1u);
  EXPECT_FALSE(index.find("D"));
}

}  // namespace
