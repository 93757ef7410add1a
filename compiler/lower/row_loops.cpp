#include "compiler/lower/row_loops.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <unordered_set>

#include "compiler/ir/nth.h"
#include "compiler/ir/power_of_two.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/state.h"
#include "compiler/lower/access.h"
#include "compiler/lower/index_vector.h"
#include "compiler/target/lane_limits.h"

namespace kiln::compiler {
namespace {

constexpr int array_bytes = 8 * 1024;    // of one array
constexpr int bytes_of_all = 16 * 1024;  // of all arrays and rows that are used again: a part of the first-level cache
constexpr int most_arrays = 16;
constexpr int fewest_loop_rows = 8;         // of a loop: with fewer, arrays cost more than they save
constexpr std::int64_t registers_wide = 4;  // registers of the shortest row that is worth arrays
constexpr int light_body = 24;              // most operations of a row for which two registers per value fit

using Nodes = std::unordered_set<Id>;

bool is_value(const Graph& g, Id id) { return g.dtype(id) != DType::none; }

bool reads_state(const Graph& g, Id id) { return g.op(id) == Op::LOAD && !names_memory(g, id); }

// Whether a value is better kept in an array than computed again. Indices, conditions and elements of inputs are not.
bool may_be_kept(const Graph& g, Id id) {
  const DType d = g.dtype(id);
  if (g.op(id) == Op::LOAD) return reads_state(g, id);
  return d != DType::index && d != DType::none && d != DType::boolean;
}

// The FORs over rows that are in no other FOR, in an order in which they may run. Empty: there are none, or another FOR is next
// to them.
std::vector<Id> outer_row_loops(const Graph& g, std::span<const Id> roots, Id column) {
  const std::vector<Id> nodes = g.reachable(roots);
  const Nodes across = depends_on_range(g, nodes, column);
  Nodes in_loops;
  const std::unordered_map<Id, std::vector<Id>> inside = nodes_by_range(g, nodes);
  for (const Id id : nodes)
    if (g.op(id) == Op::FOR)
      if (const auto body = inside.find(g.range_of(id)); body != inside.end())
        in_loops.insert(body->second.begin(), body->second.end());
  std::vector<Id> loops;
  for (const Id id : nodes) {
    if (g.op(id) != Op::FOR || in_loops.contains(id)) continue;
    const LoopParts l = loop_parts(g, id);
    const bool is_short = g.is_const(l.begin) && g.is_const(l.end) && g.value(l.end) - g.value(l.begin) < fewest_loop_rows;
    if (l.conditional || l.step != 1 || is_short || across.contains(l.begin) || across.contains(l.end)) return {};
    loops.push_back(id);
  }
  return loops;
}

// The states that a later state of the same memory replaces.
Nodes overwritten(const Graph& g, std::span<const Id> nodes) {
  Nodes out;
  for (const Id id : nodes) {
    if (g.op(id) == Op::STORE && !names_memory(g, id)) out.insert(g.state(id));
    if (g.op(id) == Op::FOR)
      for (const Id init : loop_parts(g, id).init)
        if (is_state(g, init)) out.insert(init);
  }
  return out;
}

// Whether each LOAD of a state that is overwritten later may run in the same part of the kernel as the node of that state.
bool reads_in_order(const Graph& g, std::span<const Id> nodes) {
  const Nodes old = overwritten(g, nodes);
  for (const Id loop : nodes) {
    if (g.op(loop) != Op::FOR) continue;
    const Nodes later = depends_on_range(g, nodes, g.range_of(loop));
    const auto is_late = [&](Id id) {
      return reads_state(g, id) && old.contains(g.state(id)) && later.contains(id) && !later.contains(g.state(id));
    };
    if (std::ranges::any_of(nodes, is_late)) return false;
  }
  return true;
}

// Whether the loop over rows has an access whose elements are neighbours in neighbouring columns, and at least `far` apart in
// neighbouring rows. inside: the nodes that depend on the row.
bool walks_columns(const Graph& g, Id row, std::span<const Id> inside, Id column, std::int64_t far) {
  const auto walks = [&](Id id) {
    if ((g.op(id) != Op::LOAD && g.op(id) != Op::STORE) || index_stride(g, index_of(g, id), column) != 1) return false;
    const std::optional<std::int64_t> apart = index_stride(g, index_of(g, id), row);
    return !apart || *apart >= far || *apart <= -far;
  };
  return std::ranges::any_of(inside, walks);
}

// Whether all rows of the accesses in the loop fit the first-level cache. Then the order in which lanes use them costs nothing.
bool fits_cache(const Graph& g, Id row, std::span<const Id> inside) {
  constexpr std::int64_t most = 32 * 1024;  // bytes
  std::int64_t size = 0;
  for (const Id id : inside) {
    if (g.op(id) != Op::LOAD && g.op(id) != Op::STORE) continue;
    const std::optional<std::int64_t> apart = index_stride(g, index_of(g, id), row);
    const DType d = g.op(id) == Op::LOAD ? g.dtype(id) : g.dtype(value_of(g, id));
    if (!apart || !g.is_const(g.end(row)) || std::abs(*apart) > most || g.value(g.end(row)) > most) return false;
    size += std::abs(*apart) * g.value(g.end(row)) * bytes(d);
  }
  return size <= most;
}

// An upper bound of the bytes that one column needs in all arrays and in all rows of inputs that are used again. nullopt:
// some value cannot be in an array.
std::optional<int> bytes_of_arrays(const Graph& g, std::span<const Id> nodes, Id column) {
  const Nodes across = depends_on_range(g, nodes, column);
  int arrays = 0, size = 0;
  const auto add = [&](Id value) {
    ++arrays;
    size += bytes(g.dtype(value));
  };
  for (const Id loop : nodes) {
    if (g.op(loop) != Op::FOR) continue;
    for (const Id init : loop_parts(g, loop).init) {
      if (!is_value(g, init)) continue;
      if (g.dtype(init) == DType::index) return std::nullopt;
      add(init);
    }
    const Nodes later = depends_on_range(g, nodes, g.range_of(loop));
    Nodes kept;
    for (const Id id : later)
      for (const Id s : g.src(id))
        if ((may_be_kept(g, s) || g.op(s) == Op::LOAD) && across.contains(s) && !later.contains(s)) kept.insert(s);
    for (const Id value : kept) add(value);
    if (arrays > most_arrays) return std::nullopt;
  }
  return std::max(size, narrowest_value);
}

}  // namespace

bool row_fits_registers(const Graph& g, Id extent, int operations, int widest, const Target& target) {
  constexpr std::int64_t most_registers = 8;  // for a value of each column
  // Beside these values, 32 registers hold the results of a short chain, and 16 of half such a chain.
  const int most_operations = target.vector_registers >= 32 ? short_chain : short_chain / 2;
  return g.is_const(extent) && operations <= most_operations && floor_power_of_two(g.value(extent)) == g.value(extent) &&
         g.value(extent) <= most_registers * target.vector_bytes / widest;
}

std::optional<std::vector<LoopPlan>> row_loops_plan(const Graph& g, std::span<const Id> states, std::span<const Id> ranges,
                                                    int widest, int operations, const Target& target) {
  const Id column = ranges.back(), extent = g.end(column);
  const int one_register = std::max(1, target.vector_bytes / widest);
  const std::int64_t far = registers_wide * one_register;
  if (g.is_const(extent) && (g.value(extent) < far || row_fits_registers(g, extent, operations, widest, target)))
    return std::nullopt;
  const std::vector<Id> nodes = g.reachable(states);
  if (std::ranges::any_of(nodes, [&](Id id) { return g.op(id) == Op::LOCAL || g.op(id) == Op::ATOMIC; })) return std::nullopt;
  const std::vector<Id> loops = outer_row_loops(g, states, column);
  std::unordered_map<Id, std::vector<Id>> inside = nodes_by_range(g, nodes);
  const auto walks = [&](Id loop) {
    const std::vector<Id>& nodes_of_loop = inside[g.range_of(loop)];
    return walks_columns(g, g.range_of(loop), nodes_of_loop, column, far) && !fits_cache(g, g.range_of(loop), nodes_of_loop);
  };
  if (std::ranges::none_of(loops, walks)) return std::nullopt;
  const std::optional<int> size = bytes_of_arrays(g, nodes, column);
  if (!size || !reads_in_order(g, nodes)) return std::nullopt;
  const int lanes = operations <= light_body ? 2 * one_register : one_register;
  const int columns = std::min(array_bytes / widest, bytes_of_all / *size);
  std::vector<LoopPlan> plan;
  for (const Id r : ranges.first(ranges.size() - 1)) plan.push_back({.range = r});
  plan.push_back({.range = column, .step = columns / lanes * lanes, .block = true});
  plan.push_back({.step = narrow<int>(g.is_const(extent) ? 0 : far), .rows = true});
  plan.push_back(
      {.range = column, .step = lanes, .lanes = true, .masked_all = operations > huge_body, .tails = {{lanes, true}}});
  return plan;
}

// The states and values that are computed before a FOR and used in the FOR or after it.
struct RowLoops::Before {
  Before(const Graph& g, std::span<const Id> roots, Id loop, Id column) : g_(g) {
    const std::vector<Id> all = g.reachable(roots);
    across_ = depends_on_range(g, all, column);
    const Nodes later = depends_on_range(g, all, g.range_of(loop)), old = overwritten(g, all);
    add(loop, later);
    for (const Id id : all)
      if (reads_state(g, id) && old.contains(g.state(id)) && !later.contains(id) && nodes_.contains(g.state(id)))
        add(id, later);
    for (const Id id : nodes_)
      if (is_state(g, id) && !is_memory(g, id)) {
        Id& last = states[memory_of(g, id)];
        if (last == no_id || last < id) last = id;
      }
    const std::vector<Id> own = g.reachable(loop);
    for (const Id id : all) {
      if (nodes_.contains(id) || id == loop) continue;
      const bool inside = later.contains(id) && std::ranges::binary_search(own, id);
      for (const Id s : g.src(id)) need(s, inside);
    }
  }

