// The members of RowClusters that split the index of a load into a row and an element of the row.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/rangeify/index_expr.h"
#include "compiler/schedule/row_clusters.h"
#include "compiler/symbolic/prove.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t far = std::int64_t{1} << 40;

// Whether `ids` contain a division that `known` does not contain.
bool has_new_division(const Graph& g, std::span<const Id> ids, Id known) {
  const std::vector<Id> nodes = g.reachable(known);
  const std::unordered_set<Id> old(nodes.begin(), nodes.end());
  return std::ranges::any_of(g.reachable(ids), [&](Id id) {
    return (g.op(id) == Op::FLOORDIV || g.op(id) == Op::FLOORMOD) && g.dtype(id) == DType::index && !old.contains(id);
  });
}

}  // namespace

int RowClusters::buffer_of(std::size_t kernel, Id access) const {
  return nth(s_.kernels[kernel].buffers, g_.slot(g_.state(access)));
}

Id RowClusters::row_size(std::size_t kernel, std::size_t depth) {
  return index_product(g_, std::span<const Id>(tile_steps_[kernel].extents).subspan(depth));
}

bool RowClusters::is_row_major(std::size_t kernel, int buffer) {
  const TileStep& p = tile_steps_[kernel];
  for (const Id end : g_.src(s_.kernels[kernel].sink))
    if (buffer_of(kernel, g_.store(end)) == buffer)
      return simplify_(row_major(g_, p.loops, p.extents)) == g_.src(g_.store(end), 1);
  return false;
}

std::optional<RowOffsets> RowClusters::offsets(std::size_t from, int buffer, std::size_t reader, std::size_t depth) {
  const auto key = std::tuple(from, buffer, reader, depth);
  if (const auto hit = offsets_.find(key); hit != offsets_.end()) return hit->second;
  return offsets_[key] = compute_offsets(from, buffer, reader, depth);
}

// Offsets of the rows of `buffer` that `reader` loads, relative to its own row. nullopt: not known, or too far.
std::optional<RowOffsets> RowClusters::compute_offsets(std::size_t from, int buffer, std::size_t reader, std::size_t depth) {
  if (!is_row_major(from, buffer)) return std::nullopt;
  RowOffsets all;
  for (const Id load : tile_steps_[reader].loads) {
    if (buffer_of(reader, load) != buffer) continue;
    const std::optional<RowElement> at = locate(from, reader, load, depth);
    if (!at || at->halo.lo < -farthest_row || at->halo.hi > farthest_row) return std::nullopt;
    all.lo = std::min(all.lo, at->halo.lo);
    all.hi = std::max(all.hi, at->halo.hi);
  }
  return all;
}

std::optional<RowElement> RowClusters::locate(std::size_t from, std::size_t reader, Id load, std::size_t depth) {
  const TileStep& p = tile_steps_[reader];
  const Id index = g_.src(load, 1), size = row_size(from, depth);
  std::unordered_map<Id, Id> first;
  std::vector<Id> rows;
  for (std::size_t i = 0; i < depth; ++i) {
    first[p.loops[i]] = g_.index(0);
    rows.push_back(p.loops[i]);
  }
  const Id own = simplify_(row_major(g_, rows, std::span<const Id>(p.extents).first(depth)));
  const Id rest = simplify_(substitute(g_, index, first));
  const Id whole = g_.make(Op::ADD, DType::index, {g_.make(Op::MUL, DType::index, {own, size}), rest});
  const Id simple_index = simplify_(index);
  if (simplify_(whole) == simple_index && prove_ge0(g_, rest, facts_) && prove_lt(g_, rest, size, facts_))
    return RowElement{own, rest, {}};
  Facts known = facts_;
  if (g_.src(load).size() > 3) assume(g_, known, g_.src(load, 3));
  const Id parts[] = {g_.make(Op::FLOORDIV, DType::index, {index, size}), g_.make(Op::FLOORMOD, DType::index, {index, size})};
  const std::vector<Id> simple = simplify_all(g_, parts, known);
  if (has_new_division(g_, simple, index)) return std::nullopt;
  return RowElement{simple[0], simple[1], halo(simple[0], own)};
}

// Bounds of row - own. Those of MIN and MAX follow from the bounds of their operands: max(own - 1, 0) is near own because
// own - 1 is.
RowOffsets RowClusters::halo(Id row, Id own) {
  std::unordered_map<Id, RowOffsets> of;
  for (const Id id : g_.reachable(row)) {
    if (g_.dtype(id) != DType::index) continue;
    const Id more = simplify_(g_.make(Op::SUB, DType::index, {id, own})),
             less = simplify_(g_.make(Op::SUB, DType::index, {own, id}));
    const Interval bounds = simplify_.bounds()(more);
    RowOffsets o{bounds.min, bounds.max};
    if (o.lo < 0 && o.lo < -farthest_row && prove_ge0(g_, more, facts_)) o.lo = 0;
    if (o.hi > farthest_row && prove_ge0(g_, less, facts_)) o.hi = 0;
    if (g_.op(id) == Op::MIN || g_.op(id) == Op::MAX) {
      const auto [x, y] = g_.operands<2>(id);
      const RowOffsets a = of.at(x), b = of.at(y);
      const bool least = g_.op(id) == Op::MIN;
      o.lo = std::max(o.lo, least ? std::min(a.lo, b.lo) : std::max(a.lo, b.lo));
      o.hi = std::min(o.hi, least ? std::min(a.hi, b.hi) : std::max(a.hi, b.hi));
    }
    of[id] = {std::max(o.lo, -far), std::min(o.hi, far)};
  }
  return of.at(row);
}

}  // namespace kiln::compiler
