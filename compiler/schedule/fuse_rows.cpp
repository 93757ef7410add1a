#include "compiler/schedule/fuse_rows.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/range_ids.h"
#include "compiler/ir/remark.h"
#include "compiler/rangeify/index_expr.h"
#include "compiler/schedule/row_clusters.h"

namespace kiln::compiler {
namespace {

// Writes the fused kernel of one cluster.
class Fusion {
 public:
  Fusion(Graph& g, Schedule& s, RowClusters& rows, const RowCluster& c)
      : g_(g), s_(s), rows_(rows), c_(c), ids_(g, sinks_of(s, c)) {
    const auto extents = std::span<const Id>(rows_.tile_step(c.kernels.back()).extents).first(c.depth);
    const bool has_halo = std::ranges::any_of(c.halos, [](const RowOffsets& w) { return !w.none(); });
    count_ = has_halo ? index_product(g, extents) : extents.back();
    groups_ = has_halo ? g.index(1) : index_product(g, extents.first(c.depth - 1));
    const Id rounded = index_add(g, count_, g.index(c.rows - 1));
    tiles_in_group_ = c.rows == 1 ? count_ : index_floordiv(g, rounded, g.index(c.rows));
    tiles_ = index_mul(g, groups_, tiles_in_group_);
    tile_ = range(tiles_, RangeKind::loop);
  }

  Kernel write() {
    made_.name = s_.kernels[c_.kernels.back()].name;
    for (std::size_t i = 0; i < c_.kernels.size(); ++i) add_tile_step(i);
    made_.sink = g_.make(Op::SINK, DType::none, ends_);
    for (const int b : c_.local) add_tile_buffer(b);
    remark(g_, g_.store(ends_.back()), remarks::fused, [&] {
      return std::to_string(c_.kernels.size()) + " kernels run as one, on tiles of " + std::to_string(c_.rows) +
             (c_.rows == 1 ? " row" : " rows");
    });
    return std::move(made_);
  }

 private:
  static std::vector<Id> sinks_of(const Schedule& s, const RowCluster& c) {
    std::vector<Id> out;
    for (const std::size_t k : c.kernels) out.push_back(s.kernels[k].sink);
    return out;
  }
  Id range(Id end, RangeKind kind) { return ids_.range(g_, end, kind); }
  // The parts are braced lists, because C++ evaluates these from left to right, but a call's arguments in any order.
  Id add(std::initializer_list<Id> parts) { return g_.make(Op::ADD, DType::index, parts); }
  Id mul(std::initializer_list<Id> parts) { return g_.make(Op::MUL, DType::index, parts); }
  Id div(Id a, Id b) { return g_.make(Op::FLOORDIV, DType::index, {a, b}); }
  Id mod(Id a, Id b) { return g_.make(Op::FLOORMOD, DType::index, {a, b}); }
  bool has_groups() const { return !g_.is_index_const(groups_, 1); }
  Id group() { return has_groups() ? div(tile_, tiles_in_group_) : g_.index(0); }
  // The position of the tile's first row in its group.
  Id first_row() {
    const Id tile = has_groups() ? mod(tile_, tiles_in_group_) : tile_;
    return mul({tile, g_.index(c_.rows)});
  }

  std::size_t position(std::size_t kernel) const { return index_at(c_.kernels, std::ranges::lower_bound(c_.kernels, kernel)); }
  bool is_local(int b) const { return std::ranges::find(c_.local, b) != c_.local.end(); }
  const RowOffsets& halo_of(int b) const { return c_.halos[position(rows_.writer(b))]; }
  // Whether the index of an element changes when the buffer becomes tiles one after another. It does if tiles include a
  // halo, or if the last tile of a group has fewer rows than the others.
  bool is_renumbered(int b) const { return is_local(b) && (!halo_of(b).none() || (has_groups() && !fills_tiles())); }
  bool fills_tiles() const {
    const auto n = index_value(g_, count_);
    return c_.rows == 1 || (n && *n % c_.rows == 0);
  }

  std::int64_t rows_in(const RowOffsets& w) const { return c_.rows + w.hi - w.lo; }
  Id tile_size(int b) {
    const Id rows = g_.index(rows_in(halo_of(b)));
    return index_mul(g_, rows, rows_.row_size(rows_.writer(b), c_.depth));
  }

  void add_tile_buffer(int b) {
    Buffer& buffer = nth(s_.buffers, b);
    buffer.whole = false;
    buffer.tile = tile_size(b);
    buffer.size = index_mul(g_, tiles_, buffer.tile);
    const bool in_order = std::ranges::any_of(c_.kernels, [&](std::size_t k) { return rows_.tile_step(k).sum != no_id; });
    buffer.tile_storage = index_mul(g_, index_min(g_, in_order ? groups_ : tiles_, g_.index(most_chunks)), buffer.tile);
  }

