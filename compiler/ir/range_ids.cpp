#include "compiler/ir/range_ids.h"

#include <algorithm>

namespace kiln::compiler {

RangeIds::RangeIds(const Graph& g, std::span<const Id> roots) {
  for (const Id id : g.reachable(roots))
    if (g.op(id) == Op::RANGE) next_ = std::max(next_, g.range_number(id) + 1);
}

Id RangeIds::range(Graph& g, Id end, RangeKind kind) { return g.range(end, next_++, kind); }

}  // namespace kiln::compiler
