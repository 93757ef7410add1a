#include "compiler/schedule/row_lengths.h"

#include <algorithm>
#include <array>
#include <utility>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/range_ids.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/target/lane_limits.h"

namespace kiln::compiler {
namespace {

constexpr std::size_t most_nodes = 400;  // of a kernel that two versions repeat

Id range_of(const Graph& g, Id reduce) {
  const std::size_t values = operands_of(g.reduce_kind(reduce));
  return g.src(reduce).size() == values + 1 && g.op(g.src(reduce, values)) == Op::RANGE ? g.src(reduce, values) : no_id;
}

// Whether the REDUCE has lanes along its range.
bool has_lanes(const Graph& g, Id reduce, Id range) {
  for (const Id load : g.reachable(g.src(reduce).first(operands_of(g.reduce_kind(reduce)))))
    if (g.op(load) == Op::LOAD && distance_along(g, g.src(load, 1), range) == std::int64_t{1}) return true;
  return false;
}

// The symbolic length of the rows that the first tile step reduces; no_id: none does. Later tile steps reduce fewer elements,
// such as the sums of rows.
Id length_of(const Graph& g, const Kernel& k) {
  if (g.reachable(k.sink).size() > most_nodes) return no_id;
  for (const Id end : g.src(k.sink)) {
    Id length = no_id;
    for (const Id id : g.reachable(end)) {
      if (g.op(id) != Op::REDUCE || g.reduce_kind(id) == ReduceKind::fma) continue;
      const Id r = range_of(g, id);
      if (r == no_id || g.is_const(g.end(r)) || !has_lanes(g, id, r)) continue;
      if (length != no_id && g.end(r) != length) return no_id;
      length = g.end(r);
    }
    if (length != no_id) return length;
  }
  return no_id;
}

bool repeats(const Graph& g, const Kernel& k) {
  return std::ranges::any_of(g.src(k.sink), [&](Id end) {
    return std::ranges::any_of(g.src(end).subspan(1), [&](Id r) { return !g.is_index_const(g.end(r), 1); });
  });
}

Kernel with_length(Graph& g, Kernel k, Id length, Id now) {
  RangeIds ids(g, k.sink);
  RangeChange change;
  for (const Id id : g.reachable(k.sink)) {
    if (g.op(id) != Op::RANGE || g.range_kind(id) != RangeKind::reduce || g.end(id) != length) continue;
    change.values[id] = ids.range(g, now, RangeKind::reduce);
    change.loops[id] = {change.values[id]};
  }
  rewrite_kernel(g, k, change);
  return k;
}

}  // namespace

bool finds_extrema(const Graph& g, const Kernel& k) {
  return std::ranges::any_of(g.reachable(k.sink), [&](Id id) {
    if (g.op(id) != Op::REDUCE) return false;
    const ReduceKind kind = g.reduce_kind(id);
    return kind == ReduceKind::argmax || kind == ReduceKind::argmin ||
           (is_float(g.dtype(id)) && (kind == ReduceKind::max || kind == ReduceKind::min));
  });
}

bool only_reduces_rows(const Graph& g, const Kernel& k) {
  int operations = 0;
  for (const Id id : g.reachable(k.sink)) operations += is_elementwise(g.op(id)) && g.dtype(id) != DType::index ? 1 : 0;
  const Id n = has_tile_steps(g, k.sink) || operations > most_of_columns ? no_id : length_of(g, k);
  return n != no_id && std::ranges::none_of(loop_ranges_of(g, k), [&](Id r) { return g.end(r) == n; });
}

std::optional<RowLengths> row_lengths(Graph& g, const Schedule& s, const Kernel& k) {
  if (!repeats(g, k)) return std::nullopt;
  const Id n = length_of(g, k);
  if (n == no_id || !are_of_the_call(g, s.program, std::array{n})) return std::nullopt;
  const Poly p = poly_of(g, n);
  if (p.size() != 1 || p[0].coefficient != 1) return std::nullopt;
  const Id above = g.index(reduce_stripes + 1);
  Id limited = g.index(1);  // the product of limited factors cannot overflow
  for (const Id atom : p[0].atoms) limited = index_mul(g, limited, index_min(g, atom, above));
  const Id is_long = at_least(g, limited, reduce_stripes + 1), few = index_sub(g, g.index(1), is_long);
  const Id at_most = index_min(g, n, g.index(reduce_stripes)), from = index_max(g, n, above);
  Kernel for_short = with_length(g, k, n, at_most);
  Kernel for_long = with_length(g, k, n, from);
  return RowLengths{std::move(for_short), std::move(for_long), n, few};
}

}  // namespace kiln::compiler
