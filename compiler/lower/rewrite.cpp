#include "compiler/lower/rewrite.h"

#include <algorithm>

namespace kiln::compiler {

Id loop_of(const Graph& g, Id sink, Id range) {
  const std::vector<Id> nodes = g.reachable(sink);
  return *std::ranges::find_if(nodes, [&](Id id) { return g.op(id) == Op::FOR && g.range_of(id) == range; });
}

}  // namespace kiln::compiler
