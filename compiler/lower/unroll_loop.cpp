#include "compiler/lower/unroll_loop.h"

#include <algorithm>
#include <optional>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/scopes.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/integer_value.h"

namespace kiln::compiler {
namespace {

bool is_truth(const Graph& g, Id id, bool value) {
  return g.is_const(id) && g.dtype(id) == DType::boolean && (g.value(id) != 0) == value;
}

// The constant that the operation gives for constants.
Id constant_result(Graph& g, Id id, std::span<const Id> x) {
  if (g.op(id) == Op::CONST || !has_integer_value(g, id)) return no_id;
  std::vector<std::int64_t> values;
  for (const Id s : x) {
    if (!g.is_const(s)) return no_id;
    values.push_back(*integer_value(g, s, {}));
  }
  const auto v = integer_value(g, id, values);
  if (!v) return no_id;
  return g.dtype(id) == DType::index ? g.index(*v) : g.constant(g.dtype(id), static_cast<std::uint64_t>(*v));
}

// The node over the sources x, if constants decide it.
Id decided(Graph& g, Id id, std::span<const Id> x) {
  const Op op = g.op(id);
  if (const Id known = constant_result(g, id, x); known != no_id) return known;
  if (g.dtype(id) == DType::boolean && (op == Op::AND || op == Op::OR))
    for (std::size_t i = 0; i < 2; ++i) {
      if (is_truth(g, x[i], op == Op::AND)) return x[1 - i];
      if (is_truth(g, x[i], op == Op::OR)) return x[i];
    }
  if (op == Op::WHERE && g.is_const(x[0])) return x[is_truth(g, x[0], true) ? 1 : 2];
  const bool gated = (op == Op::LOAD || op == Op::STORE) && x.size() == 4 && g.is_const(x[3]);
  if (gated && is_truth(g, x[3], true)) return g.make(op, g.dtype(id), x.first(op == Op::STORE ? 3 : 2), g.args(id));
  if (gated && is_truth(g, x[3], false)) return op == Op::STORE ? x[0] : x[2];
  if (g.dtype(id) == DType::index && is_binary(op) && g.lanes(id) == 1) return index_binary(g, op, x[0], x[1]);
  return no_id;
}

}  // namespace

bool has_constant_count(const Graph& g, Id loop, std::int64_t most) {
  const LoopParts l = loop_parts(g, loop);
  if (l.conditional || !g.is_const(l.begin) || !g.is_const(l.end) || g.src(loop).size() != 3 + 2 * g.slot(loop)) return false;
  if (constant_count(g, loop) > most) return false;
  const std::vector<Id> nodes = g.reachable(l.yield);
  if (std::ranges::none_of(nodes, [&](Id id) { return g.op(id) == Op::LOCAL; })) return true;
  const std::unordered_set<Id> inside = depends_on_range(g, nodes, l.range);
  return std::ranges::none_of(nodes, [&](Id id) {
    if (g.op(id) != Op::LOCAL) return false;
    const Id owner = g.range_of(id);  // in a loop with lanes, a vector of counters
    return owner == l.range || (g.op(owner) != Op::RANGE && inside.contains(owner));
  });
}

std::int64_t constant_count(const Graph& g, Id loop) {
  const LoopParts l = loop_parts(g, loop);
  const std::int64_t length = g.value(l.end) - g.value(l.begin);
  return std::max<std::int64_t>(0, (length + l.step - 1) / l.step);
}

Id unroll_loop(Graph& g, RangeIds& loops, Id sink, Id loop) {
  const LoopParts l = loop_parts(g, loop);
  const Id range = l.range;
  const std::int64_t begin = g.value(l.begin), step = l.step, count = constant_count(g, loop);
  std::vector<Id> now(l.init.begin(), l.init.end());
  const std::vector<Id> yields(l.yield.begin(), l.yield.end());
  const std::vector<Id> nodes = g.reachable(yields);
  const std::unordered_set<Id> inside = depends_on_range(g, nodes, range);
  for (std::int64_t i = 0; i < count; ++i) {
    const Id counter = g.index(begin + i * step);
    std::unordered_map<Id, Id> done{{range, counter}};
    const auto copy = [&](Id id) { return done.contains(id) ? done.at(id) : id; };
    for (const Id id : nodes) {
      if (!inside.contains(id) || id == range) continue;
      const LocScope of_node(g, g.loc(id));
      std::vector<Id> x;
      for (const Id s : g.src(id)) x.push_back(copy(s));
      if (g.op(id) == Op::CARRY && g.range_of(id) == range) {
        done[id] = now[g.slot(id)];
      } else if (g.op(id) == Op::RANGE) {
        done[id] = loops.range(g, x[0], g.range_kind(id));
      } else {
        const Id known = decided(g, id, x);
        done[id] = known == no_id ? g.with_src(id, x) : known;
      }
    }
    for (std::size_t k = 0; k < now.size(); ++k) now[k] = copy(yields[k]);
  }
  return rewrite(g, sink, [&](Id id, std::span<const Id> x) -> Id {
    if (g.op(id) == Op::GET && g.scope(id) == loop) return now[g.slot(id)];
    return std::ranges::equal(x, g.src(id)) ? no_id : decided(g, id, x);
  });
}

}  // namespace kiln::compiler
