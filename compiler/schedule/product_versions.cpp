#include "compiler/schedule/product_versions.h"

#include <algorithm>
#include <optional>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/range_ids.h"
#include "compiler/schedule/each_kernel.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/schedule/packed_operand.h"

namespace kiln::compiler {
namespace {

// A contiguous operand of an fma REDUCE, to be laid out in panels; nullopt: the kernel has none.
std::optional<Operand> panel_operand(const Graph& g, const Kernel& k) {
  const std::vector<Id> loops = loop_ranges_of(g, k);
  if (loops.size() < 2) return std::nullopt;
  for (const Id id : g.reachable(k.sink)) {
    if (g.op(id) != Op::REDUCE || g.reduce_kind(id) != ReduceKind::fma) continue;
    const std::size_t values = operands_of(ReduceKind::fma);
    if (g.src(id).size() != values + 1 || g.op(g.src(id, values)) != Op::RANGE) continue;
    for (const Id load : g.reachable(g.src(id).first(values))) {
      if (g.op(load) != Op::LOAD || g.src(load).size() != 2) continue;
      std::optional<Operand> o = operand_of(g, loops, load, g.src(id, values));
      if (!o || !o->contiguous) continue;
      o->panel = panel_of(g.dtype(load));
      const std::optional<std::int64_t> columns = index_value(g, g.end(o->column));
      if (may_store_twice(g, k) || (columns && *columns % o->panel == 0)) return o;
    }
  }
  return std::nullopt;
}

// 1 if the value is at least `least`, else 0. The runtime's expressions have no conditions.
Id at_least(Graph& g, Id value, std::int64_t least) {
  const Id above = index_sub(g, value, g.index(least - 1)), zero = g.index(0), one = g.index(1);
  return index_min(g, one, index_max(g, zero, above));
}

// The ranges on which the operand does not depend.
std::vector<Id> rows_of(const Graph& g, const Kernel& k, const Operand& o) {
  std::vector<Id> rows;
  for (const Id loop : loop_ranges_of(g, k))
    if (loop != o.column && std::ranges::find(o.outer, loop) == o.outer.end()) rows.push_back(loop);
  return rows;
}

Id iterations(Graph& g, std::span<const Id> ranges) {
  Id n = g.index(1);
  for (const Id r : ranges) n = index_mul(g, n, g.end(r));
  return n;
}

// 1 if the operand is large, else 0.
Id is_large(Graph& g, const Operand& o, Id rows) {
  const Id matrix = index_mul(g, g.end(o.column), g.end(o.r)), elements = index_mul(g, iterations(g, o.outer), matrix);
  const Id columns = at_least(g, g.end(o.column), fewest_panels * o.panel);
  const Id size = at_least(g, elements, fits_in_cache / bytes(g.dtype(o.value)) + 1);
  const Id walks = at_least(g, rows, walks_for_panels), both = index_mul(g, columns, size);
  return index_mul(g, both, walks);
}

// The kernel runs if the factor is 1, and not if it is 0.
void run_if(Graph& g, Kernel& k, Id factor) {
  const Id outermost = loop_ranges_of(g, k).front();
  RangeIds ids(g, k.sink);
  const Id range = ids.range(g, index_mul(g, g.end(outermost), factor), RangeKind::loop);
  rewrite_kernel(g, k, {.values = {{outermost, range}}, .loops = {{outermost, {range}}}});
}

// The kernel for one iteration of these ranges.
Kernel for_one_row(Graph& g, Kernel k, std::span<const Id> rows) {
  RangeChange change;
  for (const Id r : rows) {
    change.values[r] = g.index(0);
    change.loops[r] = {};
  }
  rewrite_kernel(g, k, change);
  return k;
}

void add_versions(Graph& g, Schedule& s, Kernel& k, const Facts& facts, std::vector<Kernel>& made) {
  if (k.is_explicit || has_tile_steps(g, k.sink)) return;
  const std::optional<Operand> o = panel_operand(g, k);
  if (!o) return;
  Simplifier simplify(g, facts);
  const std::vector<Id> ranges = rows_of(g, k, *o);
  const Id rows = iterations(g, ranges), none = g.index(0), always = g.index(1);
  const Id large = simplify(is_large(g, *o, rows));
  const Id some = at_least(g, rows, 1), several = at_least(g, rows, 2);
  const Id one = g.is_const(rows) ? none : simplify(index_sub(g, some, several));
  const Id in_place = simplify(index_sub(g, index_sub(g, always, one), large));
  if (in_place == always) return;
  const auto add = [&](Kernel version, Id factor) {
    if (factor == none) return;
    if (factor != always) run_if(g, version, factor);
    made.push_back(std::move(version));
  };
  if (one != none) add(for_one_row(g, k, ranges), one);
  if (large == none) {
    run_if(g, k, in_place);
    return;
  }
  add(k, in_place);
  Kernel copy = pack(g, s, k, *o, facts);
  s.buffers.back().size = index_mul(g, s.buffers.back().size, large);
  add(std::move(copy), large);
  if (large != always) run_if(g, k, large);
}

}  // namespace

void product_versions(Graph& g, Schedule& s) {
  insert_kernels(g, s, [&](Kernel& k, const Facts& facts, std::vector<Kernel>& made) { add_versions(g, s, k, facts, made); });
}

}  // namespace kiln::compiler
