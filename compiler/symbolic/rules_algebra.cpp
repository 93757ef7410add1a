#include <algorithm>

#include "compiler/symbolic/prover.h"
#include "compiler/symbolic/rules.h"

namespace kiln::compiler::symbolic {
namespace {

Id fold_by_bounds(RewriteContext& c, Id n) {
  if (!is_index(c.g, n)) return no_id;
  const Interval i = c.bounds(n);
  return i.single() ? c.g.index(i.min) : no_id;
}

Id multiply_out(RewriteContext& c, Id n) {
  if (!is_index(c.g, n)) return no_id;
  const auto s = sum_of(c.g, n);
  return s ? node_of(c.g, *s) : no_id;
}

// min(a, b) = a when a <= b.
Id extremum_of_ordered(RewriteContext& c, Id n) {
  if (!is_index(c.g, n)) return no_id;
  const Id a = c.g.src(n, 0), b = c.g.src(n, 1);
  if (a == b) return a;
  const auto x = sum_of(c.g, a), y = sum_of(c.g, b);
  if (!x || !y) return no_id;
  const Id context[] = {n};
  Prover prover(c.g, c.bounds, context);
  const auto y_minus_x = plus(c.g, *y, *x, -1), x_minus_y = plus(c.g, *x, *y, -1);
  const bool is_min = c.g.op(n) == Op::MIN;
  if (y_minus_x && prover.ge0(*y_minus_x)) return is_min ? a : b;
  if (x_minus_y && prover.ge0(*x_minus_y)) return is_min ? b : a;
  return no_id;
}

Id order_operands(RewriteContext& c, Id n) {
  if (!is_index(c.g, n)) return no_id;
  const Id a = c.g.src(n, 0), b = c.g.src(n, 1);
  if (is_index_const(c.g, b) || !(is_index_const(c.g, a) || c.g[b].hash < c.g[a].hash)) return no_id;
  return make(c.g, c.g.op(n), b, a);
}

// min(min(x, c1), c2)
Id extremum_of_constants(RewriteContext& c, Id n) {
  const Id a = c.g.src(n, 0);
  const auto k = index_constant(c.g, c.g.src(n, 1));
  if (!k || c.g.op(a) != c.g.op(n)) return no_id;
  const auto inner = index_constant(c.g, c.g.src(a, 1));
  if (!inner) return no_id;
  return make(c.g, c.g.op(n), c.g.src(a, 0), c.g.index(c.g.op(n) == Op::MIN ? std::min(*k, *inner) : std::max(*k, *inner)));
}

Id truncating_to_floor(RewriteContext& c, Id n) {
  if (!is_index(c.g, n) || c.bounds(c.g.src(n, 0)).min < 0 || c.bounds(c.g.src(n, 1)).min < 0) return no_id;
  return make(c.g, c.g.op(n) == Op::CDIV ? Op::FLOORDIV : Op::FLOORMOD, c.g.src(n, 0), c.g.src(n, 1));
}

Id abs_of_signed(RewriteContext& c, Id n) {
  if (!is_index(c.g, n)) return no_id;
  const Id a = c.g.src(n, 0);
  const Interval i = c.bounds(a);
  if (i.min >= 0) return a;
  return i.max <= 0 ? make(c.g, Op::MUL, a, c.g.index(-1)) : no_id;
}

// Of any dtype: choosing a branch changes no value. A gate that never opens stays, so that its user still sees a gate.
Id where_of_constant(RewriteContext& c, Id n) {
  if (c.g.lanes(n) != 1) return no_id;
  const Id cond = c.g.src(n, 0);
  if (is_true(c.g, cond)) return c.g.src(n, 1);
  return is_false(c.g, cond) && c.g.op(c.g.src(n, 2)) != Op::INVALID ? c.g.src(n, 2) : no_id;
}
Id where_of_same(RewriteContext& c, Id n) { return c.g.src(n, 1) == c.g.src(n, 2) ? c.g.src(n, 1) : no_id; }

// where(not x, a, b) = where(x, b, a); a gated index keeps its INVALID last.
Id where_of_not(RewriteContext& c, Id n) {
  const Id cond = c.g.src(n, 0);
  if (c.g.lanes(n) != 1 || c.g.op(cond) != Op::NOT || c.g.op(c.g.src(n, 2)) == Op::INVALID) return no_id;
  return c.g.make(Op::WHERE, c.g.dtype(n), {c.g.src(cond, 0), c.g.src(n, 2), c.g.src(n, 1)});
}

Id where_to_bool(RewriteContext& c, Id n) {
  if (!is_bool(c.g, n)) return no_id;
  const Id cond = c.g.src(n, 0), a = c.g.src(n, 1), b = c.g.src(n, 2);
  if (is_true(c.g, a) && is_false(c.g, b)) return cond;
  if (is_false(c.g, a) && is_true(c.g, b)) return c.g.make(Op::NOT, DType::boolean, {cond});
  return no_id;
}

// where(a, where(b, x, y), y) = where(a and b, x, y)
Id where_of_where(RewriteContext& c, Id n) {
  const Id a = c.g.src(n, 1), y = c.g.src(n, 2);
  if (!is_index(c.g, n) || c.g.op(a) != Op::WHERE || c.g.src(a, 2) != y) return no_id;
  const Id inner = c.g.src(a, 0), x = c.g.src(a, 1), outer = c.g.src(n, 0);
  const Id both = c.g.make(Op::AND, DType::boolean, {outer, inner});
  return c.g.make(Op::WHERE, DType::index, {both, x, y});
}

constexpr Rule rules[] = {
    {"product-multiply-out", Op::MUL, multiply_out},
    {"min-bounds", Op::MIN, fold_by_bounds},
    {"max-bounds", Op::MAX, fold_by_bounds},
    {"min-ordered", Op::MIN, extremum_of_ordered},
    {"max-ordered", Op::MAX, extremum_of_ordered},
    {"min-operands", Op::MIN, order_operands},
    {"max-operands", Op::MAX, order_operands},
    {"min-constants", Op::MIN, extremum_of_constants},
    {"max-constants", Op::MAX, extremum_of_constants},
    {"cdiv-floor", Op::CDIV, truncating_to_floor},
    {"cmod-floor", Op::CMOD, truncating_to_floor},
    {"abs-signed", Op::ABS, abs_of_signed},
    {"where-constant", Op::WHERE, where_of_constant},
    {"where-same", Op::WHERE, where_of_same},
    {"where-not", Op::WHERE, where_of_not},
    {"where-bool", Op::WHERE, where_to_bool},
    {"where-where", Op::WHERE, where_of_where},
};

}  // namespace

std::span<const Rule> algebra_rules() { return rules; }

}  // namespace kiln::compiler::symbolic
