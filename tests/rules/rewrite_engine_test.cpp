// The engine with rules of its own: modes, matching, guards, fuel, provenance.
#include <gtest/gtest.h>

#include "compiler/ir/diagnostic.h"
#include "compiler/symbolic/template.h"

namespace kiln::test {
namespace {

using namespace compiler;

// An engine over some rules, with everything it needs.
struct Engine {
  explicit Engine(std::span<const Rule> list, RewriteMode mode = RewriteMode::bottom_up)
      : family(list), rules(std::span(&family, 1)), bounds(g, facts), engine(g, bounds, rules, {}, mode) {}
  std::span<const Rule> family;
  symbolic::RuleSet rules;
  Graph g;
  Facts facts;
  Bounds bounds;
  RewriteEngine engine;
};

TEST(RewriteEngine, OscillationRunsOutOfFuel) {
  static constexpr Rule rules[] = {{"swap", "max(a, b)", "", "max(b, a)"}};
  Engine e(rules);
  const Id root = e.g.make(Op::MAX, DType::index, {e.g.sym("n"), e.g.sym("m")});
  try {
    e.engine.run(root);
    FAIL();
  } catch (const Diagnostic& d) {
    EXPECT_EQ(d.id(), "E-fuel");
    EXPECT_NE(std::string(d.what()).find("swap"), std::string::npos);
  }
}

TEST(RewriteEngine, WalkEntersNoReplacement) {
  static constexpr Rule rules[] = {{"wrap", "max(a, b)", "", "max(b, a) + 1"}};
  Engine e(rules, RewriteMode::walk);
  const Id n = e.g.sym("n"), m = e.g.sym("m"), p = e.g.sym("p");
  const auto largest = [&](Id a, Id b) { return e.g.make(Op::MAX, DType::index, {a, b}); };
  const auto more = [&](Id a) { return e.g.make(Op::ADD, DType::index, {a, e.g.index(1)}); };
  EXPECT_EQ(e.engine.run(largest(largest(n, m), p)), more(largest(p, more(largest(m, n)))));
}

// Bottom up, the inner minimum is gone before the outer one is visited.
TEST(RewriteEngine, TopDownTriesANodeBeforeItsSources) {
  static constexpr Rule rules[] = {{"outer", "min(min(a, b), c)", "", "c"}, {"inner", "min(a, b)", "", "a"}};
  const auto result = [&](RewriteMode mode) {
    Engine e(rules, mode);
    const Id inner = e.g.make(Op::MIN, DType::index, {e.g.sym("a"), e.g.sym("b")});
    return std::string(e.g.name(e.engine.run(e.g.make(Op::MIN, DType::index, {inner, e.g.sym("c")}))));
  };
  EXPECT_EQ(result(RewriteMode::top_down), "c");
  EXPECT_EQ(result(RewriteMode::bottom_up), "a");
}

// A commutative operation matches both ways, and a name that occurs twice is one node.
TEST(RewriteEngine, MatchesCommutativeOperationsBothWays) {
  static constexpr Rule rules[] = {{"absorb", "min(a, max(a, b))", "", "a"}};
  Engine e(rules);
  const Id a = e.g.sym("a"), b = e.g.sym("b"), c = e.g.sym("c");
  const auto inner = [&](Id x, Id y) { return e.g.make(Op::MAX, DType::index, {x, y}); };
  for (Id other : {inner(a, b), inner(b, a)})
    for (const auto& [x, y] : {std::pair{a, other}, std::pair{other, a}})
      EXPECT_EQ(e.engine.run(e.g.make(Op::MIN, DType::index, {x, y})), a);
  const Id stays = e.g.make(Op::MIN, DType::index, {c, inner(a, b)});
  EXPECT_EQ(e.engine.run(stays), stays);
}

TEST(RewriteEngine, AppliesARuleOnlyWhereItsGuardIsProven) {
  static constexpr Rule rules[] = {{"drop", "x % d", "0 <= x and x < d", "x"}};
  Engine e(rules);
  e.facts.syms["n"] = {0, 7, 1};
  const auto rest = [&](std::int64_t d) { return e.g.make(Op::FLOORMOD, DType::index, {e.g.sym("n"), e.g.index(d)}); };
  EXPECT_EQ(e.engine.run(rest(8)), e.g.sym("n"));
  EXPECT_EQ(e.engine.run(rest(7)), rest(7));
}

TEST(RewriteEngine, ObserverSeesEachRewriteWithItsSourceLine) {
  static constexpr Rule rules[] = {{"same", "min(x, x)", "", "x"}};
  Engine e(rules);
  e.g.set_loc({e.g.intern("a.cpp"), 12, 3});
  const Id n = e.g.sym("n"), root = e.g.make(Op::MIN, DType::index, {n, n});
  int seen = 0;
  e.engine.observe([&](const Rule& r, Id before, Id after) {
    ++seen;
    EXPECT_EQ(r.name, "same");
    EXPECT_EQ(before, root);
    EXPECT_EQ(after, n);
    EXPECT_EQ(e.g.loc(before).line, 12u);
  });
  e.engine.run(root);
  EXPECT_EQ(seen, 1);
}

}  // namespace
}  // namespace kiln::test
