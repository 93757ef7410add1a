#include "compiler/schedule/short_rows.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/range_ids.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/schedule/row_clusters.h"
#include "compiler/schedule/short_row_form.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

using Key = std::pair<int, Id>;  // buffer, size of a row

class Writer {
 public:
  Writer(Graph& g, Schedule& s, const Kernel& k, ShortRowForm& found, const Facts& facts)
      : g_(g), s_(s), k_(k), found_(found), ids_(g, k.sink) {
    const Id rows = g.end(found.row), width = g.index(rows_of_tile);
    Id room = index_sub(g, rows, g.index(rows_of_tile - 1));  // positive: every condition holds
    for (const auto& [n, limits] : found.limits) {
      const Id size = clamped(n, limits.most), left = index_sub(g, g.index(limits.most + 1), size);
      room = index_min(g, room, left);
      if (limits.least == 0) continue;
      const Id enough = index_sub(g, size, g.index(limits.least - 1));
      room = index_min(g, room, enough);
    }
    factor_ = simplify(g, at_least(g, room, 1), facts);
    const Id more = index_add(g, rows, g.index(rows_of_tile - 1));
    tiles_ = index_floordiv(g, more, width);
    tile_ = ids_.range(g, tiles_, RangeKind::loop);
    lane_ = ids_.range(g, width, RangeKind::loop);
    const Id begin = index_mul(g, tile_, width);
    first_ = index_min(g, begin, index_sub(g, rows, width));
    now_[found.row] = index_add(g, first_, lane_);
  }

  // nullopt: the facts exclude short rows, or a value of the row varies over several ranges.
  std::optional<ShortRows> write() {
    if (factor_ == g_.index(0)) return std::nullopt;
    made_ = k_;
    made_.buffers.clear();
    const std::vector<Id> ends = g_.sources(k_.sink);
    for (const Id end : ends) {
      std::vector<Id> loops;
      for (const Id r : g_.sources(end, 2)) loops.push_back(now(r));
      const Id store = now(g_.store(end));
      if (failed_) return std::nullopt;
      add_step(store, loops);
    }
    for (const Key& key : outputs_) copy_out(key);
    if (steps_.size() > most_tile_steps) return std::nullopt;
    made_.sink = with_sizes(g_.make(Op::SINK, DType::none, steps_));
    std::vector<Id> sizes;
    for (const auto& [n, limits] : found_.limits) sizes.push_back(n);
    return ShortRows{std::move(made_), factor_, sizes};
  }

 private:
  // n if it is at most `most`, else a number above `most`. The factors of a product are limited, so that it cannot overflow.
  Id clamped(Id n, std::int64_t most) {
    const Poly p = poly_of(g_, n);
    if (p.size() != 1) return n;
    Id size = g_.index(std::min(p[0].coefficient, most + 1));
    for (const Id atom : p[0].atoms) {
      const Id factor = p[0].atoms.size() == 1 ? atom : index_min(g_, atom, g_.index(most + 1));
      size = index_mul(g_, size, factor);
    }
    return size;
  }

  Id limited(Id n) { return index_value(g_, n) ? n : index_min(g_, n, g_.index(found_.most(n))); }

  Id now(Id root) {
    for (const Id id : g_.reachable(root))
      if (!now_.contains(id)) now_[id] = rewritten(id);
    return now_.at(root);
  }

  Id rewritten(Id id) {
    note_free(id);
    if (g_.op(id) == Op::RANGE) return ids_.range(g_, limited(g_.end(id)), g_.range_kind(id));
    if (g_.op(id) == Op::BUFFER) return buffer_node(nth(k_.buffers, g_.slot(id)));
    const std::vector<Id> old = g_.sources(id);
    std::vector<Id> src;
    for (const Id s : old) src.push_back(needs_step(id, s) ? in_step(s) : now_.at(s));
    if (const auto at = found_.accesses.find(id); at != found_.accesses.end()) {
      const Area area = area_of(at->second, g_.op(id) == Op::LOAD);
      src[0] = area.buffer;
      src[1] = element(area, now(at->second.rest));
    }
    return g_.with_src(id, src);
  }

