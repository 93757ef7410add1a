// The reductions that matrix products and convolutions become at level K.
#pragma once

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// Whether a REDUCE of level K sums products of two operands: one after another by FMA, or two at a time by DOT2.
inline bool is_sum_of_products(const Graph& g, Id reduce) {
  const ReduceKind kind = g.reduce_kind(reduce);
  return kind == ReduceKind::fma || (kind == ReduceKind::sum && g.op(g.src(reduce, 0)) == Op::DOT2);
}

}  // namespace kiln::compiler
