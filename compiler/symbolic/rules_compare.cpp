#include <numeric>

#include "compiler/symbolic/prover.h"
#include "compiler/symbolic/rules.h"

namespace kiln::compiler::symbolic {
namespace {

// a < b as variables < limit.
struct Less {
  Sum variables;
  std::int64_t limit = 0;
  bool valid = false;
};
Less less_of(const Graph& g, Id n) {
  if (!compares_index(g, n)) return {};
  const auto a = sum_of(g, g.src(n, 0)), b = sum_of(g, g.src(n, 1));
  auto d = a && b ? plus(g, *a, *b, -1) : std::nullopt;
  if (!d) return {};
  const std::int64_t k = constant_term(*d);
  if (k == INT64_MIN) return {};
  if (k != 0) d->pop_back();
  return {*std::move(d), -k, true};
}

// Positive terms on the left, negative ones on the right, the constant where it is positive.
Id comparison(RewriteContext& c, Op op, const Sum& variables, std::int64_t limit) {
  Sum left, right;
  for (Term t : variables) {
    const bool negative = t.coefficient < 0;
    if (negative) t.coefficient = -t.coefficient;
    (negative ? right : left).push_back(std::move(t));
  }
  if (limit > 0) right.push_back({limit, {}});
  if (limit < 0) left.push_back({-limit, {}});
  return c.g.make(op, DType::boolean, {node_of(c.g, left), node_of(c.g, right)});
}

Id fold_by_bounds(RewriteContext& c, Id n) {
  if (!compares_index(c.g, n)) return no_id;
  const Interval i = c.bounds(n);
  return i.single() ? truth(c.g, i.min != 0) : no_id;
}

Id le_to_lt(RewriteContext& c, Id n) {
  if (!compares_index(c.g, n)) return no_id;
  return c.g.make(Op::LT, DType::boolean, {c.g.src(n, 0), make(c.g, Op::ADD, c.g.src(n, 1), c.g.index(1))});
}

Id lt_proven(RewriteContext& c, Id n) {
  const Less l = less_of(c.g, n);
  if (!l.valid) return no_id;
  const Id context[] = {c.g.src(n, 0), c.g.src(n, 1)};
  Prover prover(c.g, c.bounds, context);
  if (prover.lt(l.variables, constant_sum(l.limit))) return truth(c.g, true);
  const auto over = plus(c.g, l.variables, constant_sum(l.limit), -1);
  return over && prover.ge0(*over) ? truth(c.g, false) : no_id;
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }

std::int64_t gcd_of(const Sum& s) {
  std::int64_t g = 0;
  for (const Term& t : s)
    if (!t.atoms.empty()) g = std::gcd(g, t.coefficient);
  return g;
}
Sum exactly_divided(Sum s, std::int64_t by) {
  for (Term& t : s) t.coefficient /= by;
  return s;
}

// g*x < c: x < ceil(c / g)
Id lt_common_factor(RewriteContext& c, Id n) {
  const Less l = less_of(c.g, n);
  const std::int64_t g = gcd_of(l.variables);
  if (!l.valid || g <= 1 || l.limit < -unbounded) return no_id;
  return comparison(c, Op::LT, exactly_divided(l.variables, g), ceil_div(l.limit, g));
}

// g*x + p < c, where (c - p) / g rounds up to the same k for every p: x < k
Id lt_small_terms(RewriteContext& c, Id n) {
  const Less l = less_of(c.g, n);
  if (!l.valid || l.limit < -unbounded || l.limit > unbounded) return no_id;
  for (const Term& lead : l.variables) {
    const std::int64_t g = lead.coefficient < 0 ? -lead.coefficient : lead.coefficient;
    if (g <= 1) continue;
    Sum big, small;
    for (const Term& t : l.variables) (t.coefficient % g == 0 ? big : small).push_back(t);
    if (small.empty()) continue;
    const Interval i = sub({l.limit, l.limit}, interval_of(c.bounds, small));
    if (i.min == -unbounded || i.max == unbounded || ceil_div(i.min, g) != ceil_div(i.max, g)) continue;
    return comparison(c, Op::LT, exactly_divided(big, g), ceil_div(i.min, g));
  }
  return no_id;
}

// x // d < c: x < c*d;  -(x // d) < c: -x < (c - 1)*d + 1
Id lt_division(RewriteContext& c, Id n) {
  const Less l = less_of(c.g, n);
  if (!l.valid || l.variables.size() != 1 || l.variables[0].atoms.size() != 1) return no_id;
  const Term& t = l.variables.front();
  const Id q = t.atoms.front();
  if ((t.coefficient != 1 && t.coefficient != -1) || c.g.op(q) != Op::FLOORDIV) return no_id;
  const auto d = index_constant(c.g, c.g.src(q, 1));
  const auto x = sum_of(c.g, c.g.src(q, 0));
  std::int64_t limit = 0;
  if (!d || *d <= 0 || !x || l.limit < -unbounded) return no_id;
  if (__builtin_mul_overflow(t.coefficient > 0 ? l.limit : l.limit - 1, *d, &limit)) return no_id;
  if (t.coefficient < 0 && __builtin_add_overflow(limit, 1, &limit)) return no_id;
  auto signed_x = scaled(*x, t.coefficient);
  if (!signed_x) return no_id;
  const std::int64_t k = constant_term(*signed_x);
  if (k != 0) signed_x->pop_back();
  if (__builtin_sub_overflow(limit, k, &limit)) return no_id;
  return comparison(c, Op::LT, *signed_x, limit);
}

Id lt_canonical(RewriteContext& c, Id n) {
  const Less l = less_of(c.g, n);
  return l.valid && l.limit != INT64_MIN ? comparison(c, Op::LT, l.variables, l.limit) : no_id;
}

Id equality_proven(RewriteContext& c, Id n) {
  const Less l = less_of(c.g, n);
  if (!l.valid) return no_id;
  const bool ne = c.g.op(n) == Op::NE;
  if (l.variables.empty()) return truth(c.g, (l.limit == 0) != ne);
  if (const std::int64_t g = gcd_of(l.variables); l.limit % g != 0) return truth(c.g, ne);
  const Id context[] = {c.g.src(n, 0), c.g.src(n, 1)};
  Prover prover(c.g, c.bounds, context);
  const Sum limit = constant_sum(l.limit);
  return prover.lt(l.variables, limit) || prover.lt(limit, l.variables) ? truth(c.g, ne) : no_id;
}

Id equality_canonical(RewriteContext& c, Id n) {
  Less l = less_of(c.g, n);
  if (!l.valid || l.variables.empty() || l.limit == INT64_MIN) return no_id;
  const std::int64_t g = gcd_of(l.variables) * (l.variables.front().coefficient < 0 ? -1 : 1);
  if (l.limit % g != 0) return no_id;
  return comparison(c, c.g.op(n), exactly_divided(l.variables, g), l.limit / g);
}

constexpr Rule rules[] = {
    {"lt-bounds", Op::LT, fold_by_bounds},
    {"le-bounds", Op::LE, fold_by_bounds},
    {"eq-bounds", Op::EQ, fold_by_bounds},
    {"ne-bounds", Op::NE, fold_by_bounds},
    {"le-lt", Op::LE, le_to_lt},
    {"lt-proven", Op::LT, lt_proven},
    {"lt-common-factor", Op::LT, lt_common_factor},
    {"lt-small-terms", Op::LT, lt_small_terms},
    {"lt-division", Op::LT, lt_division},
    {"lt-canonical", Op::LT, lt_canonical},
    {"eq-proven", Op::EQ, equality_proven},
    {"ne-proven", Op::NE, equality_proven},
    {"eq-canonical", Op::EQ, equality_canonical},
    {"ne-canonical", Op::NE, equality_canonical},
};

}  // namespace

std::span<const Rule> compare_rules() { return rules; }

}  // namespace kiln::compiler::symbolic
