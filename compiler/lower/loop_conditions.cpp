#include "compiler/lower/loop_conditions.h"

#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/ir/nth.h"
#include "compiler/ir/scopes.h"
#include "compiler/lower/rewrite.h"

namespace kiln::compiler {
namespace {

// The RANGEs of FORs with a condition that no iteration changes and nothing reads behind the loop.
std::unordered_set<Id> ranges_of_fixed_conditions(const Graph& g, Id sink) {
  std::unordered_set<Id> out;
  const std::vector<Id> nodes = g.reachable(sink);
  for (const Id id : nodes) {
    if (g.op(id) != Op::FOR || !loop_parts(g, id).conditional) continue;
    const Id next = loop_parts(g, id).yield[0];
    if (g.op(next) == Op::CARRY && g.range_of(next) == g.range_of(id) && g.slot(next) == 0) out.insert(g.range_of(id));
  }
  for (const Id id : nodes)
    if (g.op(id) == Op::GET && g.slot(id) == 0 && g.op(g.src(id, 0)) == Op::FOR) out.erase(g.range_of(g.src(id, 0)));
  return out;
}

}  // namespace

Id loop_conditions(Graph& g, Id sink) {
  const std::unordered_set<Id> fixed = ranges_of_fixed_conditions(g, sink);
  if (fixed.empty()) return sink;
  return rewrite(g, sink, [&](Id id, std::span<const Id> x) -> Id {
    const Op op = g.op(id);
    if (op == Op::CARRY && fixed.contains(g.range_of(id))) {
      if (g.slot(id) == 0) return g.constant(DType::boolean, 1);
      return g.make(Op::CARRY, g.dtype(id), x, std::vector<std::int64_t>{narrow<std::int64_t>(g.slot(id)) - 1});
    }
    if (op == Op::GET && g.op(g.src(id, 0)) == Op::FOR && fixed.contains(g.range_of(g.src(id, 0))))
      return g.make(Op::GET, g.dtype(id), x, std::vector<std::int64_t>{narrow<std::int64_t>(g.slot(id)) - 1});
    if (op != Op::FOR || !fixed.contains(g.range_of(id))) return no_id;
    const LoopParts l = loop_parts(g, id);
    const std::int64_t n = std::ssize(l.init), step = l.step;
    std::vector<Id> src{x[0], x[1], g.make(Op::WHERE, DType::index, {x[3], x[2], x[1]})};
    for (std::size_t i = 4; i < x.size(); ++i)
      if (std::cmp_not_equal(i, 3 + n)) src.push_back(x[i]);  // the first yield
    return g.make(Op::FOR, DType::none, src, std::vector<std::int64_t>{n - 1, step});
  });
}

}  // namespace kiln::compiler