  // Adds the ENDs of kernel i as a tile step. Its ranges: the tile, the row in the tile (if there are several), the kernel's
  // other LOOP ranges.
  void add_tile_step(std::size_t i) {
    const std::size_t kernel = c_.kernels[i];
    const TileStep& p = rows_.tile_step(kernel);
    if (p.sum != no_id) return add_sum(kernel, p);
    const RowOffsets& w = c_.halos[i];
    std::vector<Id> loops{tile_};
    Id row = first_row();
    if (rows_in(w) > 1) {
      loops.push_back(range(rows_end(w), RangeKind::loop));
      row = add({first_row(), loops.back()});
    }
    if (!w.none()) {  // rows outside of the tensor are clamped: no reader loads them
      row = g_.make(Op::MAX, DType::index, {add({row, g_.index(w.lo)}), g_.index(0)});
      row = g_.make(Op::MIN, DType::index, {row, index_sub(g_, c_.depth == 1 ? p.extents[0] : count_, g_.index(1))});
    }
    std::unordered_map<Id, Id> map;
    place_rows(p, rows_.simplify()(row), map);
    place_rest(kernel, map);
    for (const Id r : std::span<const Id>(p.loops).subspan(c_.depth)) loops.push_back(map.at(r));
    if (loops.size() == 1) loops.push_back(range_of_values(kernel));
    const std::unordered_map<Id, Id> loads = loads_of_tiles(kernel);
    for (const Id end : g_.sources(s_.kernels[kernel].sink)) {
      const Id store = substitute(g_, store_of(kernel, end, loops), loads);
      std::vector<Id> src{rows_.simplify()(substitute(g_, store, map))};
      src.insert(src.end(), loops.begin(), loops.end());
      ends_.push_back(g_.make(Op::END, DType::none, src));
    }
  }

  // The range, with one iteration, of a tile step that has none inside of the tile, because has_tile_steps() needs different
  // ranges. Kernels that do not need each other's results are one tile step, so that fuse_reductions makes one loop of theirs.
  Id range_of_values(std::size_t kernel) {
    const KernelAccess& access = rows_.tile_step(kernel).access;
    const bool joins =
        !ends_.empty() && g_.src(ends_.back()).back() == values_ &&
        std::ranges::none_of(access.loads, [&](int b) { return std::ranges::find(valued_, b) != valued_.end(); });
    if (!joins) {
      values_ = range(g_.index(1), RangeKind::loop);
      valued_.clear();
    }
    valued_.insert(valued_.end(), access.stores.begin(), access.stores.end());
    return values_;
  }

  // Adds a tile step that stores zeros in the first tile of a group, and tile steps that add the terms of the tile's rows to
  // the sums in memory: the terms of the kernel's REDUCE, in its order.
  void add_sum(std::size_t kernel, const TileStep& p) {
    std::unordered_map<Id, Id> map;
    place_rows(p, rows_.simplify()(first_row()), map);
    place_rest(kernel, map);
    const LocScope of_sum(g_, g_.loc(p.sum));
    const Id tile = mod(tile_, tiles_in_group_), is_first = g_.make(Op::LT, DType::boolean, {tile, g_.index(1)});
    add_part(kernel, p, map, [&](Id, Id) { return g_.constant(g_.dtype(p.sum), 0); }, is_first);
    add_part(kernel, p, map, [&](Id memory, Id at) {
      const Id rows = g_.index(c_.rows), r = range(rows, RangeKind::reduce);
      map[p.loops[c_.depth - 1]] = rows_.simplify()(add({first_row(), r}));
      const Id x = rows_.simplify()(substitute(g_, g_.src(p.sum, 0), map));
      const Id y = rows_.simplify()(substitute(g_, g_.src(p.sum, 1), map));
      const DType d = g_.dtype(p.sum);
      const Id before = g_.make(Op::LOAD, d, {memory, at}), sum = g_.make(Op::CARRY, d, {r, before}, {0});
      const Id next = g_.make(Op::FMA, d, {x, y, sum});
      return g_.make(Op::GET, d, {g_.make(Op::FOR, DType::none, {r, g_.index(0), rows, before, next}, {1, 1})}, {0});
    });
  }

  // Adds one tile step of a sum, over new ranges. value(memory, index) makes the node that the tile step stores there.
  template <class Value>
  void add_part(std::size_t kernel, const TileStep& p, std::unordered_map<Id, Id>& map, Value&& value, Id gate = no_id) {
    std::vector<Id> loops{tile_};
    for (const Id r : std::span<const Id>(p.loops).subspan(c_.depth))
      loops.push_back(map[r] = range(g_.end(map.at(r)), RangeKind::loop));
    if (loops.size() == 1) loops.push_back(range(g_.index(1), RangeKind::loop));  // has_tile_steps() needs different ranges
    const Id store = g_.store(g_.src(s_.kernels[kernel].sink).front()), memory = map.at(g_.state(store));
    const Id at = rows_.simplify()(substitute(g_, g_.src(store, 1), map));
    std::vector<Id> made{memory, at, value(memory, at)};
    if (gate != no_id) made.push_back(gate);
    std::vector<Id> src{g_.make(Op::STORE, DType::none, made)};
    src.insert(src.end(), loops.begin(), loops.end());
    ends_.push_back(g_.make(Op::END, DType::none, src));
  }

