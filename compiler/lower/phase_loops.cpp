#include "compiler/lower/phase_loops.h"

#include <algorithm>
#include <vector>

#include "compiler/ir/scopes.h"
#include "compiler/lower/access.h"
#include "compiler/lower/unroll_loop.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t most_iterations = 8;
constexpr std::int64_t most_of_phases = 200;  // of all iterations, without indices

// Whether the loop is to be written out.
bool has_phases(const Graph& g, Id loop) {
  const LoopParts l = loop_parts(g, loop);
  if (l.init.empty() || !has_constant_count(g, loop, most_iterations)) return false;
  if (std::ranges::none_of(l.init, [&](Id v) { return g.lanes(v) > 1; })) return false;
  const std::vector<Id> nodes = g.reachable(l.yield);
  const std::unordered_set<Id> inside = depends_on_range(g, nodes, l.range);
  std::int64_t operations = 0;
  bool divides = false, multiplies = false;
  for (const Id id : nodes) {
    if (!inside.contains(id)) continue;
    if (g.op(id) == Op::FOR) return false;
    if (g.dtype(id) != DType::index) ++operations;
    const bool is_product = g.op(id) == Op::MUL && g.dtype(id) == DType::index;
    multiplies = multiplies || (is_product && !g.is_const(g.src(id, 0)) && !g.is_const(g.src(id, 1)));
    divides = divides || ((g.op(id) == Op::FLOORDIV || g.op(id) == Op::FLOORMOD) && g.is_const(g.src(id, 1)));
  }
  return divides && multiplies && operations * constant_count(g, loop) <= most_of_phases;
}

}  // namespace

Id phase_loops(Graph& g, RangeIds& loops, Id sink) {
  const auto next = [&] {
    const std::vector<Id> nodes = g.reachable(sink);
    const auto at = std::ranges::find_if(nodes, [&](Id id) { return g.op(id) == Op::FOR && has_phases(g, id); });
    return at == nodes.end() ? no_id : *at;
  };
  // A loop around a loop that is written out is innermost then, but has too many operations.
  for (Id loop = next(); loop != no_id; loop = next()) sink = unroll_loop(g, loops, sink, loop);
  return sink;
}

}  // namespace kiln::compiler
