#include "compiler/lower/array_values.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "compiler/ir/nth.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/state.h"
#include "compiler/lower/array_contents.h"
#include "compiler/lower/unroll_loop.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t most_operations = 8192;    // of all iterations, together
constexpr std::int64_t most_iterations = 256;     // of one loop
constexpr std::int64_t most_registers = 512;      // that all arrays would fill; most are not in use at one time
constexpr std::int64_t most_bytes_of_lane = 128;  // of all arrays, if each lane has its own
constexpr std::size_t most_passes = 64;

using Arrays = std::set<Id>;

// The arrays of each scope: by RANGE.
std::map<Id, Arrays> arrays_by_range(const Graph& g, Id sink) {
  std::map<Id, Arrays> out;
  for (const Id id : g.reachable(sink))
    if (g.op(id) == Op::LOCAL) out[g.range_of(id)].insert(id);
  return out;
}

bool fit_registers(const Graph& g, const Arrays& arrays, std::int64_t bytes_left) {
  for (const Id a : arrays) {
    if (g.lanes(a) != 1) return false;
    bytes_left -= std::min(elements_of(g, a), bytes_left + 1) * bytes(g.dtype(a));
    if (bytes_left < 0) return false;
  }
  return true;
}

bool is_of(const Graph& g, Id state, const Arrays& arrays) {
  return is_state(g, state) && arrays.contains(memory_of(g, state));
}

// Whether the loop carries states of the arrays, or loads their elements. inside: the nodes of an iteration.
bool uses(const Graph& g, const LoopParts& l, const std::unordered_set<Id>& inside, const Arrays& arrays) {
  return std::ranges::any_of(l.init, [&](Id v) { return is_of(g, v, arrays); }) ||
         std::ranges::any_of(inside, [&](Id id) { return g.op(id) == Op::LOAD && is_of(g, g.state(id), arrays); });
}

// The loops that use the arrays, inner ones first. nullopt: they cannot all be unrolled.
std::optional<std::vector<Id>> loops_with(const Graph& g, Id sink, const Arrays& arrays) {
  std::vector<Id> out;
  std::int64_t left = most_operations;
  for (const Id id : g.reachable(sink)) {
    if (g.op(id) != Op::FOR) continue;
    const LoopParts l = loop_parts(g, id);
    const std::vector<Id> nodes = g.reachable(l.yield);
    const std::unordered_set<Id> inside = depends_on_range(g, nodes, l.range);
    const bool is_around = std::ranges::any_of(arrays, [&](Id a) { return inside.contains(a); });
    if (is_around || !uses(g, l, inside, arrays)) continue;
    if (!has_constant_count(g, id, most_iterations)) return std::nullopt;
    left -= constant_count(g, id) * std::ssize(inside);
    if (left < 0) return std::nullopt;
    out.push_back(id);
  }
  return out;
}

// The sink with the arrays as values; nullopt: that is not possible.
std::optional<Id> as_values(Graph& g, RangeIds& loops, Id sink, const Arrays& arrays) {
  for (std::size_t pass = 0; pass < most_passes; ++pass) {
    const auto todo = loops_with(g, sink, arrays);
    if (!todo) return std::nullopt;
    if (todo->empty()) return with_contents(g, sink, arrays);
    sink = unroll_loop(g, loops, sink, todo->front());
  }
  return std::nullopt;
}

}  // namespace

Id array_values(Graph& g, RangeIds& loops, Id sink, bool has_workgroups, const Target& target) {
  const std::int64_t most = has_workgroups ? most_registers * target.vector_bytes : most_bytes_of_lane;
  for (const auto& [range, arrays] : arrays_by_range(g, sink))
    if (fit_registers(g, arrays, most)) sink = as_values(g, loops, sink, arrays).value_or(sink);
  return sink;
}

}  // namespace kiln::compiler
