#include "compiler/lower/explicit_plan.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/power_of_two.h"
#include "compiler/ir/remark.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/state.h"
#include "compiler/lower/access.h"
#include "compiler/lower/array_contents.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/rewrite.h"
#include "compiler/lower/row_loops.h"
#include "compiler/lower/transpose_loads.h"
#include "compiler/target/lane_limits.h"

namespace kiln::compiler {
namespace {

constexpr int cache_line = 64;    // bytes
constexpr int worth_a_line = 16;  // so many operations in lanes save the time of accesses that touch one line for each lane
constexpr int waits_for_row = 2;  // cycles for each access that touches one line for each lane, in which a loop waits anyway
constexpr std::int64_t way_of_cache = 65536;  // bytes: elements at multiples of it share a set of the second-level cache
constexpr std::int64_t most_rows = 8;         // that are lanes: each access needs as many cache lines
constexpr std::int64_t lanes_in_set = 8;      // lanes times accesses
constexpr int most_in_flight = 4;             // registers of a value: other vectors use the time in which one waits
constexpr std::int64_t large_array = 64;      // elements; from this size on an array for each lane costs more than lanes gain

bool is_short(const Graph& g, Id range) { return g.is_const(g.end(range)) && g.value(g.end(range)) < shortest_lanes; }

// The distance in memory between the elements of neighbouring iterations of a range: 0 for the same element, `far` for a
// multiple of an extent, nullopt if it depends on data. The clamp or wrap of an index is ignored, because only iterations near
// a border need it.
class Distances {
 public:
  static constexpr std::int64_t far = std::int64_t{1} << 40;

  Distances(const Graph& g, std::span<const Id> nodes, Id range) {
    for (const Id id : nodes) {
      const auto src = g.src(id);
      const bool depends = std::ranges::any_of(src, [&](Id s) { return found_.contains(s); });
      if (id == range)
        found_[id] = 1;
      else if (depends)
        found_[id] = distance(g, id);
    }
  }
  std::optional<std::int64_t> operator()(Id index) const {
    const auto at = found_.find(index);
    return at == found_.end() ? std::optional<std::int64_t>(0) : at->second;
  }

 private:
  std::optional<std::int64_t> distance(const Graph& g, Id id) const {
    const Op op = g.op(id);
    const auto a = (*this)(g.src(id, 0));
    if (op == Op::CAST) return a;
    if (g.src(id).size() != 2) return std::nullopt;
    const auto b = (*this)(g.src(id, 1));
    if (!a || !b) return std::nullopt;
    const auto limited = [](std::int64_t d) { return std::clamp(d, -far, far); };
    switch (op) {
      case Op::ADD: return limited(*a + *b);
      case Op::SUB: return limited(*a - *b);
      case Op::MUL: {
        const Id by = g.src(id, *a == 0 ? 0 : 1);
        const std::int64_t d = *a == 0 ? *b : *a;
        std::int64_t out = far;
        return !g.is_const(by) || __builtin_mul_overflow(d, g.value(by), &out) ? far : limited(out);
      }
      case Op::MIN:
      case Op::MAX:
      case Op::FLOORMOD: return *b == 0 ? a : *a == 0 ? b : std::nullopt;
      default: return std::nullopt;
    }
  }

