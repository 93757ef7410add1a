#include "compiler/schedule/row_clusters.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/ir/entry_values.h"
#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/remark.h"
#include "compiler/ir/sum_of_products.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/target/operation_cost.h"
#include "compiler/target/unrollable_loops.h"

namespace kiln::compiler {
namespace {

constexpr double fewest_rows = 32;            // rows that are enough for the threads
constexpr std::int64_t shortest_piece = 128;  // contiguous elements of a row whose pieces are apart: 8 cache lines
constexpr double shortest_row = 8;            // elements: loops over all rows at once are faster for shorter rows
constexpr double in_cache = 512 * 1024;       // bytes of the local buffers of one tile that fit the cache
constexpr double much_more = 16;              // fuse beyond the cache if the whole buffers exceed this many tiles
constexpr std::int64_t product_rows = 8;      // rows of a tile with a product: they share one pass over its right operand
constexpr std::int64_t fewest_copies = 4;     // iterations of a loop of a product that share loads well
constexpr std::int64_t halo_rows = 16;        // rows of a tile with a halo
// Rows of a tile whose rows become lanes: rows that are short ranges (unrollable_loops.h), and rows of long sums in order.
constexpr std::int64_t rows_of_lanes = 64;
constexpr std::int64_t rows_of_chains = 16;
constexpr double recompute_for_store = 24;  // operations that cost as much as to store and load one element

}  // namespace

RowClusters::RowClusters(Graph& g, const Schedule& s)
    : g_(g), s_(s), facts_(facts_of(s.program)), simplify_(g, facts_), model_(g, s.program) {
  std::vector<std::vector<std::size_t>> writers(s.buffers.size());
  uses_.resize(s.buffers.size());
  for (std::size_t k = 0; k < s.kernels.size(); ++k) {
    tile_steps_.push_back(make_tile_step(s.kernels[k]));
    for (const int b : tile_steps_[k].access.stores) nth(writers, b).push_back(k);
    for (const int b : tile_steps_[k].access.loads) nth(uses_, b).readers.push_back(k);
    RowCluster& alone = clusters_.emplace_back();
    alone.kernels = {k};
    cluster_of_.push_back(k);
    reach_.push_back(k);
  }
  find_order(writers);
}

// Kernels that store to one buffer keep their order. A kernel that only reads the buffer reads the last writer's values, or a
// parameter's value on entry. All users of a buffer come before the kernels that reuse its memory (Buffer::after).
void RowClusters::find_order(const std::vector<std::vector<std::size_t>>& writers) {
  neighbours_.resize(s_.kernels.size());
  const auto add = [&](std::size_t before, std::size_t after) {
    neighbours_[after].needs.push_back(before);
    neighbours_[before].feeds.push_back(after);
  };
  for (int b = 0; b < count_of(writers); ++b) {
    const auto& w = nth(writers, b);
    for (std::size_t i = 1; i < w.size(); ++i) add(w[i - 1], w[i]);
    const bool stored = !w.empty() && !is_entry_value(s_, b);
    BufferUse& use = nth(uses_, b);
    use.writer = stored ? w.back() : s_.kernels.size();
    for (const std::size_t r : use.readers)
      if (stored && !std::ranges::binary_search(w, r)) add(w.back(), r);
  }
  for (std::size_t b = 0; b < writers.size(); ++b) {
    if (s_.buffers[b].after < 0 || writers[b].empty()) continue;
    const int before = s_.buffers[b].after;
    BufferUse& use = nth(uses_, before);
    use.is_continued = true;
    for (const std::size_t k : nth(writers, before)) add(k, writers[b].front());
    for (const std::size_t k : use.readers)
      if (!std::ranges::binary_search(nth(writers, before), k)) add(k, writers[b].front());
  }
  for (std::size_t k = 0; k < neighbours_.size(); ++k)
    for (const std::size_t from : neighbours_[k].needs)
      if (reach_[from] > reach_[k]) raise_reach(k, reach_[from]);
}

TileStep RowClusters::make_tile_step(const Kernel& k) {
  TileStep p;
  const Id first = g_.src(k.sink).front();
  for (const Id r : g_.src(first).subspan(1)) {
    if (g_.is_index_const(g_.end(r), 1)) continue;
    p.loops.push_back(r);
    p.extents.push_back(g_.end(r));
  }
  p.access = access_of(g_, k);
  double repeats = 1;
  for (const Id id : g_.reachable(k.sink)) {
    if (g_.op(id) == Op::LOAD) p.loads.push_back(id);
    if (is_elementwise(g_.op(id)) && g_.dtype(id) != DType::index) p.operations += operation_cost(g_.op(id)).recompute;
    p.joins = p.joins && (!is_elementwise(g_.op(id)) || g_.op(id) == Op::WHERE || g_.dtype(id) == DType::index ||
                          g_.dtype(id) == DType::boolean);
    if (g_.op(id) == Op::RANGE && g_.range_kind(id) == RangeKind::reduce) repeats *= std::max(1.0, model_.extent(g_.end(id)));
    if (g_.op(id) != Op::REDUCE) continue;
    p.has_reduce = true;
    p.joins = false;
    p.operations += 1;
    if (!is_sum_of_products(g_, id)) {
      (g_.reduce_order(id) == ReduceOrder::sequential ? p.has_chain : p.has_stripes) |= is_long(id);
      continue;
    }
    p.has_product = true;
    find_operands(id, p);
  }
  p.operations *= repeats;
  const Id stored = g_.src(g_.store(first), 2);
  p.copies = g_.op(stored) == Op::LOAD ||
             (g_.op(stored) == Op::WHERE && g_.op(g_.src(stored, 1)) == Op::LOAD && g_.is_const(g_.src(stored, 2)));
  if (k.is_explicit)
    p.alone = "an explicit kernel stays as it is";
  else if (std::ranges::any_of(p.access.stores, [&](int b) { return is_entry_value(s_, b); }))
    p.alone = "it stores to a parameter whose value on entry is read";
  else if (g_.op(stored) == Op::LOAD)
    p.alone = "it only copies, for the order of its result in memory";
  return p;
}

// Whether the reduction has more iterations than a loop that is written out.
bool RowClusters::is_long(Id reduce) {
  std::vector<Id> extents;
  for (const Id r : g_.src(reduce).subspan(operands_of(g_.reduce_kind(reduce))))
    if (g_.op(r) == Op::RANGE) extents.push_back(g_.end(r));
  return model_.elements(extents) > static_cast<double>(max_short_iterations);
}

void RowClusters::find_operands(Id product, TileStep& p) {
  const bool paired = g_.op(g_.src(product, 0)) == Op::DOT2;
  const std::vector<Id> sources = g_.sources(paired ? g_.src(product, 0) : product);
  p.operands.resize(p.loops.size());
  for (std::size_t side = 0; side < 2; ++side)
    for (const Id id : different_in_neighbours(sources[side]))
      if (const auto at = std::ranges::find(p.loops, id); at != p.loops.end()) p.operands[index_at(p.loops, at)][side] = true;
}

// The nodes below a value, but for what only quotients depend on, such as the group of a channel. They are the same for
// neighbouring iterations.
std::vector<Id> RowClusters::different_in_neighbours(Id value) const {
  std::vector<Id> out = {value};
  std::unordered_set<Id> seen = {value};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto divisor = g_.op(out[i]) == Op::FLOORDIV ? index_value(g_, g_.src(out[i], 1)) : std::nullopt;
    if (divisor && *divisor >= product_rows) continue;
    for (const Id s : g_.src(out[i]))
      if (seen.insert(s).second) out.push_back(s);
  }
  return out;
}

