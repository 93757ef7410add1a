#include "compiler/lower/loop_copies.h"

#include "compiler/ir/scopes.h"

namespace kiln::compiler {
namespace {

// The node without conditions that are constant; no_id: it has none.
Id without_constants(Graph& g, Id id, std::span<const Id> x) {
  const auto is_known = [&](Id c) { return g.is_const(c) && g.dtype(c) == DType::boolean; };
  const auto truth = [&](Id c) { return g.value(c) != 0; };
  const Op op = g.op(id);
  if ((op == Op::AND || op == Op::OR) && g.dtype(id) == DType::boolean) {
    for (const std::size_t i : {0u, 1u})
      if (is_known(x[i])) return truth(x[i]) == (op == Op::AND) ? x[1 - i] : x[i];
    return no_id;
  }
  if (op == Op::NOT && is_known(x[0])) return g.constant(DType::boolean, truth(x[0]) ? 0 : 1, g.lanes(x[0]));
  if (op == Op::BROADCAST && is_known(x[0])) return g.constant(DType::boolean, truth(x[0]) ? 1 : 0, g.lanes(id));
  if (op == Op::WHERE && is_known(x[0])) {
    const Id kept = truth(x[0]) ? x[1] : x[2];
    return g.lanes(kept) == g.lanes(id) ? kept : no_id;
  }
  if (op != Op::LOAD || x.size() != 4 || !is_known(x[3])) return no_id;
  if (truth(x[3])) return g.with_src(id, std::vector<Id>{x[0], x[1]});
  return g.lanes(x[2]) == g.lanes(id) ? x[2] : no_id;
}

}  // namespace

std::vector<Id> results_of(Graph& g, Id loop) {
  const LoopParts l = loop_parts(g, loop);
  const std::vector<Id> types(l.yield.begin(), l.yield.end());
  std::vector<Id> out;
  for (std::size_t i = 0; i < types.size(); ++i)
    out.push_back(g.make(Op::GET, g.dtype(types[i]), {loop}, {static_cast<std::int64_t>(i)}, {}, g.lanes(types[i])));
  return out;
}

Id part_of_loop(Graph& g, RangeIds& loops, Id loop, Id begin, Id end, std::vector<Id> init,
                const std::unordered_map<Id, Id>& replaced) {
  const LoopParts l = loop_parts(g, loop);
  const Id range = l.range;
  const std::int64_t step = l.step;
  const std::vector<Id> yield(l.yield.begin(), l.yield.end());
  const Id own = loops.range(g, g.end(range), g.range_kind(range));
  const Id all = g.make(Op::SINK, DType::none, yield);
  const Id here = substitute(g, all, replaced);
  const Id body = rewrite(g, here, [&](Id id, std::span<const Id> x) -> Id {
    if (id == range) return own;
    if (g.op(id) == Op::CARRY && g.range_of(id) == range)
      return g.with_src(id, std::vector<Id>{own, init[static_cast<std::size_t>(g.slot(id))]});
    return without_constants(g, id, x);
  });
  std::vector<Id> src{own, begin, end};
  src.insert(src.end(), init.begin(), init.end());
  src.insert(src.end(), g.src(body).begin(), g.src(body).end());
  return g.make(Op::FOR, DType::none, src, std::vector<std::int64_t>{static_cast<std::int64_t>(init.size()), step});
}

}  // namespace kiln::compiler
