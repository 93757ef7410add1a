// Rules for values that bounds determine, and for min, max, absolute values and divisions toward zero.
#include "compiler/symbolic/find.h"

namespace kiln::compiler::symbolic {
namespace {

bool find_known_value(RewriteContext& c, Id n, Match& m) {
  if (!is_index(c.g, n) || is_gated(c.g, n)) return false;
  const Interval i = c.bounds(n);
  return i.single() && m.bind({n, c.g.index(i.min)});
}

bool find_condition(RewriteContext& c, Id n, Match& m) { return is_bool(c.g, n) && m.bind({n}); }

// Sorts operands: a nested minimum or maximum first, a constant last.
bool find_order(RewriteContext& c, Id n, Match& m) {
  if (!is_index(c.g, n)) return false;
  const auto [a, b] = c.g.operands<2>(n);
  const auto rank = [&](Id id) { return c.g.op(id) == c.g.op(n) ? 0 : is_index_const(c.g, id) ? 2 : 1; };
  const bool swap = rank(a) != rank(b) ? rank(a) > rank(b) : c.g[b].hash < c.g[a].hash;
  return swap && m.bind({a, b});
}

// Finds a constant inside a nested operation, next to an outer operand that is not constant.
bool find_constant_last(RewriteContext& c, Id n, Match& m) {
  const auto [a, b] = c.g.operands<2>(n);
  if (!is_index(c.g, n) || c.g.op(a) != c.g.op(n) || is_index_const(c.g, b)) return false;
  const auto [x, k] = c.g.operands<2>(a);
  return is_index_const(c.g, k) && m.bind({x, k, b});
}

constexpr Rule algebra_table[] = {
    {"known-value", "x", "k <= x and x <= k", "k", find_known_value},
    {"known-true", "p", "not not p", "True", find_condition},
    {"known-false", "p", "not p", "False", find_condition},
    {"min-same", "min(x, x)", "", "x"},
    {"max-same", "max(x, x)", "", "x"},
    {"min-ordered", "min(a, b)", "a <= b", "a"},
    {"max-ordered", "max(a, b)", "a <= b", "b"},
    {"min-order", "min(a, b)", "", "min(b, a)", find_order},
    {"max-order", "max(a, b)", "", "max(b, a)", find_order},
    {"min-constant-last", "min(min(x, k), y)", "", "min(min(x, y), k)", find_constant_last},
    {"max-constant-last", "max(max(x, k), y)", "", "max(max(x, y), k)", find_constant_last},
    {"min-inner", "min(min(x, a), b)", "b <= a", "min(x, b)"},
    {"min-outer", "min(min(x, a), b)", "a <= b", "min(x, a)"},
    {"max-inner", "max(max(x, a), b)", "a <= b", "max(x, b)"},
    {"max-outer", "max(max(x, a), b)", "b <= a", "max(x, a)"},
    {"min-of-max", "min(max(x, a), b)", "b <= a", "b"},
    {"max-of-min", "max(min(x, a), b)", "a <= b", "b"},
    {"abs-positive", "abs(x)", "0 <= x", "x"},
    {"abs-negative", "abs(x)", "x <= 0", "-x"},
    {"cdiv-floor", "cdiv(x, d)", "0 <= x and 0 <= d", "x // d"},
    {"cdiv-both-negative", "cdiv(x, d)", "x <= 0 and d <= 0", "x // d"},
    {"cdiv-negative-dividend", "cdiv(x, d)", "x <= 0 and 0 <= d", "-(-x // d)"},
    {"cdiv-negative-divisor", "cdiv(x, d)", "0 <= x and d <= 0", "-(x // -d)"},
    {"cmod-floor", "cmod(x, d)", "0 <= x and 0 <= d", "x % d"},
    {"cmod-both-negative", "cmod(x, d)", "x <= 0 and d <= 0", "-(-x % -d)"},
    {"cmod-negative-dividend", "cmod(x, d)", "x <= 0 and 0 <= d", "-(-x % d)"},
    {"cmod-negative-divisor", "cmod(x, d)", "0 <= x and d <= 0", "x % -d"},
};

}  // namespace

std::span<const Rule> algebra_rules() { return algebra_table; }

}  // namespace kiln::compiler::symbolic