  // The ranges, except for the rows, on which the value depends, and whether it contains a REDUCE in this tile step.
  void note_free(Id id) {
    Free f;
    if (g_.op(id) == Op::RANGE) f.ranges.insert(id);
    for (const Id s : g_.src(id)) {
      if (needs_step(id, s)) f.ranges.insert(free_.at(s).ranges.begin(), free_.at(s).ranges.end());
      const auto it = free_.find(s);
      if (it == free_.end() || needs_step(id, s)) continue;
      f.ranges.insert(it->second.ranges.begin(), it->second.ranges.end());
      f.reduces = f.reduces || it->second.reduces;
    }
    if (g_.op(id) == Op::REDUCE) {
      f.reduces = true;
      for (const Id r : g_.src(id).subspan(operands_of(g_.reduce_kind(id)))) f.ranges.erase(r);
    }
    free_[id] = std::move(f);
  }

  // Whether a loop of the user would repeat the REDUCEs of the value.
  bool needs_step(Id user, Id value) const {
    const auto of = [&](Id id) { return free_.find(id); };
    if (of(value) == free_.end() || !of(value)->second.reduces) return false;
    if (g_.op(user) == Op::REDUCE) return true;
    return std::ranges::any_of(g_.src(user), [&](Id s) {
      if (of(s) == free_.end()) return false;
      const std::set<Id>& more = of(s)->second.ranges;
      return !std::ranges::includes(of(value)->second.ranges, more);
    });
  }

  // Stores the value in a tile step of its own. The value is loaded from there.
  Id in_step(Id value) {
    if (const auto at = stored_.find(value); at != stored_.end()) return at->second;
    const std::set<Id>& ranges = free_.at(value).ranges;
    if (ranges.size() > 1 || g_.dtype(value) == DType::index || (!ranges.empty() && is_long(*ranges.begin()))) {
      failed_ = true;
      return now_.at(value);
    }
    const std::vector<Id> loops = ranges.empty() ? std::vector<Id>{} : std::vector<Id>{now_.at(*ranges.begin())};
    const std::int64_t elements = loops.empty() ? 1 : found_.most(g_.end(*ranges.begin()));
    const Area area = new_area(g_.dtype(value), elements);
    const Id at = element(area, loops.empty() ? g_.index(0) : loops[0]);
    add_step(g_.make(Op::STORE, DType::none, {area.buffer, at, now_.at(value)}), loops);
    return stored_[value] = g_.make(Op::LOAD, g_.dtype(value), {area.buffer, at});
  }
  bool is_long(Id range) const {
    const auto n = index_value(g_, g_.end(range));
    return n && *n > longest_row;
  }

  // A part of the tile buffer of one type.
  struct Area {
    Id buffer, tile;     // tile: the symbol of the number of elements in one tile, which is known at the end
    std::int64_t begin;  // in the tile
  };

  // The index of an element of this lane's row.
  Id element(const Area& area, Id rest) {
    const Id begin = index_mul(g_, tile_, area.tile), row = index_add(g_, lane_, g_.index(area.begin));
    const Id line = g_.make(Op::MUL, DType::index, {rest, g_.index(rows_of_tile)});
    const Id in_tile = g_.make(Op::ADD, DType::index, {line, row});
    return g_.make(Op::ADD, DType::index, {begin, in_tile});
  }

  Area new_area(DType d, std::int64_t elements) {
    auto at = std::ranges::find(areas_, d, &Areas::dtype);
    if (at == areas_.end()) {
      const Id tile = g_.sym("$tile" + std::to_string(areas_.size()));
      at = areas_.insert(at, {d, count_of(s_.buffers), tile, 0});
      s_.buffers.push_back({.dtype = d});
    }
    const std::int64_t begin = at->elements;
    at->elements += elements * rows_of_tile;
    return {buffer_node(at->buffer), at->tile, begin};
  }

  // Sets the sizes of the tile buffers.
  Id with_sizes(Id sink) {
    std::unordered_map<Id, Id> sizes;
    const Id n = index_mul(g_, tiles_, factor_), chunks = index_min(g_, n, g_.index(most_chunks));
    for (const Areas& a : areas_) {
      Buffer& b = nth(s_.buffers, a.buffer);
      b.tile = sizes[a.tile] = g_.index(a.elements);
      b.size = index_mul(g_, n, b.tile);
      b.tile_storage = index_mul(g_, chunks, b.tile);
    }
    return substitute(g_, sink, sizes);
  }

  Area area_of(const RowAccess& a, bool is_load) {
    const Key key{a.buffer, a.size};
    if (const auto at = area_of_.find(key); at != area_of_.end()) return at->second;
    const DType d = nth(s_.buffers, a.buffer).dtype;
    const bool is_local = nth(s_.buffers, a.buffer).tile != no_id;
    const Area made = area_of_[key] = new_area(d, found_.most(a.size));
    if (!is_local && is_load) copy_in(key);
    if (!is_local && !is_load) outputs_.push_back(key);
    return made;
  }