std::vector<RowCluster> RowClusters::find() {
  for (std::size_t k = 0; k < s_.kernels.size(); ++k)
    for (const int b : tile_steps_[k].access.loads) try_join(k, b);
  for (std::size_t c = 0; c < clusters_.size(); ++c) join_sums(c);
  for (std::size_t c = 0, n = clusters_.size(); c < n; ++c)
    if (only_reduces(clusters_[c])) part(c);
  explain();
  return in_order();
}

// Repeats walks over the clusters in their old order. A walk takes each cluster whose predecessors are taken.
std::vector<RowCluster> RowClusters::in_order() {
  std::vector<RowCluster> out;
  std::vector<bool> done(clusters_.size(), false);
  const auto ready = [&](std::size_t c) {
    return std::ranges::all_of(clusters_[c].kernels, [&](std::size_t k) {
      return std::ranges::all_of(neighbours_[k].needs,
                                 [&](std::size_t from) { return cluster_of_[from] == c || done[cluster_of_[from]]; });
    });
  };
  for (std::size_t before = clusters_.size(); before != out.size();) {
    before = out.size();
    for (std::size_t c = 0; c < clusters_.size(); ++c) {
      if (clusters_[c].kernels.empty() || done[c] || !ready(c)) continue;
      done[c] = true;
      out.push_back(clusters_[c]);
    }
  }
  for (std::size_t c = 0; c < clusters_.size(); ++c)  // clusters in a cycle: dependencies reports it
    if (!clusters_[c].kernels.empty() && !done[c]) out.push_back(clusters_[c]);
  return out;
}