  Id rows_end(const RowOffsets& w) {
    if (fills_tiles()) return g_.index(rows_in(w));
    const Id left = g_.make(Op::SUB, DType::index, {count_, first_row()});
    const Id rows = g_.make(Op::MIN, DType::index, {left, g_.index(c_.rows)});
    return w.none() ? rows : add({rows, g_.index(w.hi - w.lo)});
  }

  // Maps the outer ranges to the parts, in mixed radix, of the row's number, or of the group's and the row's number.
  void place_rows(const TileStep& p, Id row, std::unordered_map<Id, Id>& map) {
    std::size_t n = c_.depth;
    Id rest = row;
    if (has_groups()) {
      map[p.loops[--n]] = row;
      rest = group();
    }
    Id inner = g_.index(1);
    for (std::size_t i = n; i-- > 0;) {
      const Id part = div(rest, inner);
      map[p.loops[i]] = i == 0 ? part : mod(part, p.extents[i]);
      inner = index_mul(g_, inner, p.extents[i]);
    }
  }

  void place_rest(std::size_t kernel, std::unordered_map<Id, Id>& map) {
    const Kernel& k = s_.kernels[kernel];
    for (const Id id : g_.reachable(k.sink)) {
      if (g_.op(id) == Op::RANGE && !map.contains(id)) {
        const bool is_unit = g_.range_kind(id) == RangeKind::loop && g_.is_index_const(g_.end(id), 1);
        map[id] = is_unit ? g_.index(0) : range(g_.end(id), g_.range_kind(id));
      }
      if (g_.op(id) != Op::BUFFER) continue;
      const int buffer = nth(k.buffers, g_.slot(id));
      const auto at = std::ranges::find(made_.buffers, buffer);
      const std::int64_t slot = at - made_.buffers.begin();
      if (at == made_.buffers.end()) made_.buffers.push_back(buffer);
      map[id] = g_.make(Op::BUFFER, g_.dtype(id), {}, {slot});
    }
  }

  // The index in buffer b of element `rest` of a row. `row` counts from the first row in the tile buffer.
  Id in_tile(int b, Id row, Id rest) {
    const Id size = rows_.row_size(rows_.writer(b), c_.depth);
    return add({mul({tile_, tile_size(b)}), add({mul({row, size}), rest})});
  }

  std::unordered_map<Id, Id> loads_of_tiles(std::size_t kernel) {
    std::unordered_map<Id, Id> out;
    for (const Id load : rows_.tile_step(kernel).loads) {
      const int b = rows_.buffer_of(kernel, load);
      if (!is_renumbered(b)) continue;
      const RowElement at = rows_.locate(rows_.writer(b), kernel, load, c_.depth).value();
      const Id first = add({add({mul({group(), count_}), first_row()}), g_.index(halo_of(b).lo)});
      std::vector<Id> src = g_.sources(load);
      src[1] = in_tile(b, g_.make(Op::SUB, DType::index, {at.row, first}), at.element);
      out[load] = substitute(g_, g_.with_src(load, src), out);  // the index or the gate may load from tile buffers
    }
    return out;
  }

  Id store_of(std::size_t kernel, Id end, std::span<const Id> loops) {
    const Id store = g_.store(end);
    const int b = rows_.buffer_of(kernel, store);
    if (!is_renumbered(b)) return store;
    const TileStep& p = rows_.tile_step(kernel);
    const Id rest =
        row_major(g_, std::span<const Id>(p.loops).subspan(c_.depth), std::span<const Id>(p.extents).subspan(c_.depth));
    std::vector<Id> src = g_.sources(store);
    src[1] = in_tile(b, loops[1], rest);
    return g_.with_src(store, src);
  }

  Graph& g_;
  Schedule& s_;
  RowClusters& rows_;
  const RowCluster& c_;
  RangeIds ids_;
  Kernel made_;
  std::vector<Id> ends_;
  // Rows with several outer ranges, and no halo, come in groups, one for each iteration of all but the innermost range. A tile
  // has rows of one group.
  Id groups_ = no_id, count_ = no_id;          // the number of groups, and of rows in a group
  Id tiles_in_group_ = no_id, tiles_ = no_id;  // the number of tiles in a group, and of all tiles
  Id tile_ = no_id;                            // RANGE over the tiles
  Id values_ = no_id;                          // see range_of_values()
  std::vector<int> valued_;                    // buffers that the tile step over values_ stores
};

}  // namespace

void fuse_rows(Graph& g, Schedule& s) {
  const LocScope restored(g);
  RowClusters rows(g, s);
  std::vector<Kernel> out;
  for (const RowCluster& c : rows.find())
    out.push_back(c.kernels.size() == 1 ? s.kernels[c.kernels[0]] : Fusion(g, s, rows, c).write());
  s.kernels = std::move(out);
}

}  // namespace kiln::compiler
