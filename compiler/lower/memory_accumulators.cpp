#include "compiler/lower/memory_accumulators.h"

#include <algorithm>
#include <cstdint>
#include <unordered_set>

#include "compiler/ir/scopes.h"
#include "compiler/lower/access.h"
#include "compiler/lower/chain_blocks.h"
#include "compiler/lower/expand.h"
#include "compiler/lower/index_vector.h"

namespace kiln::compiler {
namespace {

constexpr int block_bytes = 16 * 1024;      // of accumulators: half of the first-level cache
constexpr int most_carried = 4;             // values of all FORs
constexpr int most_operations = 8;          // of one row; with more operations, loads are a small part of the work
constexpr int light_operations = 3;         // of one row, so that eight rows fit the registers
constexpr std::int64_t fewest_rows = 16;    // of a reduction: with fewer, arrays of accumulators cost more than they save
constexpr std::int64_t registers_wide = 8;  // registers of the shortest row

struct Rows {
  int carried = 0;
  int operations = 0;
  bool streams = false;  // has a load that is contiguous in the column and moves with the row
};

// The work of a FOR for one row; nullopt: the FOR is no plain reduction of rows.
std::optional<Rows> rows_of(const Graph& g, Id loop, Id column) {
  const LoopParts l = loop_parts(g, loop);
  if (l.conditional || l.step != 1 || g.src(loop).size() != 3 + 2 * l.init.size()) return std::nullopt;
  if (g.is_const(l.begin) && g.is_const(l.end) && g.value(l.end) - g.value(l.begin) < fewest_rows) return std::nullopt;
  Rows r{.carried = count_of(l.init)};
  std::unordered_set<Id> body = {l.range};  // nodes that differ from row to row
  for (const Id id : g.reachable(l.yield)) {
    const Op op = g.op(id);
    if (std::ranges::none_of(g.src(id), [&](Id s) { return body.contains(s); })) continue;
    body.insert(id);
    if (op == Op::FOR || g.lanes(id) > 1) return std::nullopt;
    if (is_elementwise(op) && g.dtype(id) != DType::index) ++r.operations;
    if (op != Op::LOAD) continue;
    const auto across = index_stride(g, index_of(g, id), column);
    if (g.src(id).size() > 2 || !across || *across < 0 || *across > 1) return std::nullopt;
    if (*across == 1 && index_stride(g, index_of(g, id), l.range) != 0) r.streams = true;
  }
  return r;
}

}  // namespace

std::optional<std::vector<LoopPlan>> memory_accumulators(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges,
                                                         int widest, bool can_mask, const Target& target) {
  const Id column = ranges.back(), extent = g.end(column);
  const int one_register = std::max(1, target.vector_bytes / widest);
  if (g.is_const(extent) && g.value(extent) < registers_wide * one_register) return std::nullopt;
  int carried = 0, operations = 0;
  bool streams = false;
  const std::unordered_set<Id> differ = depends_on_range(g, g.reachable(stores), column);
  for (const Id id : g.reachable(stores)) {
    if (g.op(id) == Op::LOAD && g.src(id).size() > 2) return std::nullopt;
    if (g.op(id) != Op::FOR || !differ.contains(id)) continue;  // else one scalar for all columns
    const std::optional<Rows> r = rows_of(g, id, column);
    if (!r) return std::nullopt;
    carried += r->carried;
    operations = std::max(operations, r->operations);
    streams = streams || r->streams;
  }
  if (!streams || carried > most_carried || operations > most_operations) return std::nullopt;
  const bool light = operations <= light_operations;
  const int lanes = (light && carried == 1 ? 4 : 2) * one_register, block = block_bytes / widest / carried / lanes * lanes;
  std::vector<LoopPlan> plan;
  for (const Id r : ranges.first(ranges.size() - 1)) plan.push_back({.range = r});
  plan.push_back({.range = column, .step = block, .block = true});
  plan.push_back({.step = light ? 8 : 4, .rows = true});
  plan.push_back({.range = column, .step = lanes, .lanes = true});
  if (can_mask)
    plan.back().tails = masked_tails(2 * one_register, one_register, target);
  else
    plan.back().tails = {{one_register, false}, {1, false}};
  return plan;
}

MemoryAccumulators::MemoryAccumulators(Graph& g, RangeIds& loops, std::span<const Id> stores, Id column, Id block, Id index,
                                       std::int64_t size)
    : g_(g), loops_(loops), block_(block), index_(index), size_(size), results_(stores.begin(), stores.end()) {
  while (true) {
    const std::vector<Id> nodes = g_.reachable(results_);
    const std::unordered_set<Id> differ = depends_on_range(g_, nodes, column);
    const auto differs = [&](Id id) { return g_.op(id) == Op::FOR && differ.contains(id); };
    const auto loop = std::ranges::find_if(nodes, differs);
    if (loop == nodes.end()) return;
    const std::vector<Id> nest = chain_nest(g_, nodes);
    const Id reduction = nest.empty() ? *loop : nest.front();
    reductions_.push_back(reduction);
    const std::vector<Id> arrays = this->arrays(reduction);
    const Id sink = g_.make(Op::SINK, DType::none, results_);
    const Id without = rewrite(g_, sink, [&](Id id, std::span<const Id>) {
      if (g_.op(id) != Op::GET || g_.scope(id) != reduction) return no_id;
      return g_.make(Op::LOAD, g_.dtype(id), {arrays[g_.slot(id)], index_});
    });
    results_ = g_.sources(without);
  }
}

// One array for each carried value. Arrays of equal types differ in their number.
std::vector<Id> MemoryAccumulators::arrays(Id reduction) {
  const std::size_t n = g_.slot(reduction);
  const auto before = std::ranges::find(reductions_, reduction);
  std::int64_t number = 0;
  for (auto r = reductions_.begin(); r != before; ++r) number += narrow<std::int64_t>(g_.slot(*r));
  const Id elements = g_.index(size_);
  std::vector<Id> out;
  for (std::size_t i = 0; i < n; ++i) {
    const Id init = loop_parts(g_, reduction).init[i];
    out.push_back(g_.make(Op::LOCAL, g_.dtype(init), {block_, elements}, {number++}));
  }
  return out;
}

std::vector<Id> MemoryAccumulators::stored(Id reduction, std::span<const Id> values) {
  const std::vector<Id> to = arrays(reduction);
  std::vector<Id> out;
  for (std::size_t i = 0; i < to.size(); ++i) out.push_back(g_.make(Op::STORE, DType::none, {to[i], index_, values[i]}));
  return out;
}

std::vector<Id> MemoryAccumulators::loaded(Id reduction) {
  std::vector<Id> out;
  for (const Id array : arrays(reduction)) out.push_back(g_.make(Op::LOAD, g_.dtype(array), {array, index_}));
  return out;
}

std::vector<Id> MemoryAccumulators::initial(Id reduction) {
  const auto init = loop_parts(g_, reduction).init;
  return stored(reduction, std::vector<Id>(init.begin(), init.end()));
}

std::vector<Id> MemoryAccumulators::after_rows(Id reduction, Id row, int n) {
  const Id range = g_.range_of(reduction);
  const auto parts = loop_parts(g_, reduction);
  const std::vector<Id> yields(parts.yield.begin(), parts.yield.end());
  std::vector<Id> carries(yields.size(), no_id);
  for (const Id id : g_.reachable(yields))
    if (g_.op(id) == Op::CARRY && g_.range_of(id) == range) carries[g_.slot(id)] = id;
  std::vector<Id> values = loaded(reduction);
  for (int r = 0; r < n; ++r) {
    Copy copy;
    copy.values[range] = add_index(g_, row, g_.index(r));
    for (std::size_t i = 0; i < carries.size(); ++i)
      if (carries[i] != no_id) copy.values[carries[i]] = values[i];
    const Copy copies[] = {copy};
    values = expand(g_, loops_, yields, copies)[0];
  }
  return stored(reduction, values);
}

std::vector<Id> MemoryAccumulators::after_terms(std::span<const Id> nest, std::span<const Id> outer, Id begin, Id end) {
  const Id loop = nest[outer.size()];
  const LoopParts parts = loop_parts(g_, loop);
  const Id range = loops_.range(g_, g_.end(parts.range), g_.range_kind(parts.range)), value = loaded(nest[0])[0];
  const Id before[] = {parts.range, parts.init[0]}, now[] = {range, value};
  const std::int64_t slot[] = {0};
  const DType d = g_.dtype(value);
  const Id carried = g_.make(Op::CARRY, d, before, slot);
  std::unordered_map<Id, Id> map = {{parts.range, range}, {carried, g_.make(Op::CARRY, d, now, slot)}};
  for (std::size_t i = 0; i < outer.size(); ++i) map[loop_parts(g_, nest[i]).range] = outer[i];
  const Id yield = substitute(g_, loop_parts(g_, loop).yield[0], map);
  const Id part = g_.with_src(loop, std::vector<Id>{range, begin, end, value, yield});
  const Id sum[] = {g_.make(Op::GET, d, {part}, {0})};
  return stored(nest[0], sum);
}

}  // namespace kiln::compiler