// The cluster of the reader and of the buffer's writer together; nullopt: they stay apart, and why_ says why.
std::optional<RowCluster> RowClusters::together(std::size_t reader, int buffer) {
  const std::size_t from = writer(buffer);
  why_ = {};
  if (from >= s_.kernels.size() || cluster_of_[from] == cluster_of_[reader]) return std::nullopt;
  for (const std::size_t k : {from, reader})
    if (!tile_steps_[k].alone.empty()) {
      why_ = tile_steps_[k].alone;
      return std::nullopt;
    }
  const RowCluster &a = clusters_[cluster_of_[from]], &b = clusters_[cluster_of_[reader]];
  std::vector<std::size_t> kernels = a.kernels;
  kernels.insert(kernels.end(), b.kernels.begin(), b.kernels.end());
  if (kernels.size() > most_tile_steps) {
    why_ = "the kernel would have too many parts";
    return std::nullopt;
  }
  std::ranges::sort(kernels);
  std::optional<RowCluster> both = best_shape(kernels);
  if (const std::vector<Id> order = both ? std::vector<Id>{} : rows_first(reader, buffer); !order.empty()) {
    const std::string_view why = why_;
    const std::vector<Id> before = tile_steps_[reader].loops;
    set_order(reader, order);
    both = best_shape(std::move(kernels));
    set_order(reader, before);
    if (both) both->order = order;
    why_ = why;
  }
  if (!both || !lies_between(a, b)) return both;
  why_ = "another kernel runs between them";
  return std::nullopt;
}

void RowClusters::try_join(std::size_t reader, int buffer) {
  const std::optional<RowCluster> both = together(reader, buffer);
  if (!both) return;
  const std::size_t from = writer(buffer), last = std::max(reach_[cluster_of_[from]], reach_[cluster_of_[reader]]);
  if (!both->order.empty()) set_order(reader, both->order);
  clusters_[cluster_of_[from]] = {};
  clusters_[cluster_of_[reader]] = *both;
  for (const std::size_t k : both->kernels) cluster_of_[k] = cluster_of_[reader];
  raise_reach(cluster_of_[reader], last);
}

// Makes a remark about each buffer between two kernels that were not fused, with the reason.
void RowClusters::explain() {
  if (g_.remarks() == nullptr) return;
  for (std::size_t k = 0; k < s_.kernels.size(); ++k)
    for (const int b : tile_steps_[k].access.loads)
      if (const std::size_t from = writer(b); from < s_.kernels.size() && cluster_of_[from] != cluster_of_[k]) {
        together(k, b);
        if (const auto sum = apart_.find(k); sum != apart_.end()) why_ = sum->second;
        if (!why_.empty())
          remark(g_, store_of(k), remarks::not_fused, [&] {
            return "a kernel of its own, apart from the one" + place_of(from) + " whose result it reads: " + std::string(why_);
          });
      }
}

Id RowClusters::store_of(std::size_t kernel) const { return g_.store(g_.src(s_.kernels[kernel].sink).front()); }

std::string RowClusters::place_of(std::size_t kernel) const {
  const std::string place = file_and_line(g_, g_.loc(store_of(kernel)));
  return place.empty() ? "" : " of " + place;
}

