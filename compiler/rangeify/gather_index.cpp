#include "compiler/rangeify/gather_index.h"

#include "compiler/rangeify/exact_index.h"
#include "compiler/rangeify/index_expr.h"

namespace kiln::compiler {
namespace {

Id index_of(Graph& g, Simplifier& simplify, Id integer) {
  ExactIndex exact(g, simplify);
  if (const Id index = exact(integer); index != no_id) return exact.uncut(index);
  const DType d = g.dtype(integer);
  // A u64 may be too large for an index. Then 2^62 replaces it, which is beyond every axis too.
  if (d == DType::u64) integer = g.make(Op::MIN, d, {integer, g.constant(d, std::uint64_t{1} << 62)});
  return g.make(Op::CAST, DType::index, {integer});
}

}  // namespace

GatherIndex gather_index(Graph& g, Simplifier& simplify, std::span<const Id> extents, std::span<const Id> integers,
                         const IndexMap& out) {
  GatherIndex result{{{}, out.gate}, no_id};
  for (std::size_t k = 0; k < integers.size(); ++k) {
    const Id n = extents[k], i = index_of(g, simplify, integers[k]);
    const Id zero = g.index(0);
    const Id nearest = index_max(g, index_min(g, i, index_sub(g, n, g.index(1))), zero);
    result.at.index.push_back(simplify(nearest));
    const Id there = simplify(index_less(g, zero, n));
    result.there = both(g, result.there, g.is_const(there) && g.value(there) != 0 ? no_id : there);
  }
  const std::size_t rest = extents.size() - integers.size();
  result.at.index.insert(result.at.index.end(), out.index.end() - static_cast<std::ptrdiff_t>(rest), out.index.end());
  result.at.gate = both(g, result.at.gate, result.there);
  return result;
}

}  // namespace kiln::compiler