  std::map<Id, Id> states;  // by memory: the last state
  std::set<Id> values;      // that are kept

 private:
  void add(Id root, const Nodes& later) {
    for (const Id id : g_.reachable(root))
      if (!later.contains(id)) nodes_.insert(id);
  }

  // Values for the loop are kept. Values for later code are computed again from kept LOADs: each column needs them once.
  void need(Id id, bool inside) {
    if (!nodes_.contains(id) || !across_.contains(id) || !is_value(g_, id) || g_.op(id) == Op::RANGE) return;
    if (reads_state(g_, id) || (inside && may_be_kept(g_, id))) {
      values.insert(id);
      return;
    }
    if (!(inside ? seen_inside_ : seen_behind_).insert(id).second) return;
    for (const Id s : g_.src(id)) need(s, inside);
  }

  const Graph& g_;
  Nodes nodes_, across_, seen_inside_, seen_behind_;
};

RowLoops::RowLoops(Graph& g, RangeIds& loops, std::span<const Id> states, Id column, Id block, int size, Columns columns)
    : g_(g),
      loops_(loops),
      states_(states.begin(), states.end()),
      column_(column),
      block_(block),
      size_(size),
      columns_(std::move(columns)) {
  for (const Id id : g.reachable(states))
    if (g.op(id) == Op::ENTRY) entries_[memory_of(g, id)] = id;
}

std::vector<Id> RowLoops::in_order(std::vector<Id> roots) {
  std::vector<Id> effects;
  while (true) {
    const std::vector<Id> loops = outer_row_loops(g_, roots, column_);
    if (loops.empty()) break;
    run_loop(loops.front(), roots, effects);
  }
  add_columns(roots, effects);
  return effects;
}

// Adds the FOR and the effects before it. The roots then depend on arrays and first states in their place.
void RowLoops::run_loop(Id loop, std::vector<Id>& roots, std::vector<Id>& effects) {
  const LocScope of_loop(g_, g_.loc(loop));
  const Before before(g_, roots, loop, column_);
  std::unordered_map<Id, Id> known;
  std::vector<Id> first, arrays;
  for (const auto& [memory, state] : before.states) {
    first.push_back(state);
    known[state] = again(state, no_id);
  }
  const auto keep = [&](Id value) {
    const Id array = array_of(value);
    first.push_back(stored(array, value));
    return array;
  };
  for (const Id value : before.values) known[value] = again(value, keep(value));
  const auto init_of_loop = loop_parts(g_, loop).init;
  const std::vector<Id> init(init_of_loop.begin(), init_of_loop.end());
  for (const Id value : init) arrays.push_back(is_value(g_, value) ? keep(value) : no_id);
  add_columns(first, effects);
  effects.push_back(rows(loop, arrays, known));
  for (const Id id : g_.reachable(roots))
    if (g_.op(id) == Op::GET && g_.scope(id) == loop) known[id] = again(id, arrays[g_.slot(id)]);
  roots = substituted(roots, known);
}

Id RowLoops::rows(Id loop, const std::vector<Id>& arrays, std::unordered_map<Id, Id> known) {
  const LoopParts l = loop_parts(g_, loop);
  const Id old_range = l.range, begin = l.begin, end = l.end;
  const std::vector<Id> yield(l.yield.begin(), l.yield.end());
  const Id row = fresh(old_range);
  known[old_range] = row;
  for (const Id id : g_.reachable(yield)) {
    if (g_.op(id) == Op::CARRY && g_.range_of(id) == old_range) known[id] = again(id, arrays[g_.slot(id)]);
    // The same loops may occur where lanes run through the rows, and two loops of one kernel must not share a RANGE.
    if (g_.op(id) == Op::FOR && !known.contains(g_.range_of(id))) known[g_.range_of(id)] = fresh(g_.range_of(id));
  }
  const std::vector<Id> next = substituted(yield, known);
  std::vector<Id> roots;
  for (const Id id : next)
    if (!is_value(g_, id)) roots.push_back(id);
  for (std::size_t i = 0; i < next.size(); ++i)
    if (is_value(g_, next[i]) && next[i] != loaded(arrays[i])) roots.push_back(stored(arrays[i], next[i]));
  std::vector<Id> src = {row, begin, end};
  const std::vector<Id> effects = in_order(std::move(roots));
  src.insert(src.end(), effects.begin(), effects.end());
  return g_.make(Op::FOR, DType::none, src, std::vector<std::int64_t>{0, 1});
}

void RowLoops::add_columns(std::span<const Id> roots, std::vector<Id>& effects) const {
  std::vector<Id> changes;  // the first state of a part is no effect
  for (const Id id : roots)
    if (g_.op(id) != Op::ENTRY) changes.push_back(id);
  if (changes.empty()) return;
  const std::vector<Id> made = columns_(changes);
  effects.insert(effects.end(), made.begin(), made.end());
}

std::vector<Id> RowLoops::substituted(std::span<const Id> roots, const std::unordered_map<Id, Id>& known) {
  std::vector<Id> out;
  for (const Id root : roots) out.push_back(substitute(g_, root, known));
  return out;
}

Id RowLoops::fresh(Id range) { return loops_.range(g_, g_.end(range), g_.range_kind(range)); }

Id RowLoops::index() { return sub_index(g_, column_, block_); }

Id RowLoops::array_of(Id value) {
  const Id elements = g_.index(size_);
  return g_.make(Op::LOCAL, g_.dtype(value), {block_, elements}, {arrays_++});
}

Id RowLoops::stored(Id array, Id value) { return g_.make(Op::STORE, DType::none, {array, index(), value}); }

Id RowLoops::loaded(Id array) { return g_.make(Op::LOAD, g_.dtype(array), {array, index()}); }

Id RowLoops::again(Id value, Id array) { return is_value(g_, value) ? loaded(array) : entries_.at(memory_of(g_, value)); }

}  // namespace kiln::compiler