// Makes the cluster, and all clusters that wait for it, wait for kernel `last`.
void RowClusters::raise_reach(std::size_t cluster, std::size_t last) {
  std::vector<std::size_t> todo{cluster};
  reach_[cluster] = last;
  while (!todo.empty()) {
    const std::size_t c = todo.back();
    todo.pop_back();
    for (const std::size_t k : clusters_[c].kernels)
      for (const std::size_t r : neighbours_[k].feeds) {
        const std::size_t next = cluster_of_[r];
        if (reach_[next] >= last) continue;
        reach_[next] = last;
        todo.push_back(next);
      }
  }
}

// Whether a kernel outside of the two clusters depends on one of them, and one of them on it. Then they cannot be fused.
bool RowClusters::lies_between(const RowCluster& a, const RowCluster& b) const {
  const auto inside = [&](std::size_t k) { return &clusters_[cluster_of_[k]] == &a || &clusters_[cluster_of_[k]] == &b; };
  const std::size_t first = std::min(a.kernels.front(), b.kernels.front());
  std::vector<std::size_t> todo = a.kernels;
  todo.insert(todo.end(), b.kernels.begin(), b.kernels.end());
  std::vector<bool> seen(clusters_.size(), false);
  while (!todo.empty()) {
    const std::size_t k = todo.back();
    todo.pop_back();
    for (const std::size_t from : neighbours_[k].needs) {
      if (inside(from) && !inside(k)) return true;
      const RowCluster& c = clusters_[cluster_of_[from]];
      if (inside(from) || seen[cluster_of_[from]] || reach_[cluster_of_[from]] < first) continue;
      seen[cluster_of_[from]] = true;
      todo.insert(todo.end(), c.kernels.begin(), c.kernels.end());
    }
  }
  return false;
}

// Few outer ranges leave long loops inside of a row. More outer ranges give more rows for the threads, and rows that fit the
// cache. So the fewest ranges that give fewest_rows rows that fit the cache are best.
std::optional<RowCluster> RowClusters::best_shape(std::vector<std::size_t> kernels) {
  std::optional<RowCluster> best;
  std::string_view first_why;  // with the fewest outer ranges
  bool is_enough = false;      // `best` has rows for the threads
  for (std::size_t depth = 1;; ++depth) {
    RowCluster c;
    c.kernels = kernels;
    c.depth = depth;
    if (!shares_rows(c)) {
      why_ = depth == 1 ? "their outermost loops differ" : first_why;
      return best;
    }
    const bool may = shape(c);
    if (depth == 1) first_why = why_;
    if (!may || (best && is_enough && !c.fits_cache)) continue;
    best = c;
    const auto rows = tile_steps_[kernels.back()].extents.begin();
    is_enough = model_.elements({rows, rows + static_cast<std::ptrdiff_t>(depth)}) >= fewest_rows;
    if (is_enough && c.fits_cache) return best;
  }
}

// A new order of the loops of a kernel without reductions. The loops on which its load from the buffer depends come first.
// Example: the buffer has a value for each channel of images; then the loop over channels comes first. Empty: the kernel has a
// reduction, there are too few rows for the threads, or the contiguous pieces of a row are too short.
std::vector<Id> RowClusters::rows_first(std::size_t reader, int buffer) {
  const TileStep& p = tile_steps_[reader];
  const auto load = std::ranges::find_if(p.loads, [&](Id l) { return buffer_of(reader, l) == buffer; });
  if (p.has_reduce || load == p.loads.end()) return {};
  std::vector<std::pair<std::int64_t, Id>> rows;
  std::vector<Id> order, extents;
  for (const Id loop : p.loops) {
    const auto stride = distance_along(g_, g_.src(*load, 1), loop);
    if (!stride || *stride < 0) return {};
    if (*stride > 0) rows.emplace_back(-*stride, loop);
  }
  std::ranges::sort(rows);
  for (const auto& [stride, loop] : rows) {
    order.push_back(loop);
    extents.push_back(g_.end(loop));
    for (const Id end : g_.src(s_.kernels[reader].sink))
      if (const auto piece = distance_along(g_, g_.src(g_.store(end), 1), loop); piece && *piece < shortest_piece) return {};
  }
  if (rows.empty() || model_.elements(extents) < fewest_rows / 2) return {};
  for (const Id loop : p.loops)
    if (std::ranges::find(order, loop) == order.end()) order.push_back(loop);
  return order == p.loops ? std::vector<Id>{} : order;
}

