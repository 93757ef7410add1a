#include "compiler/autodiff/unrolled_loops.h"

#include <algorithm>
#include <cstdlib>

#include "compiler/autodiff/rebuild.h"
#include "compiler/ir/open_ranges.h"
#include "compiler/ir/scopes.h"

namespace kiln::compiler::autodiff {
namespace {

constexpr std::int64_t most_turns = 128;          // a sum over all turns is one kernel, with buffers of each turn
constexpr std::int64_t most_operations = 20'000;  // of all turns

std::optional<std::int64_t> turns_of(const Graph& g, const LoopParts& loop) {
  if (!g.is_const(loop.begin) || !g.is_const(loop.end) || loop.step == 0) return std::nullopt;
  const std::int64_t begin = g.value(loop.begin), end = g.value(loop.end), far = most_turns * 1000;
  if (std::min({begin, end, loop.step}) < -far || std::max({begin, end, loop.step}) > far) return std::nullopt;
  const std::int64_t way = loop.step > 0 ? end - begin : begin - end, step = std::abs(loop.step);
  return way <= 0 ? 0 : (way - 1) / step + 1;
}

bool is_of(const Graph& g, Id id, Id range) { return id == range || (g.op(id) == Op::CARRY && g.range_of(id) == range); }

// The operations among the nodes of one turn, and of all turns of the FORs inside of it. At most about most_operations.
std::int64_t operations_of(const Graph& g, std::span<const Id> nodes, const std::unordered_set<Id>& varying) {
  std::unordered_map<Id, std::int64_t> turns;  // by the RANGE of a FOR
  OpenRanges open(g, nodes);
  for (const Id id : nodes) {
    open.visit(id);
    if (varying.contains(id) && g.op(id) == Op::FOR) turns[g.range_of(id)] = turns_of(g, loop_parts(g, id)).value_or(1);
  }
  std::int64_t operations = 0;
  for (const Id id : nodes) {
    if (!varying.contains(id) || operations > most_operations) continue;
    std::int64_t times = 1;
    for (const Id range : open.of(id))
      if (const auto loop = turns.find(range); loop != turns.end()) times = std::min(times * loop->second, most_operations);
    operations += times;
  }
  return operations;
}

}  // namespace

bool is_short_loop(const Rules& rules, Id get) {
  const Graph& g = rules.e.g;
  if (g.op(get) != Op::GET || g.op(g.scope(get)) != Op::FOR || !is_float(g.dtype(get))) return false;
  const LoopParts loop = loop_parts(g, g.scope(get));
  const std::optional<std::int64_t> turns = turns_of(g, loop);
  if (!turns || *turns > most_turns || g.range_kind(loop.range) == RangeKind::workgroup) return false;
  const std::vector<Id> nodes = g.reachable(loop.yield);
  std::unordered_set<Id> varying;
  for (const Id id : nodes) {
    if (!is_of(g, id, loop.range) && std::ranges::none_of(g.src(id), [&](Id s) { return varying.contains(s); })) continue;
    varying.insert(id);
    const bool is_barrier = g.op(id) == Op::FOR && g.range_kind(g.range_of(id)) == RangeKind::workgroup;
    if (is_barrier || g.op(id) == Op::LOCAL || g.op(id) == Op::OLD) return false;
    // All turns are computed, also those behind the end. Their places may be outside of the tensor.
    const auto varies = [&](Id s) { return varying.contains(s); };
    if (loop.conditional && g.op(id) == Op::INDEX && std::ranges::any_of(g.src(id).subspan(1), varies)) return false;
  }
  // Memory of a kernel is no value that a condition could select.
  if (loop.conditional && rules.is_in_kernel(loop.range))
    for (const Id x : loop.init)
      if (g.op(x) == Op::CARRY || g.op(x) == Op::LOCAL || is_write(g.op(x)) || g.op(x) == Op::GET) return false;
  return *turns * operations_of(g, nodes, varying) <= most_operations;
}

std::vector<Id> after_turns(Rules& rules, Id loop) {
  Graph& g = rules.e.g;
  const LoopParts parts = loop_parts(g, loop);
  const std::int64_t turns = turns_of(g, parts).value();
  const Id range = parts.range;
  const std::vector<Id> yield(parts.yield.begin(), parts.yield.end());
  std::vector<Id> now(parts.init.begin(), parts.init.end());
  const bool may_end = parts.conditional;
  const std::int64_t begin = g.value(parts.begin), step = parts.step;
  std::unordered_set<Id> leaves;
  for (const Id id : g.reachable(yield))
    if (is_of(g, id, range)) leaves.insert(id);
  Id runs = no_id;
  for (std::int64_t t = 0; t < turns; ++t) {
    if (may_end) runs = runs == no_id ? now[0] : rules.e.both(runs, now[0]);
    std::vector<Id> next = yield;
    rebuild(rules, next, leaves, [&](Id id, Id) { return id == range ? g.index(begin + t * step) : now[g.slot(id)]; });
    for (std::size_t k = 0; k < next.size(); ++k) now[k] = may_end ? rules.e.where(runs, next[k], now[k]) : next[k];
  }
  return now;
}

}  // namespace kiln::compiler::autodiff
