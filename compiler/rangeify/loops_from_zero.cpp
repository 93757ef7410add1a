#include "compiler/rangeify/loops_from_zero.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/range_ids.h"
#include "compiler/ir/scopes.h"
#include "compiler/symbolic/bounds.h"

namespace kiln::compiler {
namespace {

// The first FOR whose begin may be negative; no_id: there is none. In its bounds no RANGE is negative, so a begin that depends
// on the counter of such a loop shows only after that loop has changed.
Id negative_loop(const Graph& g, std::span<const Id> order, Bounds& bounds) {
  const auto at =
      std::ranges::find_if(order, [&](Id id) { return g.op(id) == Op::FOR && bounds(loop_parts(g, id).begin).min < 0; });
  return at == order.end() ? no_id : *at;
}

// The program with the loop over a RANGE that begins at 0.
Id shifted(Graph& g, std::span<const Id> order, Id loop, std::int64_t least) {
  const LoopParts l = loop_parts(g, loop);
  const Id range = l.range, begin = l.begin, zero = g.index(0);
  const Id length = index_max(g, index_sub(g, l.end, begin), zero);
  const Id most = least <= -unbounded ? g.index(unbounded) : index_add(g, g.end(range), g.index(-least));
  const Id own = RangeIds(g, order.back()).range(g, most, g.range_kind(range)), counter = index_add(g, own, begin);
  std::unordered_map<Id, Id> done;
  for (const Id id : order) {
    const Op op = g.op(id);
    std::vector<Id> src = g.sources(id);
    const bool has_scope = op == Op::FOR || op == Op::CARRY || op == Op::LOCAL;
    for (std::size_t i = 0; i < src.size(); ++i)
      src[i] = src[i] != range ? done.at(src[i]) : has_scope && i == 0 ? own : counter;
    if (id == loop) src[1] = zero, src[2] = length;
    const LocScope of_node(g, g.loc(id));
    done[id] = g.with_src(id, src);
  }
  return done.at(order.back());
}

}  // namespace

void loops_from_zero(Graph& g, Program& p) {
  const Facts facts = facts_of(p);
  for (;;) {
    const std::vector<Id> order = g.reachable(p.sink);
    Bounds bounds(g, facts);
    const Id loop = negative_loop(g, order, bounds);
    if (loop == no_id) return;
    p.sink = shifted(g, order, loop, bounds(loop_parts(g, loop).begin).min);
  }
}

}  // namespace kiln::compiler
