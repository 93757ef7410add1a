// Index arithmetic with symbols that are declared multiples: values are kept, and equal sums are one node.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "compiler/index/floor_div.h"
#include "compiler/ir/index_multiples.h"
#include "compiler/ir/index_operation.h"
#include "compiler/ir/index_poly.h"

namespace kiln::compiler {
namespace {

struct Sample : ::testing::Test {
  Graph g;
  Id e, f, n;
  Sample() {
    g.set_multiple("E", 8);
    g.set_multiple("F", 6);
    e = g.sym("E"), f = g.sym("F"), n = g.sym("N");
  }
  Id c(std::int64_t v) { return g.index(v); }
  Id times(Id a, std::int64_t k) { return index_mul(g, a, c(k)); }
  Id part(Id a, std::int64_t d) { return index_floordiv(g, a, c(d)); }
  std::string text(Id id) const { return index_text_or_id(g, id); }
};

TEST_F(Sample, QuotientsAreExact) {
  EXPECT_EQ(times(part(e, 2), 2), e);
  EXPECT_EQ(times(part(e, 8), 8), e);
  EXPECT_EQ(text(times(part(n, 2), 2)), "2*((N) // (2))");
  EXPECT_EQ(text(times(part(e, 16), 16)), "16*((E) // (16))");
  EXPECT_EQ(index_sub(g, e, part(e, 2)), part(e, 2));
  EXPECT_EQ(text(index_add(g, e, part(e, 2))), "3*((E) // (2))");
  EXPECT_EQ(part(times(e, 3), 2), times(part(e, 2), 3));
  EXPECT_EQ(index_floormod(g, e, c(4)), c(0));
  EXPECT_EQ(index_floormod(g, index_add(g, e, c(5)), c(4)), c(1));
  EXPECT_EQ(part(index_add(g, index_mul(g, e, f), c(47)), 48), part(index_mul(g, e, f), 48));
  EXPECT_EQ(index_mul(g, times(part(e, 4), 4), part(f, 3)), index_mul(g, e, part(f, 3)));
  EXPECT_EQ(times(index_mul(g, part(e, 8), part(f, 6)), 48), index_mul(g, e, f));
}

TEST_F(Sample, OverflowIsNoUnit) {
  g.set_multiple("B", std::int64_t{1} << 40);
  const Id b = g.sym("B");
  EXPECT_EQ(text(index_mul(g, b, b)), "B*B");
  EXPECT_EQ(text(index_add(g, index_mul(g, b, b), b)), "B*B + B");
}

// Sums and products of symbols and quotients in any order. Each is built from operands of the pool, with its values at points
// that satisfy the facts. The text reads back to the node.
TEST_F(Sample, RandomSumsKeepTheirValues) {
  const std::array<std::array<std::int64_t, 3>, 5> points{{{0, 0, 0}, {8, 6, 1}, {16, 30, 7}, {40, 12, 10}, {1048, 42, 5}}};
  struct Entry {
    Id id;
    std::array<std::int64_t, 5> values;
  };
  std::mt19937_64 random(1);
  const auto draw = [&](std::int64_t below) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(below)); };
  for (int round = 0; round < 2000; ++round) {
    std::vector<Entry> pool;
    for (const std::size_t s : {0u, 1u, 2u}) {
      Entry entry{s == 0 ? e : s == 1 ? f : n, {}};
      for (std::size_t p = 0; p < points.size(); ++p) entry.values[p] = points[p][s];
      pool.push_back(entry);
    }
    for (int step = 0; step < 12; ++step) {
      const Entry a = pool[static_cast<std::size_t>(draw(std::ssize(pool)))];
      const Entry b = pool[static_cast<std::size_t>(draw(std::ssize(pool)))];
      const std::int64_t k = 1 + draw(12);
      Entry made{};
      const auto set = [&](Op op, Id id, auto of_b) {
        made.id = id;
        for (std::size_t p = 0; p < points.size(); ++p) made.values[p] = *evaluate_index(op, a.values[p], of_b(p));
      };
      const auto by_k = [&](std::size_t) { return k; };
      const auto by_b = [&](std::size_t p) { return b.values[p]; };
      switch (draw(7)) {
        case 0: set(Op::ADD, index_add(g, a.id, b.id), by_b); break;
        case 1: set(Op::SUB, index_sub(g, a.id, b.id), by_b); break;
        case 2: set(Op::MUL, times(a.id, k), by_k); break;
        case 3: set(Op::ADD, index_add(g, a.id, c(k)), by_k); break;
        case 4: set(Op::FLOORMOD, index_floormod(g, a.id, c(k)), by_k); break;
        case 5:
          if (step > 4) continue;  // the values of longer products would not fit 64 bits
          set(Op::MUL, index_mul(g, a.id, b.id), by_b);
          break;
        default: set(Op::FLOORDIV, part(a.id, k), by_k); break;
      }
      pool.push_back(made);
      const std::map<std::string_view, std::size_t> names{{"E", 0}, {"F", 1}, {"N", 2}};
      for (std::size_t p = 0; p < points.size(); ++p) {
        std::map<Id, std::int64_t> value;
        for (const Id id : g.reachable(made.id)) {
          if (g.op(id) == Op::SYM)
            value[id] = points[p][names.at(g.name(id))];
          else if (g.op(id) == Op::CONST)
            value[id] = g.value(id);
          else
            value[id] = *evaluate_index(g.op(id), value.at(g.src(id, 0)), value.at(g.src(id, 1)));
        }
        ASSERT_EQ(value.at(made.id), made.values[p]) << text(made.id);
      }
      ASSERT_EQ(index_canonical(g, made.id), made.id) << text(made.id);
      ASSERT_TRUE(is_settled(g, poly_of(g, made.id))) << text(made.id);
    }
  }
}

// c1*(E // d1) + c2*(E // d2) + ..: the coefficient of E // 8 decides.
TEST_F(Sample, EqualSumsOfPartsAreOneNode) {
  std::mt19937_64 random(2);
  std::map<std::int64_t, Id> by_units;
  for (int round = 0; round < 5000; ++round) {
    Id sum = c(0);
    std::int64_t units = 0;
    for (int term = 0; term < 4; ++term) {
      const auto d = std::int64_t{1} << random() % 4;
      const auto k = static_cast<std::int64_t>(random() % 9) - 4;
      sum = index_add(g, sum, times(part(e, d), k));
      units += k * 8 / d;
    }
    const auto [at, is_new] = by_units.emplace(units, sum);
    ASSERT_EQ(at->second, sum) << text(sum) << " and " << text(at->second);
  }
  EXPECT_GT(by_units.size(), 50u);
}

}  // namespace
}  // namespace kiln::compiler
