// Normal forms of sums, folds with symbolic extents, the cost of simplification, proofs of bounds.
#include <gtest/gtest.h>

#include <ctime>
#include <random>

#include "compiler/symbolic/prove.h"
#include "compiler/symbolic/simplify.h"
#include "tests/rules/symbolic_eval.h"
#include "tests/rules/symbolic_expressions.h"

namespace kiln::test {
namespace {

TEST(Simplify, ProgramNodesKeepRangesAndValues) {
  Graph g;
  const Leaves l = leaves(g);
  const Id one = g.make(Op::RANGE, DType::index, {g.index(1)}, {9, 0});
  const Id from = g.make(Op::BUFFER, DType::f32, std::initializer_list<Id>{}, {0});
  const Id to = g.make(Op::BUFFER, DType::f32, std::initializer_list<Id>{}, {1});
  const Id at = g.make(Op::ADD, DType::index, {l.x.id, one});
  const Id load = g.make(Op::LOAD, DType::f32, {from, at});
  const Id zero = g.constant(DType::f32, 0);
  const Id value = g.make(Op::ADD, DType::f32, {load, zero});  // -0.0 + 0.0: not an identity
  const Id guarded = g.make(Op::WHERE, DType::f32, {(l.x < 20).id, value, zero});
  const Id end = g.make(Op::END, DType::none, {g.make(Op::STORE, DType::none, {to, one, guarded}), l.x.id, one});
  const Facts facts;
  const Id roots[] = {g.make(Op::SINK, DType::none, {end})};
  const Id out = simplify_all(g, roots, facts)[0];
  const Id plain = g.make(Op::LOAD, DType::f32, {from, l.x.id});
  const Id store = g.make(Op::STORE, DType::none, {to, g.index(0), g.make(Op::ADD, DType::f32, {plain, zero})});
  const Id wanted = g.make(Op::END, DType::none, {store, l.x.id, one});
  EXPECT_EQ(out, g.make(Op::SINK, DType::none, {wanted}));
}

// 2,000 sums of ranges, symbols, quotients and remainders, each in eight orders and associations. Short sums come first, so the
// one that a failure prints is short.
TEST(Simplify, RandomSumsHaveOneNormalForm) {
  const Facts facts = small_facts();
  for (std::size_t seed = 0; seed < 2000; ++seed) {
    std::mt19937_64 random(seed);
    Graph g;
    const Leaves l = leaves(g);
    const E atoms[] = {
        l.n, l.m, l.x, l.a, l.b, l.i, l.j, l.x / 3, l.x % 3, l.n / 4, l.n % 4, l.i * l.n, min(l.x, l.a), l(5), (l.x + l.a) / 5};
    std::vector<E> terms;
    for (std::size_t n = 2 + seed / 250; n > 0; --n)
      terms.push_back(atoms[random() % std::size(atoms)] * (static_cast<std::int64_t>(random() % 9) - 4));
    Id form = no_id;
    for (int order = 0; order < 8; ++order) {
      std::vector<E> parts = terms;
      while (parts.size() > 1) {
        std::swap(parts[random() % parts.size()], parts.back());
        const E last = parts.back();
        parts.pop_back();
        E& other = parts[random() % parts.size()];
        other = random() % 2 == 0 ? last + other : other + last;
      }
      const Id now = simplify(g, parts[0].id, facts);
      if (form == no_id) form = now;
      ASSERT_EQ(now, form) << "seed " << seed << ": " << show(g, parts[0].id) << "\n  became " << show(g, now) << "\n  not "
                           << show(g, form);
    }
  }
}

// Cases with a symbolic divisor or bound, named one by one.
TEST(Simplify, FoldsWithSymbolicExtents) {
  Graph g;
  const Leaves l = leaves(g);
  Facts facts;  // n and m may be 0: their loops then have no iterations
  const auto folds = [&](E before, E after) { EXPECT_EQ(simplify(g, before.id, facts), after.id) << show(g, before.id); };
  folds((l.i * l.n + l.j) / l.n, l.i);
  folds((l.i * l.n + l.j) % l.n, l.j);
  folds((l.j * l.m + l.i) / (l.n * l.m), l(0));
  folds(l.j < l.n, l.yes);
  facts.syms["n"].min = 1;
  folds(l.x % l.n + l.x / l.n * l.n, l.x);
}

TEST(Simplify, EqualSumsAreOneNode) {
  Graph g;
  const Facts facts;
  std::vector<Id> terms;
  for (int i = 0; i < 40; ++i)
    terms.push_back(g.make(Op::MUL, DType::index, {g.sym("s" + std::to_string(i % 13)), g.index(i - 20)}));
  Id forward = g.index(3), tree = no_id;
  for (Id t : terms) forward = g.make(Op::ADD, DType::index, {t, forward});
  std::vector<Id> level(terms.rbegin(), terms.rend());
  level.push_back(g.index(3));
  while (level.size() > 1) {
    std::vector<Id> next;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2)
      next.push_back(g.make(Op::ADD, DType::index, {level[i], level[i + 1]}));
    if (level.size() % 2 == 1) next.push_back(level.back());
    level = next;
  }
  tree = level[0];
  EXPECT_NE(forward, tree);
  EXPECT_EQ(simplify(g, forward, facts), simplify(g, tree, facts));
}

// The time per term must not grow with the number of terms, and doubling x forty times must not take 2^40 steps.
TEST(Simplify, LongAndSharedSumsAreLinear) {
  const Facts facts;
  const auto seconds = [&](int n) {
    Graph g;
    Id sum = g.index(0);
    for (int i = 0; i < n; ++i) {
      const Id r = g.make(Op::RANGE, DType::index, {g.index(7 + i % 5)}, {i, 0});
      sum = g.make(Op::ADD, DType::index, {sum, g.make(Op::MUL, DType::index, {r, g.index(i + 2)})});
    }
    const std::clock_t start = std::clock();  // processor time, so that other processes do not count
    EXPECT_NE(simplify(g, sum, facts), no_id);
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  seconds(1000);
  const double small = seconds(10000), large = seconds(80000);
  EXPECT_LT(large, 8 * small * 4 + 0.2);
  Graph g;
  Id x = g.sym("n");
  for (int i = 0; i < 40; ++i) x = g.make(Op::ADD, DType::index, {x, x});
  EXPECT_EQ(simplify(g, x, facts), g.make(Op::MUL, DType::index, {g.sym("n"), g.index(std::int64_t{1} << 40)}));
}

TEST(Prove, PolynomialBounds) {
  Graph g;
  const Leaves l = leaves(g);
  const Facts facts = small_facts();
  EXPECT_TRUE(prove_lt(g, l.j.id, l.n.id, facts));
  EXPECT_TRUE(prove_lt(g, (l.i * l.n + l.j).id, (l.m * l.n).id, facts));
  EXPECT_FALSE(prove_lt(g, (l.i * l.n + l.j + 1).id, (l.m * l.n).id, facts));
  EXPECT_TRUE(prove_le(g, (l.i * l.n + l.j + 1).id, (l.m * l.n).id, facts));
  EXPECT_TRUE(prove_ge0(g, (l.n - 1 - l.j).id, facts));
  EXPECT_FALSE(prove_ge0(g, (l.n - 1).id, facts));
  EXPECT_TRUE(prove_ge0(g, (l.m * l.n - l.n).id, facts));
  EXPECT_TRUE(prove_le(g, (l.n / 4 * 4).id, l.n.id, facts));
  EXPECT_TRUE(prove_lt(g, (l.n % 4).id, l(4).id, facts));
  EXPECT_TRUE(prove_le(g, min(l.n, l.m).id, l.n.id, facts));
  EXPECT_FALSE(prove_ge0(g, (l.x - 1).id, facts));
}

// Inside a loop over max(n - 2, 0) there is an iteration, so n - 2 is above 0.
TEST(Prove, IterationsOfALoopThatMayBeEmpty) {
  Graph g;
  const Leaves l = leaves(g);
  const Facts facts = small_facts();
  const Id inner = g.make(Op::MAX, DType::index, {(l.n - 2).id, g.index(0)});
  const E k{&g, g.range(inner, 90, RangeKind::loop)};
  EXPECT_TRUE(prove_lt(g, (k + 1).id, (l.n - 1).id, facts));
  EXPECT_TRUE(prove_lt(g, (k + 2).id, l.n.id, facts));
  EXPECT_FALSE(prove_lt(g, (k + 3).id, l.n.id, facts));
  EXPECT_FALSE(prove_lt(g, (k + 2).id, (l.n - 1).id, facts));
  const E one{&g, g.range(g.make(Op::MAX, DType::index, {(l.n - 2).id, g.index(1)}), 91, RangeKind::loop)};
  EXPECT_FALSE(prove_lt(g, (one + 1).id, (l.n - 1).id, facts));
}

}  // namespace
}  // namespace kiln::test
