#include "compiler/lower/window_rows.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/lower/access.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/interleaved_access.h"
#include "compiler/symbolic/linear.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t least_share = 3;  // of this many loads, at least one is shared by neighbouring iterations

constexpr std::int64_t most_phases = 4;  // copies of the code

using Place = std::pair<Id, Poly>;  // the memory, and the index

// The places of all loads that become vector loads along the range; none if an index is no polynomial.
std::vector<Place> vector_loads(const Graph& g, std::span<const Id> stores, Id range) {
  std::vector<Place> out;
  for (const Id id : g.reachable(stores)) {
    if (g.op(id) != Op::LOAD) continue;
    const std::vector<Id> below = g.reachable(index_of(g, id));
    if (!std::ranges::binary_search(below, range)) continue;
    const std::optional<Poly> index = symbolic::sum_of(g, index_of(g, id));
    if (!index) return {};
    out.emplace_back(g.state(id), *index);
  }
  return out;
}

// Whether iterations of `row` load the same components of other rows, which takes shuffles.
bool repeats_components(const Graph& g, std::span<const Id> stores, Id row, Id lanes) {
  return std::ranges::any_of(g.reachable(stores), [&](Id id) {
    if (g.op(id) != Op::LOAD || index_stride(g, index_of(g, id), row) != 0) return false;
    const std::optional<std::int64_t> stride = index_stride(g, index_of(g, id), lanes);
    return stride && *stride > 1 && *stride <= most_components;
  });
}

// Whether the lanes load every n-th element, and the n iterations of `row` load all of them, as in a copy of even and odd
// columns.
bool loads_between_lanes(const Graph& g, std::span<const Id> stores, Id row, Id lanes) {
  if (!g.is_const(g.end(row)) || g.value(g.end(row)) < 2 || g.value(g.end(row)) > most_phases) return false;
  return std::ranges::any_of(g.reachable(stores), [&](Id id) {
    return g.op(id) == Op::LOAD && index_stride(g, index_of(g, id), row) == 1 &&
           index_stride(g, index_of(g, id), lanes) == g.value(g.end(row));
  });
}

}  // namespace

std::size_t window_rows(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges) {
  const std::vector<Place> loads = vector_loads(g, stores, ranges.back());
  for (std::size_t i = ranges.size() - 1; i-- > 0;) {
    const auto next_is_loaded = [&](const Place& load) {
      const Poly step = split_at(load.second, ranges[i]).factor;
      const std::optional<Poly> next = symbolic::plus(g, load.second, step);
      return !step.empty() && next && std::ranges::find(loads, Place{load.first, *next}) != loads.end();
    };
    const auto shared = std::ranges::count_if(loads, next_is_loaded);
    if (shared > 0 && shared * least_share >= std::ssize(loads)) return i;
    if (repeats_components(g, stores, ranges[i], ranges.back())) return i;
    if (loads_between_lanes(g, stores, ranges[i], ranges.back())) return i;
  }
  return ranges.size();
}

}  // namespace kiln::compiler
