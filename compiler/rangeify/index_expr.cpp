#include "compiler/rangeify/index_expr.h"

namespace kiln::compiler {
namespace {

Id compare(Graph& g, Op op, Id a, Id b) {
  const auto x = index_value(g, a), y = index_value(g, b);
  if (x && y) return g.constant(DType::boolean, (op == Op::LT ? *x < *y : *x <= *y) ? 1 : 0);
  return g.make(op, DType::boolean, {a, b});
}

}  // namespace

Id index_less(Graph& g, Id a, Id b) { return compare(g, Op::LT, a, b); }
Id index_less_equal(Graph& g, Id a, Id b) { return compare(g, Op::LE, a, b); }

Id both(Graph& g, Id a, Id b) {
  if (a == no_id || a == b) return b;
  if (b == no_id) return a;
  if (g.is_const(a)) return g.value(a) != 0 ? b : a;
  if (g.is_const(b)) return g.value(b) != 0 ? a : b;
  return g.make(Op::AND, DType::boolean, {a, b});
}

Id row_major(Graph& g, std::span<const Id> index, std::span<const Id> extents) {
  Id flat = g.index(0), stride = g.index(1);
  for (std::size_t k = index.size(); k-- > 0;) {
    flat = index_add(g, index_mul(g, index[k], stride), flat);
    stride = index_mul(g, stride, extents[k]);
  }
  return flat;
}

}  // namespace kiln::compiler
