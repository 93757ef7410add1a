#include "compiler/lower/optimise.h"

#include <algorithm>
#include <bit>

#include "compiler/lower/expand.h"
#include "compiler/lower/index_vector.h"

namespace kiln::compiler {
namespace {

constexpr int light_body = 24;   // operations up to which two registers per value still fit
constexpr int cheap_body = 8;    // operations up to which a scalar tail is small and fast enough
constexpr int huge_body = 1000;  // operations from which one copy of the code is worth masks everywhere
constexpr int tile_factor = 4;
constexpr int shortest_lanes = 4;

struct Body {
  int widest = 1;     // bytes of the widest value
  int narrowest = 8;  // bytes of the narrowest element in memory
  int operations = 0;
  std::vector<Id> loads;
  std::vector<Id> fma_loops;
  bool has_loops = false;
};

Body look(const Graph& g, std::span<const Id> stores) {
  Body b;
  for (const Id id : g.reachable(stores)) {
    const Op op = g.op(id);
    const DType d = op == Op::STORE ? g.dtype(g.src(id, 2)) : g.dtype(id);
    const bool counts = op == Op::LOAD || op == Op::STORE || is_elementwise(op);
    if (counts && d != DType::index && d != DType::none && d != DType::boolean) b.widest = std::max(b.widest, bytes(d));
    if (op == Op::LOAD || op == Op::STORE) b.narrowest = std::min(b.narrowest, bytes(d));
    if (op == Op::LOAD) b.loads.push_back(id);
    if (is_elementwise(op) && d != DType::index) ++b.operations;
    if (op != Op::FOR) continue;
    b.has_loops = true;
    if (g.arg(id, 0) == 1 && g.op(g.src(id, 4)) == Op::FMA) b.fma_loops.push_back(id);
  }
  return b;
}

bool all_stores_have_stride(const Graph& g, std::span<const Id> stores, Id range, std::int64_t stride) {
  return std::ranges::all_of(stores, [&](Id s) { return index_stride(g, g.src(s, 1), range) == stride; });
}

// Whether an inner loop runs differently often from one iteration of the range to the next.
bool bounds_loops(const Graph& g, std::span<const Id> stores, Id range) {
  std::vector<Id> ends;
  for (const Id id : g.reachable(stores))
    if (g.op(id) == Op::FOR) ends.insert(ends.end(), {g.src(id, 1), g.src(id, 2)});
  const std::vector<Id> nodes = g.reachable(ends);
  return std::ranges::binary_search(nodes, range);
}

// Which range becomes lanes: the last, or the one before a last range of a few iterations. ranges.size(): none.
std::size_t lane_range(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges) {
  const std::size_t none = ranges.size();
  if (none == 0 || !all_stores_have_stride(g, stores, ranges[none - 1], 1)) return none;
  const Id end = g.src(ranges[none - 1], 0);
  const bool is_short = g.is_const(end) && g.arg(end, 0) < shortest_lanes;
  if (is_short && (none < 2 || !all_stores_have_stride(g, stores, ranges[none - 2], g.arg(end, 0)))) return none;
  const std::size_t i = none - (is_short ? 2 : 1);
  return has_vectors_over(g, stores, ranges[i]) || bounds_loops(g, stores, ranges[i]) ? none : i;
}

// How many iterations a constant extent leaves to share among `wanted`.
int fitting(const Graph& g, Id range, int wanted) {
  const Id end = g.src(range, 0);
  if (!g.is_const(end) || g.arg(end, 0) >= wanted) return wanted;
  return static_cast<int>(std::max<std::int64_t>(1, g.arg(end, 0)));
}

// The range to unroll beside the vector range: one that some load of an fma loop does not depend on, best a vector load.
std::size_t tile_range(const Graph& g, const Body& b, std::span<const Id> ranges, std::size_t lanes) {
  const Id vector = ranges[lanes];
  for (const bool vector_load : {true, false})
    for (std::size_t i = lanes; i-- > 0;)
      for (const Id loop : b.fma_loops) {
        const Id roots[] = {g.src(loop, 4)};
        for (const Id id : g.reachable(roots))
          if (g.op(id) == Op::LOAD && index_stride(g, g.src(id, 1), ranges[i]) == 0 &&
              (!vector_load || index_stride(g, g.src(id, 1), vector) != 0))
            return i;
      }
  return ranges.size();
}

}  // namespace

std::vector<LoopPlan> optimise(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges, const Target& target) {
  std::vector<LoopPlan> plan;
  for (const Id r : ranges) plan.push_back({r, 1, false, false});
  const std::size_t at = lane_range(g, stores, ranges);
  if (at == ranges.size()) return plan;
  const Body b = look(g, stores);
  if (at + 1 < ranges.size() && b.operations > huge_body) return plan;
  const int one_register = std::max(1, target.vector_bytes / b.widest);
  const bool one = b.operations > light_body || at + 1 < ranges.size();
  const int lanes =
      static_cast<int>(std::bit_floor(static_cast<unsigned>(fitting(g, ranges[at], one ? one_register : 2 * one_register))));
  if (lanes < shortest_lanes && lanes < one_register) return plan;
  LoopPlan& vector = plan[at];
  vector.step = lanes;
  vector.lanes = true;
  vector.masked_tail = b.narrowest >= 4 && (b.has_loops || b.operations > cheap_body);
  vector.masked_all = b.operations > huge_body;
  if (at + 1 < ranges.size()) {
    plan[at + 1].step = fitting(g, ranges[at + 1], shortest_lanes);
    return plan;
  }
  if (b.fma_loops.empty() || vector.masked_all || ranges.size() < 2) return plan;
  if (const std::size_t i = tile_range(g, b, ranges, at); i < ranges.size()) plan[i].step = fitting(g, ranges[i], tile_factor);
  return plan;
}

}  // namespace kiln::compiler
