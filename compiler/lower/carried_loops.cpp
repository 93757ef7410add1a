#include "compiler/lower/carried_loops.h"

namespace kiln::compiler {

CarriedLoops open_loops(Graph& g, RangeIds& loops, const Reduction& r, std::vector<Id> init) {
  CarriedLoops n;
  n.carries = std::move(init);
  for (const Id old : r.ranges) {
    const Id range = loops.range(g, g.end(old), RangeKind::reduce);
    n.copy.values[old] = range;
    n.ranges.push_back(range);
    n.inits.push_back(n.carries);
    for (std::size_t i = 0; i < n.carries.size(); ++i)
      n.carries[i] = g.make(Op::CARRY, g.dtype(n.carries[i]), {range, n.carries[i]}, {i});
  }
  return n;
}

std::vector<Id> close_loops(Graph& g, const CarriedLoops& n, std::vector<Id> yields) {
  for (std::size_t l = n.ranges.size(); l-- > 0;) {
    std::vector<Id> s = {n.ranges[l], g.index(0), g.end(n.ranges[l])};
    s.insert(s.end(), n.inits[l].begin(), n.inits[l].end());
    s.insert(s.end(), yields.begin(), yields.end());
    const Id loop = g.make(Op::FOR, DType::none, s, {yields.size(), 1});
    for (std::size_t i = 0; i < yields.size(); ++i) yields[i] = g.make(Op::GET, g.dtype(yields[i]), {loop}, {i});
  }
  return yields;
}

}  // namespace kiln::compiler
