#include "compiler/lower/chain_blocks.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "compiler/ir/nth.h"
#include "compiler/ir/scopes.h"
#include "compiler/lower/access.h"
#include "compiler/lower/index_vector.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t chain_bytes = 32 * 1024;  // of accumulators: a sixteenth of the second-level cache
constexpr std::int64_t panel_bytes = 24 * 1024;  // of the lanes' operand for one part: three quarters of the first-level cache
constexpr std::int64_t first_cache = 32 * 1024;  // bytes: the first-level cache, for whole loops of a nest
constexpr std::int64_t long_operand = 256 * 1024;  // bytes of an operand that does not stay in the second-level cache
constexpr std::int64_t copied_bytes = 64 * 1024;   // of the copies' operand for one part of a block
constexpr std::int64_t cache_line = 64;
constexpr std::int64_t panel_part = 16 * 1024;  // bytes of a long panel for one part
constexpr std::int64_t passes_of_panel = 24;    // over a long panel, from which parts of it pay
constexpr std::int64_t fewest_terms = 32;       // that pay for loading and storing their accumulators

// What the chain reads, in bytes.
struct Operands {
  std::int64_t wide = 0;    // all vectors of the lanes' range, but for panels
  std::int64_t panel = 0;   // of a panel, whose rows are one cache line, one after the other
  std::int64_t turned = 0;  // of an element of the copies' operand and the gap behind it, if it is long, and neighbouring rows
                            // are nearer in memory than neighbouring terms; else 0
};

// The product, or the largest number.
std::int64_t product_of(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? std::numeric_limits<std::int64_t>::max() : out;
}

std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? std::numeric_limits<std::int64_t>::max() : out;
}

// Bytes of memory that a load reads in all iterations of the ranges. Windows overlap. apart: bytes of an element and of the gap
// behind it.
std::int64_t footprint(const Graph& g, Id load, std::span<const Id> ranges, std::int64_t apart) {
  std::int64_t product = 1, span = 1;
  bool is_linear = true;
  for (const Id r : ranges) {
    const std::optional<std::int64_t> stride = index_stride(g, index_of(g, load), r);
    if (stride == 0) continue;
    const std::int64_t n = g.value(g.end(r));
    product = product_of(product, n);
    is_linear = is_linear && stride;
    if (stride) span = sum_of(span, product_of(std::abs(*stride), n - 1));
  }
  const std::int64_t each = product_of(product, apart), whole = product_of(span, bytes(g.dtype(load)));
  return is_linear ? std::min(each, whole) : each;
}

// See Operands::turned. row: the range of the copies.
std::int64_t turned(const Graph& g, Id load, std::span<const Id> terms, Id row) {
  const auto distance = [&](Id range) {
    const std::optional<std::int64_t> stride = index_stride(g, index_of(g, load), range);
    return stride ? std::abs(*stride) * bytes(g.dtype(load)) : 0;
  };
  const std::int64_t across = distance(row);
  if (across == 0 || std::ranges::none_of(terms, [&](Id term) { return distance(term) > across; })) return 0;
  std::int64_t apart = std::min(cache_line, across);
  for (const Id term : terms)
    if (distance(term) != 0) apart = std::min(apart, distance(term));
  std::vector<Id> all(terms.begin(), terms.end());
  all.push_back(row);
  return footprint(g, load, all, apart) > long_operand ? apart : 0;
}

Operands operands_of(const Graph& g, std::span<const Id> nest, Id lanes, Id row) {
  Operands o;
  std::vector<Id> terms;
  for (const Id loop : nest) terms.push_back(g.range_of(loop));
  std::vector<Id> all = terms;
  all.push_back(lanes);
  for (const Id id : g.reachable(loop_parts(g, nest.back()).yield)) {
    if (g.op(id) != Op::LOAD) continue;
    const std::int64_t columns = g.value(g.end(lanes));
    const bool is_panel =
        columns * bytes(g.dtype(id)) <= cache_line && index_stride(g, index_of(g, id), terms.back()) == columns;
    if (index_stride(g, index_of(g, id), lanes) == 0)
      o.turned = std::max(o.turned, turned(g, id, terms, row));
    else
      (is_panel ? o.panel : o.wide) = sum_of(is_panel ? o.panel : o.wide, footprint(g, id, all, bytes(g.dtype(id))));
  }
  return o;
}

// Terms that run at once, about `most`: nearly equal parts of one loop of the nest. `whole`: if all iterations of that loop
// have no more terms, they run at once.
std::int64_t terms_at_once(const Graph& g, std::span<const Id> nest, std::int64_t most, std::int64_t whole) {
  const std::size_t level = chain_level(g, nest, whole);
  const std::int64_t inside = iterations_of(g, nest.subspan(level + 1)), n = iterations_of(g, nest.subspan(level, 1)),
                     step = std::max<std::int64_t>(1, (inside == 1 ? most : whole) / inside), parts = (n - 1) / step + 1;
  return ((n - 1) / parts + 1) * inside;
}

// The loops of the plan, from `first` on, whose accumulators are together in an array; of the first loop, `part` iterations.
struct PlannedRows {
  std::size_t first;
  std::int64_t part = 0, rows = 0;
};