void RowClusters::set_order(std::size_t kernel, const std::vector<Id>& loops) {
  TileStep& p = tile_steps_[kernel];
  p.loops = loops;
  p.extents.clear();
  for (const Id loop : loops) p.extents.push_back(g_.end(loop));
  std::erase_if(offsets_, [&](const auto& o) { return std::get<0>(o.first) == kernel || std::get<2>(o.first) == kernel; });
}

bool RowClusters::shares_rows(const RowCluster& c) {
  const auto& extents = tile_steps_[c.kernels.back()].extents;
  if (extents.size() < c.depth) return false;
  return std::ranges::all_of(c.kernels, [&](std::size_t k) {
    const auto& own = tile_steps_[k].extents;
    return own.size() >= c.depth &&
           (std::equal(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(c.depth), extents.begin()) || has_border(k, c));
  });
}

// Whether the kernel has a few rows more than the last one, as the first of two stencils without padding.
bool RowClusters::has_border(std::size_t kernel, const RowCluster& c) {
  if (c.depth != 1) return false;
  const Id more = index_sub(g_, tile_steps_[kernel].extents[0], tile_steps_[c.kernels.back()].extents[0]);
  const auto rows = index_value(g_, simplify_(more));
  return rows && *rows > 0 && *rows <= farthest_row;
}

bool RowClusters::shape(RowCluster& c) {
  for (const std::size_t k : c.kernels) {
    const TileStep& p = tile_steps_[k];
    if ((p.has_product || !p.has_reduce) && model_.elements({row_size(k, c.depth)}) < shortest_row)
      return no("their rows are short: loops over all rows are faster");
  }
  return find_halos(c) && choose_rows(c);
}

bool RowClusters::find_halos(RowCluster& c) {
  const auto inside = [&](std::size_t k) { return std::ranges::binary_search(c.kernels, k); };
  c.halos.assign(c.kernels.size(), {});
  for (std::size_t i = c.kernels.size(); i-- > 0;) {
    const std::size_t k = c.kernels[i];
    bool stored = false;
    for (const int b : tile_steps_[k].access.stores) {
      const auto& [writer, readers, is_continued] = nth(uses_, b);
      const bool local = nth(s_.buffers, b).param < 0 && !is_continued && std::ranges::all_of(readers, inside);
      if (local)
        c.local.push_back(b);
      else
        stored = true;
      for (const std::size_t r : readers) {
        if (!inside(r)) continue;
        if (nth(s_.buffers, b).whole && (!tile_steps_[r].joins || needs_rows(tile_steps_[k], c.depth)))
          return no("the program asks for the whole tensor between them, or a product reads it packed");
        if (tile_steps_[k].has_product && tile_steps_[r].has_product)
          return no("both are matrix products, which are fastest with tiles of many rows");
        const auto halo = offsets(k, b, r, c.depth);
        if (!halo) return no("the reader needs rows that are not near its own, or not known to be");
        const RowOffsets& w = nth(c.halos, std::ranges::lower_bound(c.kernels, r) - c.kernels.begin());
        c.halos[i].lo = std::min(c.halos[i].lo, w.lo + halo->lo);
        c.halos[i].hi = std::max(c.halos[i].hi, w.hi + halo->hi);
      }
    }
    if (stored && !c.halos[i].none())
      return no("the result is needed later too, and tiles that overlap would store rows twice");
    if ((stored || c.halos[i].none()) && has_border(k, c)) return no("their outermost loops differ");
  }
  return true;
}

double RowClusters::row_bytes(const RowCluster& c) {
  double sum = 0;
  for (const int b : c.local) sum += model_.elements({row_size(writer(b), c.depth)}) * bytes(nth(s_.buffers, b).dtype);
  return sum;
}

