// Every rule of check_plan.h: a plan that obeys it, and one that breaks it.
#include "compiler/lower/check_plan.h"

#include "tests/unit/lower_program.h"

namespace kiln::compiler::testing {
namespace {

// y[i, j] = x[i, j] + x[i, j] of N x M elements.
struct Sums {
  Sums() {
    const DType d = DType::f32;
    const Id n = k.symbol("N"), m = k.symbol("M"), size = k.index(Op::MUL, n, m);
    const int x = k.buffer(d, size), y = k.buffer(d, size);
    i = k.range(n);
    j = k.range(m);
    const Id at = k.at(i, m, j), element = k.load(x, at);
    store = k.g.make(Op::STORE, DType::none, {k.node(y), at, k.op(Op::ADD, d, {element, element})});
  }
  std::string broken(const std::vector<LoopPlan>& plan) const {
    const Id stores[] = {store}, ranges[] = {i, j};
    return check_plan(k.g, stores, ranges, plan);
  }
  OneKernel k;
  Id i, j, store;
};

TEST(CheckPlan, AcceptsLoopsLanesCopiesAndBlocks) {
  const Sums s;
  const LoopPlan i{.range = s.i}, j{.range = s.j}, lanes{.range = s.j, .step = 8, .lanes = true};
  EXPECT_EQ(s.broken({i, j}), "");
  EXPECT_EQ(s.broken({j, i}), "");
  EXPECT_EQ(s.broken({i, lanes}), "");
  EXPECT_EQ(s.broken({lanes, i}), "");
  EXPECT_EQ(s.broken({{.range = s.i, .step = 3}, lanes}), "");
  EXPECT_EQ(s.broken({{.range = s.i, .step = 12, .block = true}, lanes, {.range = s.i, .step = 4}}), "");
  EXPECT_EQ(s.broken({{.range = s.j, .step = 64, .block = true}, i, lanes}), "");
  EXPECT_EQ(s.broken({i, {.range = s.j, .step = 16, .lanes = true, .align = 32, .tails = {{8, true}}}}), "");
  EXPECT_EQ(s.broken({i, {.range = s.j, .step = 16, .lanes = true, .tails = {{8, false}, {2, false}, {1, false}}}}), "");
}

TEST(CheckPlan, EachRangeHasOneLoop) {
  const Sums s;
  const std::string broken = "a range has no loop, or more than one";
  EXPECT_EQ(s.broken({{.range = s.i}}), broken);
  EXPECT_EQ(s.broken({{.range = s.i}, {.range = s.j}, {.range = s.j}}), broken);
  EXPECT_EQ(s.broken({{.range = s.i}, {.range = s.j, .step = 4, .block = true}}), broken);
  EXPECT_EQ(s.broken({{.range = s.i}, {.range = s.j}, {.range = s.store}}), "a loop has no range of the kernel");
  EXPECT_EQ(s.broken({{.range = s.i, .step = 0}, {.range = s.j}}), "a loop has no iterations");
  EXPECT_EQ(s.broken({{.range = s.i, .step = 4, .block = true}, {.range = s.i, .step = 0}, {.range = s.j}}),
            "a loop has no iterations");
}

TEST(CheckPlan, BlocksAreMultiplesOfTheLoopsInsideThem) {
  const Sums s;
  EXPECT_EQ(s.broken({{.range = s.i, .step = 10, .block = true}, {.range = s.j}, {.range = s.i, .step = 4}}),
            "a block is no multiple of the step of the loop inside it");
  EXPECT_EQ(s.broken({{.range = s.i}, {.range = s.j}, {.range = s.i, .step = 4, .block = true}}),
            "a block has no loop inside it");
  EXPECT_EQ(s.broken({{.range = s.i}, {.step = 8, .rows = true}, {.range = s.j, .step = 8, .lanes = true}}),
            "rows are not between a block and its lanes");
  std::vector<LoopPlan> rows = {{.range = s.i},
                                {.range = s.j, .step = 64, .block = true},
                                {.step = 8, .rows = true},
                                {.range = s.j, .step = 8, .lanes = true}};
  EXPECT_EQ(s.broken(rows), "");
  rows[0].step = 2;
  EXPECT_EQ(s.broken(rows), "rows are in copies, which would share their accumulators");
}

TEST(CheckPlan, TermsOfAChainAreInABlockOfRows) {
  const Sums s;
  const std::string misplaced = "terms are not between a block of rows and the lanes and copies in it";
  const LoopPlan terms{.step = 8, .chain = true}, copies{.range = s.i, .step = 4},
      lanes{.range = s.j, .step = 8, .lanes = true};
  EXPECT_EQ(s.broken({terms, lanes, copies}), misplaced);
  // The columns must be a constant number, and these are not.
  EXPECT_EQ(s.broken({{.range = s.i, .step = 12, .block = true}, terms, lanes, copies}), misplaced);
}

TEST(CheckPlan, TailsTakeTheRest) {
  const Sums s;
  const auto with = [&](std::vector<Tail> tails) {
    return s.broken({{.range = s.i}, {.range = s.j, .step = 8, .lanes = true, .tails = std::move(tails)}});
  };
  EXPECT_EQ(with({}), "iterations remain after the last tail");
  EXPECT_EQ(with({{4, false}}), "iterations remain after the last tail");
  EXPECT_EQ(with({{4, false}, {4, false}, {1, false}}), "the steps of tails do not fall");
  EXPECT_EQ(with({{16, true}}), "the steps of tails do not fall");
  EXPECT_EQ(with({{3, false}, {1, false}}), "the lanes of a tail are no power of two");
  EXPECT_EQ(s.broken({{.range = s.i, .step = 4, .tails = {{4, true}}}, {.range = s.j}}), "a tail without lanes has a mask");
}

TEST(CheckPlan, LanesAreNeighboursAndOnce) {
  const Sums s;
  const LoopPlan i{.range = s.i}, j{.range = s.j};
  EXPECT_EQ(s.broken({i, {.range = s.j, .step = 6, .lanes = true}}), "the lanes are no power of two");
  EXPECT_EQ(s.broken({i, {.range = s.j, .step = 24, .lanes = true, .vectors = 3}}), "");
  EXPECT_EQ(s.broken({i, {.range = s.j, .step = 24, .lanes = true, .vectors = 2}}), "the lanes are no power of two");
  EXPECT_EQ(s.broken({i, {.range = s.j, .step = 24, .lanes = true, .vectors = 5}}),
            "the lanes are not divided among the vectors");
  EXPECT_EQ(s.broken({i, {.range = s.j, .step = 24, .lanes = true, .vectors = 3, .align = 32}}),
            "vectors side by side are aligned or masked");
  EXPECT_EQ(s.broken({{.range = s.i, .step = 8, .lanes = true}, j}), "lanes: its stores are not to neighbouring elements");
  EXPECT_EQ(s.broken({{.range = s.i, .step = 8, .lanes = true}, {.range = s.j, .step = 8, .lanes = true}}),
            "two loops have lanes");
  EXPECT_EQ(s.broken({{.range = s.i, .step = 2, .align = 32}, j}), "a loop without lanes has a mask");
  LoopPlan lanes{.range = s.j, .step = 16, .lanes = true, .align = 32, .past_caches = 1000};
  EXPECT_EQ(s.broken({i, lanes}), "");
  lanes.align = 0;
  EXPECT_EQ(s.broken({i, lanes}), "stores past the caches have no alignment");
  EXPECT_EQ(s.broken({i, {.range = s.j, .step = 8, .transposes = s.i}}),
            "copies transpose loads to lanes that are not around them");
  EXPECT_EQ(s.broken({{.range = s.i, .step = 8, .transposes = s.j}, {.range = s.j, .step = 8, .lanes = true}}),
            "copies that transpose loads have a loop inside them");
}

// y[i] = the sum of x[k] over k < i: lanes or copies would need different numbers of iterations.
TEST(CheckPlan, IterationsOfInnerLoopsAreTheSameInCopiesAndLanes) {
  OneKernel k;
  const Id n = k.symbol("N");
  const int x = k.buffer(DType::f32, n), y = k.buffer(DType::f32, n);
  const Id i = k.range(n), r = k.range(i), zero = k.f32(0);
  const Id carry = k.g.make(Op::CARRY, DType::f32, {r, zero}, {0});
  const Id next = k.op(Op::ADD, DType::f32, {carry, k.load(x, r)});
  const Id loop = k.g.make(Op::FOR, DType::none, {r, k.g.index(0), i, zero, next}, {1, 1});
  const Id sum = k.g.make(Op::GET, DType::f32, {loop}, {0});
  const Id stores[] = {k.g.make(Op::STORE, DType::none, {k.node(y), i, sum})}, ranges[] = {i};
  const auto broken = [&](const LoopPlan& p) { return check_plan(k.g, stores, ranges, std::vector{p}); };
  EXPECT_EQ(broken({.range = i}), "");
  EXPECT_EQ(broken({.range = i, .step = 4}), "copies: the number of iterations of an inner loop depends on them");
  EXPECT_EQ(broken({.range = i, .step = 4, .lanes = true}), "lanes: the number of iterations of an inner loop depends on it");
  EXPECT_EQ(broken({.range = i, .shares_loads = true}), "copies share loads of inner loops");
}

// y[b] = the sum of the elements of block b, of which only the last one may be shorter. Copies of whole blocks are possible
// where the loop can be cut behind them: not in a block of the plan, and not in copies of another loop.
TEST(CheckPlan, BlocksOfAReductionMayBeCopies) {
  OneKernel k;
  const Id n = k.symbol("N"), m = k.symbol("M"), size = k.g.index(4);
  const Id blocks = k.index(Op::FLOORDIV, k.index(Op::ADD, n, k.g.index(3)), size);
  const int x = k.buffer(DType::f32, n), y = k.buffer(DType::f32, k.index(Op::MUL, m, blocks));
  const Id i = k.range(m), b = k.range(blocks), first = k.index(Op::MUL, b, size), zero = k.f32(0);
  const Id length = k.index(Op::MIN, k.index(Op::SUB, n, first), size), r = k.range(length);
  const Id carry = k.g.make(Op::CARRY, DType::f32, {r, zero}, {0});
  const Id next = k.op(Op::ADD, DType::f32, {carry, k.load(x, k.index(Op::ADD, first, r))});
  const Id loop = k.g.make(Op::FOR, DType::none, {r, k.g.index(0), length, zero, next}, {1, 1});
  const Id sum = k.g.make(Op::GET, DType::f32, {loop}, {0});
  const Id stores[] = {k.g.make(Op::STORE, DType::none, {k.node(y), k.at(i, blocks, b), sum})}, ranges[] = {i, b};
  const auto broken = [&](const std::vector<LoopPlan>& p) { return check_plan(k.g, stores, ranges, p); };
  const LoopPlan four{.range = b, .step = 4}, around{.range = i};
  const std::string unequal = "copies: the number of iterations of an inner loop depends on them";
  EXPECT_EQ(broken({around, four}), "");
  EXPECT_EQ(broken({{.range = i, .step = 2}, four}), unequal);
  EXPECT_EQ(broken({{.range = b, .step = 8, .block = true}, around, four}), unequal);
  EXPECT_EQ(broken({around, {.range = b, .step = 4, .lanes = true}}),
            "lanes: the number of iterations of an inner loop depends on it");
}

}  // namespace
}  // namespace kiln::compiler::testing