// The iterations of the copied ranges before the lanes, whose accumulators are together in the array; 0: it has no constant
// size.
std::int64_t copies_around(const Graph& g, std::span<const LoopPlan> plan) {
  std::int64_t n = 1;
  for (const LoopPlan& p : plan.first(plan.size() - 2)) {
    if (p.block || p.step == 1) continue;
    if (!g.is_const(g.end(p.range))) return 0;
    n = product_of(n, g.value(g.end(p.range)));
  }
  return n;
}

PlannedRows rows_inside(const Graph& g, std::span<const LoopPlan> plan, std::int64_t most) {
  const std::size_t lanes = plan.size() - 2;
  const int copies = plan.back().step;
  const auto block = std::ranges::find(plan, true, &LoopPlan::block);
  const std::int64_t copied = g.value(g.end(plan.back().range));
  if (block != plan.end()) {
    const std::int64_t rows = std::min(most, copied + copies - 1) / copies * copies;
    return {.first = lanes, .part = rows, .rows = rows};
  }
  PlannedRows r{.first = lanes, .rows = copied};
  while (r.first > 0 && 2 * r.rows <= most) {
    const LoopPlan& p = nth(plan, r.first - 1);
    if (p.step > 1 || !g.is_const(g.end(p.range))) break;
    const std::int64_t n = g.value(g.end(p.range)), part = std::min(n, most / r.rows);
    r = {.first = r.first - 1, .part = part, .rows = r.rows * part};
    if (part < n) break;
  }
  return r;
}

}  // namespace

std::vector<Id> chain_nest(const Graph& g, std::span<const Id> nodes) {
  std::vector<Id> nest;  // innermost first, as in `nodes`
  for (const Id id : nodes) {
    if (g.op(id) != Op::FOR) continue;
    const LoopParts l = loop_parts(g, id);
    const bool is_plain = !l.conditional && l.step == 1 && l.init.size() == 1 && g.src(id).size() == 5;
    if (!is_plain || !g.is_const(l.begin) || !g.is_const(l.end)) return {};
    if (!nest.empty() && (g.op(l.yield[0]) != Op::GET || g.scope(l.yield[0]) != nest.back())) return {};
    nest.push_back(id);
  }
  std::ranges::reverse(nest);
  return nest;
}

std::int64_t iterations_of(const Graph& g, std::span<const Id> nest) {
  std::int64_t n = 1;
  for (const Id loop : nest) n = product_of(n, g.value(loop_parts(g, loop).end) - g.value(loop_parts(g, loop).begin));
  return n;
}

std::size_t chain_level(const Graph& g, std::span<const Id> nest, std::int64_t terms) {
  std::size_t level = nest.size() - 1;
  while (level > 0 && iterations_of(g, nest.subspan(level)) <= terms) --level;
  return level;
}

void chain_blocks(const Graph& g, std::span<const Id> stores, int widest, const Target& target, std::vector<LoopPlan>& plan) {
  if (plan.size() < 3) return;
  const LoopPlan &lanes = plan[plan.size() - 2], &copies = plan.back();
  const std::int64_t around = copies_around(g, plan);
  if (around == 0 || (around == 1 && target.vector_registers >= 32)) return;
  const std::vector<Id> nodes = g.reachable(stores), nest = chain_nest(g, nodes);
  if (nest.empty() || !lanes.lanes || !g.is_const(g.end(lanes.range)) || !g.is_const(g.end(copies.range))) return;
  if (std::ranges::any_of(nodes, [&](Id id) { return g.op(id) == Op::LOAD && g.src(id).size() > 2; })) return;
  const Operands o = operands_of(g, nest, lanes.range, copies.range);
  const std::int64_t columns = product_of(around, g.value(g.end(lanes.range)));
  if (columns > chain_bytes / widest) return;
  const std::int64_t terms = iterations_of(g, nest), row = columns * widest;
  const PlannedRows r = rows_inside(g, plan, chain_bytes / row);
  if (r.part == 0 || r.rows < 4 * copies.step) return;
  const bool is_long_panel = o.panel > long_operand && r.rows >= passes_of_panel * copies.step;
  if (o.wide <= long_operand && o.turned == 0 && !is_long_panel) return;
  const std::int64_t of_term = std::max<std::int64_t>(1, (o.wide + (is_long_panel ? o.panel : 0)) / terms);
  std::int64_t most = panel_bytes / of_term, whole = first_cache / of_term;
  if (is_long_panel) most = whole = panel_part / of_term;
  if (o.turned != 0) most = whole = std::min(copied_bytes / o.turned / r.rows, panel_bytes / widest / lanes.step);
  const std::int64_t at_once = most < fewest_terms ? 0 : terms_at_once(g, nest, most, whole);
  if (at_once < fewest_terms || at_once >= terms) return;
  const LoopPlan chain{.step = narrow<int>(at_once), .chain = true};
  const auto block = std::ranges::find(plan, true, &LoopPlan::block);
  const auto first = plan.begin() + narrow<std::ptrdiff_t>(r.first);
  if (block != plan.end()) {
    block->step = narrow<int>(r.part);
    plan.insert(first, chain);
  } else {
    plan.insert(first, {{.range = first->range, .step = narrow<int>(r.part), .block = true}, chain});
  }
}

}  // namespace kiln::compiler
