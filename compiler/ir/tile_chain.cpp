#include "compiler/ir/tile_chain.h"

#include <algorithm>

namespace kiln::compiler {
namespace {

Id store_of(const Graph& g, Id effect) { return g.op(effect) == Op::END ? g.store(effect) : effect; }

// The number of neighbouring tiles with the same index: the index uses the tile only as FLOORDIV(tile, n). If it uses the tile
// in another form, all tiles run in order.
Id tiles_with_index(const Graph& g, Id index, Id tile) {
  Id n = no_id;
  for (const Id id : g.reachable(index)) {
    if (std::ranges::find(g.src(id), tile) == g.src(id).end()) continue;
    const bool is_group =
        g.op(id) == Op::FLOORDIV && g.src(id, 0) == tile && g.is_const(g.src(id, 1)) && g.value(g.src(id, 1)) > 0;
    if (!is_group) return g.end(tile);
    const Id here = g.src(id, 1);
    if (n == no_id || g.value(here) % g.value(n) == 0)
      n = n == no_id ? here : n;
    else if (g.value(n) % g.value(here) == 0)
      n = here;
    else
      return g.end(tile);
  }
  return n == no_id ? g.end(tile) : n;
}

}  // namespace

bool continues_sum(const Graph& g, Id end) {
  const Id store = store_of(g, end);
  if (g.op(store) != Op::STORE || g.op(g.state(store)) != Op::BUFFER) return false;
  return std::ranges::any_of(g.reachable(g.src(store, 2)), [&](Id id) {
    return g.op(id) == Op::LOAD && g.state(id) == g.state(store) && g.src(id, 1) == g.src(store, 1);
  });
}

Id tiles_in_order(const Graph& g, std::span<const Id> effects, Id tile) {
  Id most = no_id;
  for (const Id effect : effects) {
    if (!continues_sum(g, effect)) continue;
    const Id n = tiles_with_index(g, g.src(store_of(g, effect), 1), tile);
    if (most == no_id || n == most)
      most = n;
    else
      return g.end(tile);
  }
  return most;
}

}  // namespace kiln::compiler
