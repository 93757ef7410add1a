#include "compiler/lower/tile_steps.h"

#include <algorithm>
#include <stdexcept>

#include "compiler/ir/nth.h"
#include "compiler/ir/tile_chain.h"
#include "compiler/lower/access.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/loop_nest.h"

namespace kiln::compiler {
namespace {

std::span<const Id> ranges_of_effect(const Graph& g, Id effect) {
  return g.op(effect) == Op::END ? g.src(effect).subspan(1) : std::span<const Id>();
}

class TileLoop {
 public:
  TileLoop(Graph& g, Lowering& k) : g_(g), k_(k), tile_(tile_range(g, k.tile_steps)), group_(tiles_of_group()) {}

  Id lower() {
    LoweredKernel& out = k_.out;
    out.parallel = tile_ != no_id;
    std::vector<Id> effects;
    for (std::size_t i = 0; i < k_.tile_steps.size(); ++i) {
      const std::vector<Id> nest = nest_of(k_.tile_steps[i], k_.plans[i]);
      effects.insert(effects.end(), nest.begin(), nest.end());
    }
    const Id tiles = tile_ == no_id ? g_.index(1) : g_.end(tile_);
    const Id groups = groups_of(tiles);
    out.trip_count = has_tile_buffers() ? index_binary(g_, Op::MIN, groups, g_.index(most_chunks)) : groups;
    return g_.make(Op::SINK, DType::none, {tile_loop(effects, tiles, groups, out.trip_count)});
  }

 private:
  bool has_tile_buffers() const {
    return std::ranges::any_of(k_.tile_sizes, [](Id w) { return w != no_id; });
  }

  // The chunks begin at multiples of this many tiles.
  Id tiles_of_group() const {
    if (tile_ == no_id) return no_id;
    std::vector<Id> effects;
    for (const Id step : k_.tile_steps)
      for (const Id effect : g_.src(step)) {
        const Id store = g_.op(effect) == Op::END ? g_.store(effect) : effect;
        if (!k_.at_entry[g_.slot(g_.state(store))]) effects.push_back(effect);
      }
    return tiles_in_order(g_, effects, tile_);
  }

  Id groups_of(Id tiles) {
    if (group_ == no_id) return tiles;
    const Id last = sub_index(g_, group_, g_.index(1));
    return index_binary(g_, Op::FLOORDIV, add_index(g_, tiles, last), group_);
  }

  std::vector<Id> nest_of(Id tile_step, std::vector<LoopPlan> plan) {
    std::vector<Id> stores;
    for (const Id effect : g_.src(tile_step)) stores.push_back(g_.op(effect) == Op::END ? g_.store(effect) : effect);
    // tile_loop() moves the elements of a tile buffer, so a head does not align its stores; they stay in the caches anyway.
    const auto in_tile = [&](Id s) { return k_.tile_sizes[g_.slot(g_.state(s))] != no_id; };
    if (std::ranges::any_of(stores, in_tile))
      for (LoopPlan& p : plan) p.past_caches = 0;
    const auto is_one_element = [&](Id s) { return index_stride(g_, index_of(g_, s), tile_) == 0; };
    if (tile_ != no_id && group_ == no_id && std::ranges::any_of(stores, is_one_element)) k_.out.parallel = false;
    return inner_nest(g_, *k_.loops, stores, plan, k_.facts, last_vector(k_.target));
  }

  Id tile_loop(std::span<const Id> effects, Id tiles, Id groups, Id chunks) {
    const Id begin = g_.sym("$begin"), end = g_.sym("$end");
    const Id range = k_.loops->range(g_, tile_ == no_id ? end : tiles, RangeKind::thread);
    const Id place = sub_index(g_, begin, tile_ == no_id ? g_.index(0) : range);  // the chunk's number minus the tile's
    const Id all = g_.make(Op::SINK, DType::none, effects);
    const Id inner = rewrite(g_, all, [&](Id id, std::span<const Id> x) {
      if (id == tile_) return range;
      const bool access = (g_.op(id) == Op::LOAD || g_.op(id) == Op::STORE) && g_.op(x[0]) == Op::BUFFER;
      const Id tile = access ? k_.tile_sizes[g_.slot(x[0])] : no_id;
      if (tile == no_id) return no_id;
      std::vector<Id> src(x.begin(), x.end());
      src[1] = add_index(g_, src[1], mul_index(g_, place, tile));
      return g_.with_src(id, src);
    });
    const auto first_tile = [&](Id chunk) {
      const Id first = chunks == groups ? chunk : index_binary(g_, Op::FLOORDIV, mul_index(g_, chunk, groups), chunks);
      return group_ == no_id ? first : index_binary(g_, Op::MIN, mul_index(g_, first, group_), tiles);
    };
    std::vector<Id> src = {range, first_tile(begin), first_tile(end)};
    src.insert(src.end(), g_.src(inner).begin(), g_.src(inner).end());
    return g_.make(Op::FOR, DType::none, src, std::vector<std::int64_t>{0, 1});
  }

  Graph& g_;
  Lowering& k_;
  const Id tile_;
  const Id group_;  // the number of tiles that run in order (tile_chain.h); no_id: any order will do
};

}  // namespace

std::vector<Id> tile_steps_of(Graph& g, Id sink) {
  std::vector<Id> out;
  const std::vector<Id> effects = g.sources(sink);
  for (std::size_t i = 0; i < effects.size();) {
    std::size_t end = i;
    while (end < effects.size() && std::ranges::equal(ranges_of_effect(g, effects[i]), ranges_of_effect(g, effects[end])))
      ++end;
    out.push_back(g.make(Op::SINK, DType::none, std::span<const Id>(effects).subspan(i, end - i)));
    i = end;
  }
  return out.empty() ? std::vector<Id>{sink} : out;
}

Id joined(Graph& g, std::span<const Id> tile_steps) {
  std::vector<Id> effects;
  for (const Id tile_step : tile_steps) effects.insert(effects.end(), g.src(tile_step).begin(), g.src(tile_step).end());
  return g.make(Op::SINK, DType::none, effects);
}

std::vector<Id> tile_sizes_of(const Schedule& schedule, const Kernel& kernel) {
  std::vector<Id> out;
  for (const int b : kernel.buffers) out.push_back(nth(schedule.buffers, b).tile);
  return out;
}

Id tile_range(const Graph& g, std::span<const Id> tile_steps) {
  const auto first = ranges_of_effect(g, g.src(tile_steps[0]).front());
  const Id range = first.empty() ? no_id : first[0];
  const auto shares = [&](Id tile_step) {
    const auto loops = ranges_of_effect(g, g.src(tile_step).front());
    return !loops.empty() && loops[0] == range;
  };
  return range != no_id && g.op(range) == Op::RANGE && std::ranges::all_of(tile_steps, shares) ? range : no_id;
}

Id in_tiles(Graph& g, Lowering& k) { return TileLoop(g, k).lower(); }

}  // namespace kiln::compiler
