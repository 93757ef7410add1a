// Rules for choices. Branches may have any type in rules that do not compute with them.
#include "compiler/symbolic/find.h"

namespace kiln::compiler::symbolic {
namespace {

// A gated index keeps INVALID as its last operand. A gate that is always false stays, so that the user of the index still has a
// gate.
bool find_plain(RewriteContext& c, Id n, Op condition, Match& m) {
  const auto [p, a, b] = c.g.operands<3>(n);
  if (c.g.lanes(n) != 1 || c.g.op(p) != condition || c.g.op(b) == Op::INVALID) return false;
  if (condition == Op::NOT) return m.bind({c.g.operand(p), a, b});
  return is_false(c.g, p) && m.bind({a, b});
}
bool find_where_false(RewriteContext& c, Id n, Match& m) { return find_plain(c, n, Op::CONST, m); }
bool find_where_not(RewriteContext& c, Id n, Match& m) { return find_plain(c, n, Op::NOT, m); }

// Finds where(l < r, t, f) on index values if t - f equals l - r up to a constant of 0 or 1; for sign -1: r - l, 0 or -1.
bool find_extremum(RewriteContext& c, Id n, Match& m, std::int64_t sign) {
  const auto [p, t, f] = c.g.operands<3>(n);
  if (!is_index(c.g, n) || c.g.op(p) != Op::LT || !compares_index(c.g, p)) return false;
  const auto [l, r] = c.g.operands<2>(p);
  if (c.g.op(t) == Op::INVALID || c.g.op(f) == Op::INVALID) return false;
  const Poly *ls = c.sum(l), *rs = c.sum(r), *ts = c.sum(t), *fs = c.sum(f);
  if (ls == nullptr || rs == nullptr || ts == nullptr || fs == nullptr) return false;
  const auto of_condition = plus(c.g, *ls, *rs, -1), of_value = plus(c.g, *ts, *fs, -1);
  const auto diff = of_condition && of_value ? plus(c.g, *of_value, *of_condition, -sign) : std::nullopt;
  const auto k = diff ? constant_of(*diff) : std::nullopt;
  return k && (*k == 0 || *k == sign) && m.bind({l, r, t, f});
}
bool find_where_min(RewriteContext& c, Id n, Match& m) { return find_extremum(c, n, m, 1); }
bool find_where_max(RewriteContext& c, Id n, Match& m) { return find_extremum(c, n, m, -1); }

// Finds a branch that becomes simpler under the condition.
bool find_branch(RewriteContext& c, Id n, bool holds, Match& m) {
  const auto [p, t, f] = c.g.operands<3>(n);
  const Id branch = holds ? t : f;
  if (c.g.lanes(n) != 1 || c.g.src(branch).empty()) return false;
  const Id u = c.branch_under(p, holds, branch);
  return u != branch && m.bind({p, t, f, u});
}
bool find_where_then(RewriteContext& c, Id n, Match& m) { return find_branch(c, n, true, m); }
bool find_where_else(RewriteContext& c, Id n, Match& m) { return find_branch(c, n, false, m); }

// Finds two choices by one condition under a minimum or maximum.
bool find_choices(RewriteContext& c, Id n, Match& m) {
  const auto [s, t] = c.g.operands<2>(n);
  if (!is_index(c.g, n) || !is_plain_choice(c.g, s) || !is_plain_choice(c.g, t)) return false;
  const auto [p, a, b] = c.g.operands<3>(s);
  const auto [q, x, y] = c.g.operands<3>(t);
  return p == q && m.bind({p, a, b, x, y});
}

// The same, with one of the choices inside a nested minimum or maximum.
bool find_inner_choices(RewriteContext& c, Id n, Match& m) {
  const auto [inner, t] = c.g.operands<2>(n);
  if (!is_index(c.g, n) || c.g.op(inner) != c.g.op(n) || !is_plain_choice(c.g, t)) return false;
  const auto [q, x, y] = c.g.operands<3>(t);
  const auto [left, right] = c.g.operands<2>(inner);
  for (const auto& [z, s] : {std::pair(left, right), std::pair(right, left)}) {
    if (!is_plain_choice(c.g, s)) continue;
    const auto [p, a, b] = c.g.operands<3>(s);
    if (p == q) return m.bind({z, p, a, b, x, y});
  }
  return false;
}

constexpr Rule where_table[] = {
    {"where-true", "where(True, a, b)", "", "a"},
    {"where-false", "where(False, a, b)", "", "b", find_where_false},
    {"where-same", "where(p, a, a)", "", "a"},
    {"where-not", "where(not p, a, b)", "", "where(p, b, a)", find_where_not},
    {"where-bool", "where(p, True, False)", "", "p"},
    {"where-bool-not", "where(p, False, True)", "", "not p"},
    {"where-and", "where(p, where(q, a, b), b)", "", "where(p and q, a, b)"},
    {"where-or", "where(p, a, where(q, a, b))", "", "where(p or q, a, b)"},
    {"where-again", "where(p, where(p, a, b), c)", "", "where(p, a, c)"},
    {"where-again-else", "where(p, a, where(p, b, c))", "", "where(p, a, c)"},
    {"where-then", "where(p, t, f)", "not p or t == u", "where(p, u, f)", find_where_then},
    {"where-else", "where(p, t, f)", "p or f == u", "where(p, t, u)", find_where_else},
    {"where-min", "where(l < r, t, f)", "l - r <= t - f and t - f <= l - r + 1", "min(t, f)", find_where_min},
    {"where-max", "where(l < r, t, f)", "r - l - 1 <= t - f and t - f <= r - l", "max(t, f)", find_where_max},
    {"min-choices", "min(where(p, a, b), where(p, x, y))", "", "where(p, min(a, x), min(b, y))", find_choices},
    {"max-choices", "max(where(p, a, b), where(p, x, y))", "", "where(p, max(a, x), max(b, y))", find_choices},
    {"min-inner-choices", "min(min(z, where(p, a, b)), where(p, x, y))", "", "min(z, where(p, min(a, x), min(b, y)))",
     find_inner_choices},
    {"max-inner-choices", "max(max(z, where(p, a, b)), where(p, x, y))", "", "max(z, where(p, max(a, x), max(b, y)))",
     find_inner_choices},
};

}  // namespace

std::span<const Rule> where_rules() { return where_table; }

}  // namespace kiln::compiler::symbolic