// Whether only one operand of the product depends on the loops inside of a row, and not on the row. Rows that run together then
// share its loads. Loops of a few iterations, as over the taps of a window, do not count: they fill no block of registers.
bool RowClusters::needs_rows(const TileStep& p, std::size_t depth) const {
  if (!p.has_product) return false;
  std::array<bool, 2> inner{};
  for (std::size_t i = depth; i < p.operands.size(); ++i)
    for (const std::size_t side : {0u, 1u})
      inner[side] = inner[side] || (p.operands[i][side] && !p.operands[i][1 - side] && !is_few(p.extents[i]));
  if (inner[0] == inner[1]) return p.loops.size() < depth + 2;
  return !p.operands[depth - 1][inner[0] ? 0 : 1];
}

// Whether the last kernel is a product, and the others compute its operand from parameters alone. Such an operand is about as
// large as the parameters. A tensor between two products, such as the scores of an attention, may be much larger.
bool RowClusters::only_prepares_operand(const RowCluster& c) const {
  const auto is_read_from_parameters = [&](std::size_t k) {
    const TileStep& p = tile_steps_[k];
    return !p.has_product && std::ranges::all_of(p.access.loads, [&](int b) {
      return nth(s_.buffers, b).param >= 0 || std::ranges::find(c.local, b) != c.local.end();
    });
  };
  return tile_steps_[c.kernels.back()].has_product &&
         std::all_of(c.kernels.begin(), c.kernels.end() - 1, is_read_from_parameters);
}

bool RowClusters::is_few(Id extent) const {
  const auto n = index_value(g_, extent);
  return n && *n < fewest_copies;
}

bool RowClusters::is_short_row(std::size_t kernel, std::size_t depth) {
  const auto n = index_value(g_, row_size(kernel, depth));
  return n && *n <= max_short_iterations;
}

// Whether a kernel has a sum in order for each of the few elements of a row. Only rows can be its lanes.
bool RowClusters::has_lanes_of_rows(const RowCluster& c) {
  return std::ranges::any_of(c.kernels, [&](std::size_t k) {
    const TileStep& p = tile_steps_[k];
    return p.has_chain && !p.has_stripes && is_short_row(k, c.depth);
  });
}

bool RowClusters::choose_rows(RowCluster& c) {
  const TileStep& last = tile_steps_[c.kernels.back()];
  const Id count = index_product(g_, std::span<const Id>(last.extents).first(c.depth));
  double most_halo = 0, halo_cost = 0;
  for (std::size_t i = 0; i < c.kernels.size(); ++i) {
    const TileStep& p = tile_steps_[c.kernels[i]];
    const auto halo = static_cast<double>(c.halos[i].hi - c.halos[i].lo);
    most_halo = std::max(most_halo, halo);
    halo_cost = std::max(halo_cost, halo * p.operations);
    if (needs_rows(p, c.depth)) c.rows = product_rows;
  }
  if (c.rows == product_rows && std::ranges::any_of(c.kernels, [&](std::size_t k) { return tile_steps_[k].copies; }))
    return no("a product shares its loads best among more rows than a tile has");
  if (c.rows == product_rows && only_prepares_operand(c))
    return no(
        "the product runs faster in blocks of more rows, and storing its operand takes no more memory than the parameters do");
  const bool are_lanes =
      most_halo == 0 && std::ranges::all_of(c.kernels, [&](std::size_t k) { return is_short_row(k, c.depth); });
  if (are_lanes) c.rows = rows_of_lanes;
  if (!are_lanes && has_lanes_of_rows(c)) c.rows = rows_of_chains;
  if (most_halo > 0) c.rows = halo_rows;
  if (halo_cost > static_cast<double>(c.rows) * recompute_for_store)
    return no("computing the rows of the halo again costs more than storing them");
  const Id whole = most_halo > 0 ? count : last.extents[c.depth - 1];
  if (const auto n = index_value(g_, whole); n && !are_lanes) {  // a divisor of the count, if one is near: no partial tile
    c.rows = std::min(c.rows, std::max<std::int64_t>(*n, 1));
    for (std::int64_t r = c.rows; 2 * r >= c.rows; --r)
      if (*n % r == 0) {
        c.rows = r;
        break;
      }
  }
  const double row = row_bytes(c), tile = row * (static_cast<double>(c.rows) + most_halo);
  c.fits_cache = tile <= in_cache;
  if (c.fits_cache || row * model_.elements({count}) >= much_more * tile) return true;
  return no("a tile of rows does not fit the cache");
}

}  // namespace kiln::compiler