  std::unordered_map<Id, std::optional<std::int64_t>> found_;  // by node that depends on the range
};

// The cycles in which the next value of an operation is known.
int latency(const Graph& g, Id id) {
  const Op op = g.op(id);
  if (op == Op::LOAD) return 5;
  if (!is_elementwise(op) || g.dtype(id) == DType::index) return 0;
  if (op == Op::FDIV || op == Op::SQRT) return 12;
  return is_float(g.dtype(id)) && op != Op::WHERE && op != Op::NEG ? 4 : 1;
}

// The cycles for which an iteration of the loop waits for values that the one before carries, at least.
int carried_latency(const Graph& g, Id loop) {
  const LoopParts l = loop_parts(g, loop);
  std::unordered_map<Id, int> after;  // by node that depends on a carried value
  for (const Id id : g.reachable(l.yield)) {
    if (g.op(id) == Op::CARRY && g.range_of(id) == l.range && g.dtype(id) != DType::none) after[id] = 0;
    for (const Id s : g.src(id))
      if (const auto at = after.find(s); at != after.end() && g.op(id) != Op::STORE)
        after[id] = std::max(after[id], at->second + latency(g, id));
  }
  int longest = 0;
  for (const Id y : l.yield)
    if (const auto at = after.find(y); at != after.end()) longest = std::max(longest, at->second);
  return longest;
}

bool has_lanes(DType d) { return d != DType::index && d != DType::none && d != DType::boolean; }

// What the inner loops of a kernel do in one iteration of each.
struct RowWalk {
  std::vector<Id> distant;  // accesses to elements that are far apart for neighbouring lanes
  int operations = 0;
  int widest = narrowest_value;  // bytes
  int latency = 0;               // for which the iterations of these loops wait
  bool is_contiguous = true;     // neighbouring lanes use the same element, or neighbouring ones
  bool shares_sets = false;      // the distances are multiples of the size of a way of the second-level cache
  int accesses() const { return narrow<int>(std::ssize(distant)); }
};

// Elements that are far apart need a cache line for each lane. Elements whose place depends on data are as far apart if the
// bounds of the loops do too: in the rows of a sparse matrix the lanes that have ended wait for the longest row.
RowWalk walk_of(const Graph& g, std::span<const Id> states, Id lanes) {
  const std::vector<Id> nodes = g.reachable(states);
  const Distances distance(g, nodes, lanes);
  std::unordered_set<Id> in_loop;
  bool has_own_bounds = false;
  RowWalk walk;
  for (const Id id : nodes)
    if (g.op(id) == Op::FOR) {
      const LoopParts l = loop_parts(g, id);
      in_loop.insert(g.range_of(id));
      has_own_bounds = has_own_bounds || !distance(l.begin) || !distance(l.end);
      walk.latency += carried_latency(g, id);
    }
  for (const Id id : nodes) {
    const Op op = g.op(id);
    const bool inside = op == Op::CARRY || (op != Op::FOR && op != Op::GET &&
                                            std::ranges::any_of(g.src(id), [&](Id s) { return in_loop.contains(s); }));
    if (!inside) continue;
    in_loop.insert(id);
    if (is_elementwise(op) && g.dtype(id) != DType::index) ++walk.operations;
    if (has_lanes(g.dtype(id))) walk.widest = std::max(walk.widest, bytes(g.dtype(id)));
    if (op != Op::LOAD && op != Op::STORE) continue;
    const DType d = op == Op::LOAD ? g.dtype(id) : g.dtype(value_of(g, id));
    const auto apart = distance(index_of(g, id));
    const std::int64_t size = apart ? std::abs(*apart) * bytes(d) : 0;
    walk.is_contiguous = walk.is_contiguous && apart && std::abs(*apart) <= 1;
    if (apart ? size >= cache_line : has_own_bounds) walk.distant.push_back(id);
    walk.shares_sets = walk.shares_sets || (size > 0 && std::abs(*apart) < Distances::far && size % way_of_cache == 0);
  }
  return walk;
}

// Whether the iterations of the last range store to different elements, and load from stored buffers only the elements that
// they store. Then each element takes its values in the same order, with lanes or without.
bool lanes_keep_order(const Graph& g, std::span<const Id> states, Id last) {
  std::unordered_map<Id, std::vector<Id>> indices;  // by memory
  const std::vector<Id> nodes = g.reachable(states);
  for (const Id id : nodes) {
    if (g.op(id) == Op::FOR || g.op(id) == Op::ATOMIC || g.op(id) == Op::LOCAL) return false;
    if (g.op(id) != Op::STORE) continue;
    if (index_stride(g, index_of(g, id), last) != 1) return false;
    indices[memory_of(g, g.state(id))].push_back(index_of(g, id));
  }
  return std::ranges::all_of(nodes, [&](Id id) {
    if (g.op(id) != Op::LOAD) return true;
    const auto stored = indices.find(memory_of(g, g.state(id)));
    return stored == indices.end() || std::ranges::all_of(stored->second, [&](Id i) { return i == index_of(g, id); });
  });
}

// Whether all lanes use the same element of their arrays at a time, so that an access is one vector, and the arrays of the
// lanes of so many registers fit half of the first-level cache.
bool lanes_share_places(const Graph& g, std::span<const Id> states, Id local, Id lanes, const Target& target,
                        int registers = 1) {
  constexpr std::int64_t most_bytes = 16384;
  std::int64_t size = std::int64_t{registers} * target.vector_bytes;
  for (const Id extent : g.src(local).subspan(1)) size = std::min(size * g.value(extent), most_bytes + 1);
  const std::vector<Id> nodes = g.reachable(states);
  const Distances distance(g, nodes, lanes);
  return size <= most_bytes && std::ranges::none_of(nodes, [&](Id id) {
           const bool accesses = (g.op(id) == Op::LOAD || g.op(id) == Op::STORE) && memory_of(g, g.state(id)) == local;
           return accesses && distance(index_of(g, id)) != 0;
         });
}

// Whether all lanes run the same iterations of every loop.
bool loops_are_uniform(const Graph& g, std::span<const Id> states, Id lanes) {
  const auto ends_early = [&](Id id) { return g.op(id) == Op::FOR && loop_parts(g, id).conditional; };
  return !bounds_loops(g, states, lanes) && std::ranges::none_of(g.reachable(states), ends_early);
}

// The bytes of the narrowest lane. Without loops, a lane may be as narrow as the values, if the places of all accesses are a
// few elements apart for neighbouring lanes. Other places are computed in the lanes.
int narrowest_lane(const Graph& g, std::span<const Id> states, Id lanes) {
  constexpr std::int64_t few = 8;
  const std::vector<Id> nodes = g.reachable(states);
  const Distances distance(g, nodes, lanes);
  const auto is_near = [&](Id access) {
    const auto apart = distance(index_of(g, access));
    return apart && std::abs(*apart) <= few;
  };
  const bool are_narrow = std::ranges::all_of(nodes, [&](Id id) {
    const Op op = g.op(id);
    return op == Op::LOAD || op == Op::STORE ? is_near(id) : op != Op::FOR && op != Op::LOCAL && op != Op::ATOMIC;
  });
  return are_narrow ? 1 : narrowest_value;
}

// For each access that touches one line for each lane, a mask takes as long as the scalars.
std::vector<Tail> tails_without_masks(int lanes) {
  if (lanes <= 2) return {{1, false}};
  return {{lanes / 2, false}, {1, false}};
}

std::vector<LoopPlan> without_lanes(const Graph& g, std::span<const Id> states, std::vector<LoopPlan>& plan, std::string why) {
  if (!states.empty()) remark(g, states[0], remarks::not_vectorised, [&] { return "the kernel has no lanes: " + why; });
  return std::move(plan);
}

}  // namespace

bool is_large_array(const Graph& g, Id local) { return elements_of(g, local) >= large_array; }

std::vector<LoopPlan> explicit_plan(const Graph& g, std::span<const Id> states, std::span<const Id> ranges,
                                    const Target& target, bool in_order) {
  std::vector<LoopPlan> plan;
  for (const Id r : ranges) plan.push_back({.range = r});
  std::size_t at = ranges.size();
  while (at > 0 && is_short(g, ranges[at - 1])) --at;
  const auto is_one = [&](Id r) { return g.is_index_const(g.end(r), 1); };
  if (std::ranges::all_of(ranges, is_one)) return plan;
  if (in_order && (at != ranges.size() || !lanes_keep_order(g, states, ranges.back())))
    return plan;  // serial_atomics or workgroup_lanes has made the remark
  if (at == 0)
    return without_lanes(g, states, plan, "each of its loops has fewer than " + std::to_string(shortest_lanes) + " iterations");
  int widest = narrowest_lane(g, states, ranges[at - 1]), operations = 0;
  bool has_loop = false, has_local = false;
  int in_flight = most_in_flight;  // registers
  for (const Id id : g.reachable(states)) {
    has_loop = has_loop || g.op(id) == Op::FOR;
    has_local = has_local || g.op(id) == Op::LOCAL;
    if (g.op(id) == Op::LOCAL && is_large_array(g, id) && !lanes_share_places(g, states, id, ranges[at - 1], target))
      return without_lanes(g, states, plan,
                           "each lane would need an array of " + std::to_string(large_array) +
                               " elements or more, and the lanes use different places in them, or they do not fit the cache");
    if (g.op(id) == Op::LOCAL)
      while (in_flight > 1 && !lanes_share_places(g, states, id, ranges[at - 1], target, in_flight)) in_flight /= 2;
    if (!has_lanes(g.dtype(id))) continue;
    widest = std::max(widest, bytes(g.dtype(id)));
    operations += is_elementwise(g.op(id)) ? 1 : 0;
  }
  LoopPlan& vector = plan[at - 1];
  const RowWalk walk = has_loop ? walk_of(g, states, vector.range) : RowWalk{};
  const bool is_uniform = has_loop && loops_are_uniform(g, states, vector.range);
  const bool walks_rows = walk.accesses() > 0 && walk.operations < worth_a_line * walk.accesses();
  const std::vector<Id> in_rows = walks_rows ? rows_in_lanes(g, states, vector.range) : std::vector<Id>{};
  const bool has_tiles =  // transpose_loads: each access loads rows, and the lanes are the rows of one vector
      walks_rows && std::ranges::all_of(walk.distant, [&](Id id) { return std::ranges::find(in_rows, id) != in_rows.end(); });
  if (walks_rows && !has_tiles && !(is_uniform && walk.latency >= waits_for_row * walk.accesses()))
    return without_lanes(g, states, plan, "its loops walk through memory that is far apart for neighbouring work items");
  if (at == ranges.size() && !walks_rows)
    if (auto rows = row_loops_plan(g, states, ranges, widest, operations, target)) {
      remark(g, states[0], remarks::vectorised, [&] {
        return "its loops run over rows, and inside them " + std::to_string(rows->back().step) +
               " work items at a time, in lanes";
      });
      return std::move(*rows);
    }
  const Id extent = g.end(vector.range);
  const bool is_huge = operations > huge_body;
  if (has_loop && !has_local) {  // the bodies of loops run most often
    widest = walk.widest;
    operations = walk.operations;
  }
  std::int64_t lanes = target.vector_bytes / widest;
  if (walks_rows)
    lanes = has_tiles ? lanes : std::min(lanes, walk.shares_sets ? lanes_in_set / walk.accesses() : most_rows);
  else if (has_loop && !has_local && is_uniform && row_fits_registers(g, extent, operations, widest, target))
    lanes = g.value(extent);
  else if (has_loop && operations <= short_body && (!has_local || (is_uniform && walk.is_contiguous)))
    lanes *=
        std::min(in_flight, (operations <= short_chain || walk.latency > 2 * operations) && is_uniform ? most_in_flight : 2);
  if (g.is_const(extent)) lanes = std::min(lanes, g.value(extent));
  vector.step = narrow<int>(floor_power_of_two(std::max<std::int64_t>(1, lanes)));
  vector.lanes = vector.step > 1;
  vector.tails = {{vector.step, true}};
  vector.masked_all = is_huge;
  if (walks_rows && !vector.masked_all) vector.tails = tails_without_masks(vector.step);
  remark(g, states[0], remarks::vectorised, [&] {
    return "the loop of " + index_text_or_id(g, extent) + " work items runs " + std::to_string(vector.step) +
           " at a time, in lanes";
  });
  return plan;
}

}  // namespace kiln::compiler