  Id buffer_node(int buffer) {
    auto at = std::ranges::find(made_.buffers, buffer);
    if (at == made_.buffers.end()) at = made_.buffers.insert(at, buffer);
    return g_.make(Op::BUFFER, nth(s_.buffers, buffer).dtype, {}, {at - made_.buffers.begin()});
  }

  // The position in a row, as a number of blocks and a rest, so that each copy is of squares. The last block ends at the last
  // element.
  struct Position {
    Id blocks, in_block, at, in_memory;
  };
  Position position(Id size) {
    const Id width = g_.index(elements_of_block), last_of_block = g_.index(elements_of_block - 1);
    const Id more = index_add(g_, limited(size), last_of_block);
    const Id blocks = ids_.range(g_, index_floordiv(g_, more, width), RangeKind::loop);
    const Id in_block = ids_.range(g_, width, RangeKind::loop);
    const Id begin = index_mul(g_, blocks, width), last = index_sub(g_, size, width);
    const Id at = index_add(g_, index_min(g_, begin, last), in_block);
    const Id row = index_mul(g_, now_.at(found_.row), size);
    return {blocks, in_block, at, index_add(g_, row, at)};
  }

  void copy_in(const Key& key) {
    const auto [buffer, size] = key;
    const Position p = position(size);
    const Id from = buffer_node(buffer), value = g_.make(Op::LOAD, nth(s_.buffers, buffer).dtype, {from, p.in_memory});
    const Area area = area_of_.at(key);
    const Id to = element(area, p.at);
    add_step(g_.make(Op::STORE, DType::none, {area.buffer, to, value}), {p.in_block, p.blocks});
  }

  void copy_out(const Key& key) {
    const auto [buffer, size] = key;
    const Position p = position(size);
    const Area area = area_of_.at(key);
    const Id to = buffer_node(buffer), from = element(area, p.at);
    const Id value = g_.make(Op::LOAD, nth(s_.buffers, buffer).dtype, {area.buffer, from});
    add_end(g_.make(Op::STORE, DType::none, {to, p.in_memory, value}), {p.blocks, lane_, p.in_block});
  }

  void add_step(Id store, std::vector<Id> loops) {
    loops.push_back(lane_);
    add_end(store, loops);
  }

  // Each tile step has ranges of its own.
  void add_end(Id store, const std::vector<Id>& loops) {
    std::unordered_map<Id, Id> fresh;
    std::vector<Id> src = {no_id, tile_};
    for (const Id r : loops) src.push_back(fresh[r] = ids_.range(g_, g_.end(r), RangeKind::loop));
    for (const Id r : g_.reachable(store))
      if (g_.op(r) == Op::RANGE && r != tile_ && !fresh.contains(r)) fresh[r] = ids_.range(g_, g_.end(r), RangeKind::reduce);
    src[0] = substitute(g_, store, fresh);
    steps_.push_back(g_.make(Op::END, DType::none, src));
  }

  struct Free {
    std::set<Id> ranges;
    bool reduces = false;
  };
  Graph& g_;
  Schedule& s_;
  const Kernel& k_;
  ShortRowForm& found_;
  RangeIds ids_;
  Kernel made_;
  std::vector<Id> steps_;
  Id factor_ = no_id, tiles_ = no_id, tile_ = no_id, lane_ = no_id, first_ = no_id;
  std::unordered_map<Id, Id> now_, stored_;
  std::unordered_map<Id, Free> free_;
  struct Areas {
    DType dtype;
    int buffer;
    Id tile;
    std::int64_t elements;
  };
  std::vector<Areas> areas_;
  std::map<Key, Area> area_of_;
  std::vector<Key> outputs_;
  bool failed_ = false;
};

}  // namespace

std::optional<ShortRows> short_rows(Graph& g, Schedule& s, const Kernel& k, const Facts& facts) {
  ShortRowForm found(g, s, k, facts);
  if (!found.find()) return std::nullopt;
  const std::size_t buffers = s.buffers.size();
  std::optional<ShortRows> made = Writer(g, s, k, found, facts).write();
  if (!made) s.buffers.resize(buffers);
  return made;
}

}  // namespace kiln::compiler
