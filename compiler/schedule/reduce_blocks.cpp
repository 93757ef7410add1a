#include "compiler/schedule/reduce_blocks.h"

#include "compiler/ir/index_poly.h"
#include "compiler/ir/reduce_identity.h"

namespace kiln::compiler {

Id number_of_blocks(Graph& g, Id elements) {
  const Id size = g.index(reduce_block), more = index_add(g, elements, g.index(reduce_block - 1));
  return index_floordiv(g, more, size);
}

ReduceBlock reduce_block_at(Graph& g, Id elements, Id number) {
  const Id size = g.index(reduce_block), first = g.make(Op::MUL, DType::index, {number, size});
  const Id left = g.make(Op::SUB, DType::index, {elements, first});
  return {first, g.make(Op::MIN, DType::index, {left, size})};
}

std::vector<Id> values_at(Graph& g, Id reduce, Id position) {
  const std::size_t n = operands_of(g.reduce_kind(reduce));
  const std::vector<Id> src = g.sources(reduce);
  std::vector<Id> out;
  for (std::size_t i = 0; i < n; ++i) {
    const Id value = substitute(g, src[i], {{src[n], position}});
    const DType exact = accumulation_dtype(g.dtype(value));
    out.push_back(g.dtype(value) == exact ? value : g.make(Op::CAST, exact, {value}));
  }
  return out;
}

Id reduce_of_blocks(Graph& g, Id reduce, Id result, Id block) {
  // The result of a block of `dot` is a sum of products already, so the blocks are combined by sum.
  const ReduceKind kind = g.reduce_kind(reduce) == ReduceKind::dot ? ReduceKind::sum : g.reduce_kind(reduce);
  return as_result(g, reduce, g.make(Op::REDUCE, g.dtype(result), {result, block}, {kind, ReduceOrder::striped}));
}

Id as_result(Graph& g, Id reduce, Id value) {
  return g.dtype(reduce) == g.dtype(value) ? value : g.make(Op::CAST, g.dtype(reduce), {value});
}

}  // namespace kiln::compiler
