// Closed forms of reductions over conditions on indices. Each is compared with the loop for every point of a small box of
// extents and bounds, including empty ranges and negative bounds.
#include <gtest/gtest.h>

#include "compiler/ir/reduce_identity.h"
#include "compiler/rangeify/collapse.h"

namespace kiln::compiler {
namespace {

struct Point {
  std::int64_t n, a, b;
};

class Collapse : public ::testing::Test {
 protected:
  Collapse() {
    facts_.syms["N"] = {0, 6, 1};
    facts_.syms["A"] = facts_.syms["B"] = {-4, 11, 1};
  }

  Id index(Op op, Id x, Id y) { return g_.make(op, DType::index, {x, y}); }
  Id test(Op op, Id x, Id y) { return g_.make(op, DType::boolean, {x, y}); }
  Id both(Op op, Id x, Id y) { return g_.make(op, DType::boolean, {x, y}); }
  Id negated(Id x) { return g_.make(Op::NOT, DType::boolean, {x}); }
  Id times(std::int64_t k, Id x) { return index(Op::MUL, x, g_.index(k)); }

  std::int64_t at(Id id, const Point& p, std::int64_t r) {
    Id now = substitute(g_, id, {{n_, g_.index(p.n)}, {a_, g_.index(p.a)}, {b_, g_.index(p.b)}});
    if (r >= 0) now = substitute(g_, id, {{r_, g_.index(r)}, {n_, g_.index(p.n)}, {a_, g_.index(p.a)}, {b_, g_.index(p.b)}});
    now = simplify(g_, now, facts_);
    EXPECT_TRUE(g_.is_const(now));
    return g_.is_const(now) ? g_.arg(now, 0) : -1000;
  }

  // The reduction of the condition must collapse, to its value at every point. Sums count in i64.
  void check(ReduceKind kind, Id condition) {
    const bool sum = kind == ReduceKind::sum;
    const DType d = sum ? DType::i64 : DType::boolean;
    const Id value = sum ? g_.make(Op::CAST, d, {condition}) : condition;
    const Id reduce = g_.make(Op::REDUCE, d, {value, r_}, {static_cast<std::int64_t>(kind), 0});
    Simplifier simplifier(g_, facts_);
    Id now = collapsed(g_, simplifier, reduce);
    ASSERT_NE(now, reduce);
    if (g_.op(now) == Op::CAST) now = g_.src(now, 0);
    for (std::int64_t n = 0; n <= 6; ++n)
      for (std::int64_t a = -4; a <= 11; ++a)
        for (std::int64_t b = -4; b <= 11; b += a % 3 == 0 ? 1 : 4) {
          const Point p{n, a, b};
          std::int64_t count = 0;
          for (std::int64_t r = 0; r < n; ++r) count += at(condition, p, r);
          const std::int64_t expected = sum ? count : kind == ReduceKind::any ? count > 0 : count == n;
          ASSERT_EQ(at(now, p, -1), expected) << "N " << n << " A " << a << " B " << b;
        }
  }
  void check(Id condition) {
    for (const ReduceKind kind : {ReduceKind::sum, ReduceKind::any, ReduceKind::all}) check(kind, condition);
  }

  Graph g_;
  Facts facts_;
  Id n_ = g_.sym("N"), a_ = g_.sym("A"), b_ = g_.sym("B");
  Id r_ = g_.make(Op::RANGE, DType::index, {n_}, {0, static_cast<std::int64_t>(RangeKind::reduce)});
};

TEST_F(Collapse, LowerAndUpperBounds) {
  for (const Op op : {Op::LT, Op::LE, Op::EQ, Op::NE}) {
    check(test(op, r_, a_));
    check(test(op, a_, r_));
    check(negated(test(op, r_, a_)));
  }
}

TEST_F(Collapse, ScaledAndShiftedPositions) {
  for (const std::int64_t k : {-3, -2, -1, 2, 3})
    for (const Op op : {Op::LT, Op::LE, Op::EQ}) check(ReduceKind::sum, test(op, times(k, index(Op::SUB, r_, b_)), a_));
}

TEST_F(Collapse, TwoSidedAndJoined) {
  const Id from = test(Op::LE, a_, r_), until = test(Op::LT, r_, b_), here = test(Op::EQ, r_, a_);
  for (const Op op : {Op::AND, Op::OR}) {
    check(both(op, from, until));
    check(both(op, negated(from), until));
    check(both(op, here, until));
    check(both(op, negated(here), until));
    check(both(op, test(Op::LT, a_, b_), from));  // a condition that does not depend on the range
    check(negated(both(op, from, until)));
  }
}

// The identity if the range is empty, else the value.
TEST_F(Collapse, ExtremaOfNothing) {
  for (const ReduceKind kind : {ReduceKind::max, ReduceKind::min}) {
    const Id value = g_.constant(DType::i32, 5);
    const Id reduce = g_.make(Op::REDUCE, DType::i32, {value, r_}, {static_cast<std::int64_t>(kind), 0});
    Simplifier simplifier(g_, facts_);
    const Id now = collapsed(g_, simplifier, reduce);
    EXPECT_EQ(at(now, {3, 0, 0}, -1), 5);
    EXPECT_EQ(static_cast<std::uint64_t>(at(now, {0, 0, 0}, -1)), reduce_identity(kind, DType::i32));
  }
}

}  // namespace
}  // namespace kiln::compiler
