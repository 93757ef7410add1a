#include "compiler/symbolic/integer_forms.h"

#include <algorithm>

#include "compiler/symbolic/linear.h"

namespace kiln::compiler {

Interval exact_values(DType d) {
  const Interval all = symbolic::known_dtype(d).interval;
  return {std::max(all.min, -exact_limit), std::min(all.max, exact_limit)};
}

Id shift_form(Graph& g, Op op, Id x, Id count, int width, std::int64_t most_count) {
  const auto constant = symbolic::index_constant(g, count);
  const std::int64_t low = constant ? *constant & (width - 1) : 0;
  if (!constant || low > most_count) return no_id;
  return g.make(op == Op::SHL ? Op::MUL : Op::FLOORDIV, DType::index, {x, g.index(std::int64_t{1} << low)});
}

Id quotient_form(Graph& g, Bounds& bounds, Op op, Id x, Id d) {
  if (bounds(x).min < 0 || bounds(d).min < 0) return no_id;
  return g.make(op == Op::CDIV ? Op::FLOORDIV : Op::FLOORMOD, DType::index, {x, d});
}

}  // namespace kiln::compiler
