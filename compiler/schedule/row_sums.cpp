// The members of RowClusters for kernels that sum over the rows of a cluster, such as the derivative of an operand that all
// rows share, and for clusters of kernels that only reduce, which are taken apart.
#include <algorithm>
#include <utility>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/schedule/row_clusters.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t fewest_groups = 8;     // of rows: each group is the work of one thread
constexpr std::int64_t most_rows = 16;        // of a tile, so that it fits the cache
constexpr std::int64_t fewest_tile_rows = 4;  // of a tile, which loads and stores each sum once
constexpr double rows_in_cache = 1 << 19;     // bytes of the rows that a tile stores
constexpr double sums_in_cache = 1 << 23;     // bytes of the sums of a group, which each tile loads and stores

}  // namespace

// The kernel as a tile step of a cluster with `depth` outer ranges: the range of its sum takes the place of the rows.
std::optional<TileStep> RowClusters::summing_step(std::size_t kernel, std::size_t depth) {
  TileStep p = tile_steps_[kernel];
  const auto ends = g_.src(s_.kernels[kernel].sink);
  if (!p.alone.empty() || ends.size() != 1 || p.loops.size() < depth || depth < 2) return std::nullopt;
  const Id sum = g_.src(g_.store(ends[0]), 2);
  if (g_.op(sum) != Op::REDUCE || g_.reduce_kind(sum) != ReduceKind::fma || !p.has_product) return std::nullopt;
  if ((g_.dtype(sum) != DType::f32 && g_.dtype(sum) != DType::f64) || g_.src(sum).size() != 3) return std::nullopt;
  const Id range = g_.src(sum, 2);
  if (g_.op(range) != Op::RANGE || g_.dtype(g_.src(sum, 0)) != g_.dtype(sum)) return std::nullopt;
  if (std::ranges::count_if(g_.reachable(sum), [&](Id id) { return g_.op(id) == Op::REDUCE; }) != 1) return std::nullopt;
  const auto at = static_cast<std::ptrdiff_t>(depth) - 1;
  p.loops.insert(p.loops.begin() + at, range);
  p.extents.insert(p.extents.begin() + at, g_.end(range));
  p.sum = sum;
  return p;
}

// Whether tiles of the cluster's rows can each add their terms to the sums of the kernel.
bool RowClusters::may_sum(const RowCluster& c, std::size_t kernel) {
  const auto step = summing_step(kernel, c.depth);
  const TileStep& first = tile_steps_[c.kernels[0]];
  if (!step ||
      !std::equal(first.extents.begin(), first.extents.begin() + static_cast<std::ptrdiff_t>(c.depth), step->extents.begin()))
    return false;
  if (std::ranges::any_of(step->access.stores, [&](int b) { return nth(s_.buffers, b).whole; })) return false;
  const TileStep alone = std::exchange(tile_steps_[kernel], *step);
  const bool may = std::ranges::all_of(step->access.loads, [&](int b) {
    const std::size_t from = writer(b);
    if (from >= s_.kernels.size() || !std::ranges::binary_search(c.kernels, from)) return true;
    const auto at = nth(s_.buffers, b).whole ? std::nullopt : compute_offsets(from, b, kernel, c.depth);
    return at && at->none();
  });
  tile_steps_[kernel] = alone;
  return may;
}

// The rows of a tile: the largest number that divides all rows, so that each tile has the same terms. Each tile reads all
// operands that its rows share again. 0: none.
std::int64_t RowClusters::rows_with_sums(const RowCluster& c, std::int64_t rows) {
  double row = 0;
  for (const std::size_t k : c.kernels)
    for (const int b : tile_steps_[k].access.stores)
      row += model_.elements({row_size(k, c.depth)}) * bytes(nth(s_.buffers, b).dtype);
  for (std::int64_t n = std::min(most_rows, rows); n > 0; --n)
    if (rows % n == 0 && static_cast<double>(n) * row <= rows_in_cache) return n;
  return 0;
}

// Joins the kernels that sum over the cluster's rows, if no other kernel needs the rows then. Each thread takes whole groups of
// rows, because the terms of a sum have an order.
void RowClusters::join_sums(std::size_t cluster) {
  const RowCluster both = clusters_[cluster];
  if (both.kernels.size() < 2 || both.depth < 2) return;
  std::vector<std::size_t> sums;
  for (const std::size_t k : both.kernels)
    for (const int b : tile_steps_[k].access.stores)
      for (const std::size_t r : nth(uses_, b).readers) {
        if (cluster_of_[r] == cluster || std::ranges::find(sums, r) != sums.end()) continue;
        if (clusters_[cluster_of_[r]].kernels.size() != 1 || !may_sum(both, r)) return;
        sums.push_back(r);
      }
  if (sums.empty()) return;
  const auto rows = index_value(g_, tile_steps_[both.kernels[0]].extents[both.depth - 1]);
  const std::int64_t rows_of_tile = rows ? rows_with_sums(both, *rows) : 0;
  if (const std::string_view why = why_no_sums(both, sums, rows_of_tile); !why.empty()) {
    for (const std::size_t r : sums) apart_[r] = why;
    return;
  }
  clusters_[cluster].rows = rows_of_tile;
  for (const std::size_t r : sums) join_sum(cluster, r);
}

