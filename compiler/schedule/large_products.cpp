#include "compiler/schedule/large_products.h"

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
  return index_min(g, g.index(1), index_max(g, g.index(0), index_sub(g, value, g.index(least - 1))));
}

// 1 if the operand is large, else 0.
Id is_large(Graph& g, const Kernel& k, const Operand& o) {
  Id elements = index_mul(g, g.end(o.column), g.end(o.r)), walks = g.index(1);
  for (const Id loop : loop_ranges_of(g, k)) {
    if (loop == o.column) continue;
    Id& factor = std::ranges::find(o.outer, loop) != o.outer.end() ? elements : walks;
    factor = index_mul(g, factor, g.end(loop));
  }
  const Id columns = at_least(g, g.end(o.column), fewest_panels * o.panel);
  const Id size = at_least(g, elements, fits_in_cache / bytes(g.dtype(o.value)) + 1);
  return index_mul(g, index_mul(g, columns, size), at_least(g, walks, walks_for_panels));
}

// The kernel with `iterations` of its outermost loop.
void set_iterations(Graph& g, Kernel& k, Id iterations) {
  const Id outermost = loop_ranges_of(g, k).front();
  RangeIds ids(g, k.sink);
  const Id range = ids.range(g, iterations, RangeKind::loop);
  rewrite_kernel(g, k, {.values = {{outermost, range}}, .loops = {{outermost, {range}}}});
}

void multiply_iterations(Graph& g, Kernel& k, Id factor) {
  set_iterations(g, k, index_mul(g, g.end(loop_ranges_of(g, k).front()), factor));
}

void add_version(Graph& g, Schedule& s, Kernel& k, const Facts& facts, std::vector<Kernel>& made) {
  if (k.is_explicit || has_tile_steps(g, k.sink)) return;
  const std::optional<Operand> o = panel_operand(g, k);
  if (!o) return;
  Simplifier simplify(g, facts);
  const Id large = simplify(is_large(g, k, *o));
  if (g.is_index_const(large, 0)) return;
  Kernel in_place = k;
  Kernel copy = pack(g, s, k, *o, facts);
  const bool always = g.is_index_const(large, 1);
  if (!always) {
    multiply_iterations(g, copy, large);
    multiply_iterations(g, in_place, index_sub(g, g.index(1), large));
    multiply_iterations(g, k, large);
    s.buffers.back().size = index_mul(g, s.buffers.back().size, large);
  }
  made.push_back(std::move(copy));
  if (!always) made.push_back(std::move(in_place));
}

}  // namespace

void large_products(Graph& g, Schedule& s) {
  insert_kernels(g, s, [&](Kernel& k, const Facts& facts, std::vector<Kernel>& made) { add_version(g, s, k, facts, made); });
}

}  // namespace kiln::compiler
