// Rules for comparisons of index values. A comparison is matched up to the distribution of terms on its two sides.
#include "compiler/index/floor_div.h"
#include "compiler/symbolic/find.h"

namespace kiln::compiler::symbolic {
namespace {

// A comparison in the form `variables op limit`.
struct Limit {
  Poly variables;
  std::int64_t limit = 0;
};
std::optional<Limit> limit_of(RewriteContext& c, Id n) {
  if (!compares_index(c.g, n)) return std::nullopt;
  const auto [left, right] = c.g.operands<2>(n);
  const Poly *a = c.sum(left), *b = c.sum(right);
  auto d = a != nullptr && b != nullptr ? plus(c.g, *a, *b, -1) : std::nullopt;
  if (!d) return std::nullopt;
  const std::int64_t k = constant_term(*d);
  if (k < -unbounded || k > unbounded) return std::nullopt;
  if (k != 0) d->pop_back();
  return Limit{*std::move(d), -k};
}

// Positive terms are on the left, negative terms on the right. The constant is on the side without other terms, else on the
// side on which it is positive.
struct Sides {
  Poly left, right;
};
Sides sides(const Limit& l) {
  Sides s;
  for (Monomial t : l.variables) {
    const bool negative = t.coefficient < 0;
    if (negative) t.coefficient = -t.coefficient;
    (negative ? s.right : s.left).push_back(std::move(t));
  }
  const bool on_the_right = l.limit > 0 ? !s.left.empty() || s.right.empty() : s.right.empty() && !s.left.empty();
  if (l.limit != 0) (on_the_right ? s.right : s.left).push_back({on_the_right ? l.limit : -l.limit, {}});
  return s;
}

bool find_lt_canonical(RewriteContext& c, Id n, Match& m) {
  const auto l = limit_of(c, n);
  if (!l) return false;
  const Sides s = sides(*l);
  const Id left = c.node(s.left), right = c.node(s.right);
  const auto [a, b] = c.g.operands<2>(n);
  return (left != a || right != b) && m.bind({a, b, left, right});
}

std::int64_t gcd_of(const Poly& s) {
  std::int64_t g = 0;
  for (const Monomial& t : s) g = std::gcd(g, t.coefficient);
  return g;
}

bool find_lt_in_range(RewriteContext& c, Id n, Match& m) {
  const auto l = limit_of(c, n);
  if (!l) return false;
  for (const Monomial& lead : l->variables) {
    const std::int64_t g = lead.coefficient < 0 ? -lead.coefficient : lead.coefficient;
    const std::int64_t all = gcd_of(l->variables), by = all > 1 ? all : g;
    if (by <= 1) continue;
    Poly big, small;
    for (const Monomial& t : l->variables) (t.coefficient % by == 0 ? big : small).push_back(t);
    const Interval i = sub({l->limit, l->limit}, interval_of(c.bounds, small));
    if (i.min == -unbounded || i.max == unbounded || ceil_div(i.min, by) != ceil_div(i.max, by)) continue;
    const Poly x = exactly_divided(big, by);
    return m.bind({c.g.index(by), c.node(x), c.node(small), c.g.index(l->limit), c.g.index(ceil_div(i.min, by))});
  }
  return false;
}

// Finds a quotient x // d with coefficient `sign`; c is the rest of the comparison.
bool find_division(RewriteContext& ctx, Id n, Match& m, std::int64_t sign) {
  const auto l = limit_of(ctx, n);
  if (!l || l->variables.size() > 4) return false;
  for (const Monomial& t : l->variables) {
    if (t.coefficient != sign || t.atoms.size() != 1 || ctx.g.op(t.atoms[0]) != Op::FLOORDIV) continue;
    const Id q = t.atoms[0];
    const auto others = plus(ctx.g, l->variables, Poly{t}, -1);
    auto c = others ? scaled(*others, -sign) : std::nullopt;
    if (c) c = plus(ctx.g, *c, constant_sum(l->limit), sign);
    const bool simple =
        c && std::ranges::none_of(*c, [&](const Monomial& u) {
          return std::ranges::any_of(u.atoms, [&](Id a) { return ctx.g.op(a) != Op::SYM && ctx.g.op(a) != Op::RANGE; });
        });
    if (!simple) continue;
    const auto [x, d] = ctx.g.operands<2>(q);
    const Id other = ctx.node(*c);
    return sign > 0 ? m.bind({x, d, other}) : m.bind({other, x, d});
  }
  return false;
}
bool find_lt_division(RewriteContext& c, Id n, Match& m) { return find_division(c, n, m, 1); }
bool find_gt_division(RewriteContext& c, Id n, Match& m) { return find_division(c, n, m, -1); }

// Finds a positive factor of one term in a test for a positive sum of non-negative terms, where the factor does not matter.
bool find_simplex(RewriteContext& c, Id n, Match& m, std::int64_t sign) {
  const auto l = limit_of(c, n);
  if (!l || l->limit != (sign > 0 ? 1 : 0)) return false;
  for (const Monomial& t : l->variables) {
    if ((sign > 0 ? t.coefficient < 2 : t.coefficient > -2) || t.coefficient == INT64_MIN) continue;
    Monomial x = t;
    x.coefficient = 1;
    const auto rest = plus(c.g, l->variables, Poly{t}, -1);
    const auto s = rest ? scaled(*rest, sign) : std::nullopt;
    return s && !s->empty() && m.bind({c.g.index(t.coefficient * sign), c.node(Poly{x}), c.node(*s)});
  }
  return false;
}
bool find_lt_simplex(RewriteContext& c, Id n, Match& m) { return find_simplex(c, n, m, 1); }
bool find_gt_simplex(RewriteContext& c, Id n, Match& m) { return find_simplex(c, n, m, -1); }

bool find_indivisible(RewriteContext& c, Id n, Match& m) {
  const auto l = limit_of(c, n);
  if (!l || l->variables.empty()) return false;
  const std::int64_t g = gcd_of(l->variables);
  return g > 1 && m.bind({c.g.index(g), c.node(exactly_divided(l->variables, g)), c.g.index(l->limit)});
}

bool find_equality(RewriteContext& c, Id n, Match& m) {
  auto l = limit_of(c, n);
  if (!l || l->variables.empty()) return false;
  const std::int64_t g = gcd_of(l->variables) * (l->variables.front().coefficient < 0 ? -1 : 1);
  if (l->limit % g != 0) return false;
  const Sides s = sides({exactly_divided(l->variables, g), l->limit / g});
  const Id left = c.node(s.left), right = c.node(s.right);
  const auto [a, b] = c.g.operands<2>(n);
  return (left != a || right != b) && m.bind({a, b, c.g.index(g), left, right});
}

constexpr Rule compare_table[] = {
    {"le-lt", "a <= b", "", "a < b + 1"},
    {"lt-canonical", "a < b", "l - r == a - b", "l < r", find_lt_canonical},
    {"lt-true", "a < b", "a < b", "True"},
    {"lt-false", "a < b", "b <= a", "False"},
    {"lt-of-max", "max(x, a) < b", "a < b", "x < b"},
    {"lt-of-min", "min(x, a) < b", "b <= a", "x < b"},
    {"gt-of-max", "b < max(x, a)", "a <= b", "b < x"},
    {"gt-of-min", "b < min(x, a)", "b < a", "b < x"},
    {"lt-in-range", "g * x + p < c", "g > 0 and g * (k - 1) < c - p and c - p <= g * k", "x < k", find_lt_in_range},
    {"lt-division", "x // d < c", "d > 0", "x < c * d", find_lt_division},
    {"gt-division", "c < x // d", "d > 0", "(c + 1) * d - 1 < x", find_gt_division},
    {"lt-simplex", "k * x + s < 1", "k > 0 and x >= 0 and s >= 0", "x + s < 1", find_lt_simplex},
    {"gt-simplex", "0 < k * x + s", "k > 0 and x >= 0 and s >= 0", "0 < x + s", find_gt_simplex},
    {"eq-canonical", "a == b", "g != 0 and g * (l - r) == a - b", "l == r", find_equality},
    {"ne-canonical", "a != b", "g != 0 and g * (l - r) == a - b", "l != r", find_equality},
    {"eq-true", "a == b", "a == b", "True"},
    {"ne-false", "a != b", "a == b", "False"},
    {"eq-false", "a == b", "a != b", "False"},
    {"ne-true", "a != b", "a != b", "True"},
    {"eq-indivisible", "g * x == c", "c % g != 0", "False", find_indivisible},
    {"ne-indivisible", "g * x != c", "c % g != 0", "True", find_indivisible},
};

}  // namespace

std::span<const Rule> compare_rules() { return compare_table; }

}  // namespace kiln::compiler::symbolic
