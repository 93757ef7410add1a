#include "compiler/lower/past_caches.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/lower/access.h"
#include "compiler/lower/index_vector.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t cache_bytes = std::int64_t{32} << 20;
constexpr std::int64_t line_bytes = 64;

}  // namespace

std::int64_t past_caches_from(const Graph& g, std::span<const Id> stores, Id lanes) {
  const std::size_t own = g.slot(g.state(stores[0]));
  std::map<std::size_t, std::int64_t> moved;  // by buffer: the most bytes of one access for one iteration
  for (const Id id : g.reachable(stores)) {
    const bool is_load = g.op(id) == Op::LOAD;
    if (!is_load && g.op(id) != Op::STORE) continue;
    const std::size_t slot = g.slot(g.state(id));
    if (is_load && slot == own) return 0;
    const int size = bytes(is_load ? g.dtype(id) : g.dtype(value_of(g, id)));
    const std::int64_t stride = std::clamp(index_stride(g, index_of(g, id), lanes).value_or(0), -line_bytes, line_bytes);
    std::int64_t& most = moved[slot];
    most = std::max(most, std::min(line_bytes, (stride < 0 ? -stride : stride) * size));
  }
  std::int64_t all = 0;
  for (const auto& [slot, size] : moved) all += size;
  return all == 0 ? 0 : cache_bytes / all;
}

Id is_past_caches(Graph& g, std::span<const LoopPlan> plan, std::int64_t from) {
  std::vector<Id> extents;
  std::set<Id> ranges;
  for (const LoopPlan& p : plan)
    if (p.range != no_id && ranges.insert(p.range).second) extents.push_back(g.end(p.range));
  return product_reaches(g, extents, from);
}

Id store_past_caches(Graph& g, Id store) {
  return g.make(Op::STORE, DType::none, g.sources(store), std::vector<std::int64_t>{1});
}

}  // namespace kiln::compiler
