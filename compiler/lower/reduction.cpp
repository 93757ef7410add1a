#include "compiler/lower/reduction.h"

#include <algorithm>

#include "compiler/lower/access.h"
#include "compiler/lower/index_vector.h"

namespace kiln::compiler {

bool contiguous_over(const Graph& g, std::span<const Id> values, Id range) {
  for (const Id id : g.reachable(values))
    if (g.op(id) == Op::LOAD && index_stride(g, index_of(g, id), range) == 1) return true;
  return false;
}

std::int64_t loads_apart(const Graph& g, std::span<const Id> values, Id range, std::int64_t most) {
  return std::ranges::count_if(g.reachable(values), [&](Id id) {
    const auto stride = g.op(id) == Op::LOAD ? index_stride(g, index_of(g, id), range) : 0;
    return !stride || *stride < 0 || *stride > most;
  });
}

std::vector<Id> factors(const Graph& g, const Reduction& r) {
  if (operands_of(r.kind) == 2) return r.values;
  if (r.kind == ReduceKind::sum && g.op(r.values[0]) == Op::MUL) return g.sources(r.values[0]);
  return {};
}

}  // namespace kiln::compiler