// Why the sums stay apart from the cluster; empty: they may join.
std::string_view RowClusters::why_no_sums(const RowCluster& c, const std::vector<std::size_t>& sums,
                                          std::int64_t rows_of_tile) {
  const auto extents = std::span<const Id>(tile_steps_[c.kernels[0]].extents).first(c.depth);
  const auto groups = index_value(g_, index_product(g_, extents.first(c.depth - 1)));
  if (!groups || *groups < fewest_groups) return "it sums over rows, and too few sums are independent for the threads";
  if (!std::ranges::all_of(c.halos, [](const RowOffsets& w) { return w.none(); }))
    return "it sums over rows, of which tiles compute some twice";
  if (rows_of_tile < fewest_tile_rows || c.rows > most_rows) return "it sums over rows, and no number of rows suits all tiles";
  if (c.kernels.size() + 2 * sums.size() > most_tile_steps) return "the kernel would have too many parts";
  double size = 0;
  for (const std::size_t k : sums) {
    const Id sum = g_.src(g_.store(g_.src(s_.kernels[k].sink).front()), 2);
    size += model_.elements(tile_steps_[k].extents) / static_cast<double>(*groups) * bytes(g_.dtype(sum));
  }
  if (size > sums_in_cache) return "it sums over rows, and the sums do not fit the cache";
  const bool between = std::ranges::any_of(
      sums, [&](std::size_t k) { return lies_between(clusters_[cluster_of_[c.kernels[0]]], clusters_[cluster_of_[k]]); });
  return between ? "another kernel runs between them" : "";
}

void RowClusters::join_sum(std::size_t cluster, std::size_t kernel) {
  RowCluster& c = clusters_[cluster];
  const std::size_t last = std::max(reach_[cluster], reach_[cluster_of_[kernel]]);
  tile_steps_[kernel] = summing_step(kernel, c.depth).value();
  clusters_[cluster_of_[kernel]] = {};
  cluster_of_[kernel] = cluster;
  const auto at = std::ranges::lower_bound(c.kernels, kernel);
  c.halos.insert(c.halos.begin() + (at - c.kernels.begin()), RowOffsets{});
  c.kernels.insert(at, kernel);
  const auto inside = [&](std::size_t r) { return cluster_of_[r] == cluster; };
  for (const int b : tile_steps_[kernel].access.loads) {
    if (writer(b) >= s_.kernels.size() || !inside(writer(b)) || std::ranges::find(c.local, b) != c.local.end()) continue;
    const BufferUse& use = nth(uses_, b);
    if (nth(s_.buffers, b).param < 0 && !use.is_continued && std::ranges::all_of(use.readers, inside)) c.local.push_back(b);
  }
  raise_reach(cluster, last);
}

// Whether the first kernel loads elements of its rows only to reduce them, and each other one reduces only what the others
// computed, as in a sum over two axes. If these results are much smaller than what the first one loads, a tile in the cache
// saves little.
bool RowClusters::only_reduces(const RowCluster& c) {
  constexpr double much_smaller = 8;  // times
  if (c.kernels.size() == 1 || c.local.empty()) return false;
  const TileStep& first = tile_steps_[c.kernels[0]];
  double loaded = 0, stored = 0;
  for (const int b : first.access.loads) loaded = std::max(loaded, model_.extent(nth(s_.buffers, b).size));
  for (const int b : c.local) stored = std::max(stored, model_.extent(nth(s_.buffers, b).size));
  const auto is_local = [&](int b) { return std::ranges::find(c.local, b) != c.local.end(); };
  return stored * much_smaller <= loaded && std::ranges::all_of(first.loads, [&](Id l) { return is_reduced(first, l); }) &&
         std::ranges::all_of(c.kernels, [&](std::size_t k) {
           const TileStep& p = tile_steps_[k];
           if (!p.has_reduce || p.has_product) return false;
           return k == c.kernels[0] || std::ranges::all_of(p.access.loads, is_local);
         });
}

// Whether the LOAD moves with the range of a reduction, or does not move with the innermost loop of the kernel.
bool RowClusters::is_reduced(const TileStep& p, Id load) const {
  bool moves = false;
  for (const Id id : g_.reachable(load)) {
    if (g_.op(id) == Op::RANGE && g_.range_kind(id) == RangeKind::reduce) return true;
    moves = moves || id == p.loops.back();
  }
  return !moves;
}

// Makes a cluster of each kernel of the cluster.
void RowClusters::part(std::size_t cluster) {
  const std::vector<std::size_t> kernels = clusters_[cluster].kernels;
  clusters_[cluster] = {};
  for (const std::size_t k : kernels) {
    cluster_of_[k] = clusters_.size();
    clusters_.emplace_back().kernels = {k};
    reach_.push_back(reach_[cluster]);
    if (k != kernels.front()) apart_[k] = "it only reduces that result, and loops over all rows are faster";
  }
}

}  // namespace kiln::compiler
