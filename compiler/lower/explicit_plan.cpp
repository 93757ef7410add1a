#include "compiler/lower/explicit_plan.h"

#include <algorithm>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/power_of_two.h"
#include "compiler/ir/remark.h"
#include "compiler/ir/state.h"
#include "compiler/lower/rewrite.h"
#include "compiler/target/lane_limits.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t large_array = 64;  // elements; from this size on an array for each lane costs more than lanes gain

bool is_short(const Graph& g, Id range) { return g.is_const(g.end(range)) && g.value(g.end(range)) < shortest_lanes; }

std::vector<LoopPlan> without_lanes(const Graph& g, std::span<const Id> states, std::vector<LoopPlan>& plan, std::string why) {
  if (!states.empty()) remark(g, states[0], remarks::not_vectorised, [&] { return "the kernel has no lanes: " + why; });
  return std::move(plan);
}

}  // namespace

bool is_large_array(const Graph& g, Id local) {
  std::int64_t elements = 1;
  for (const Id extent : g.src(local).subspan(1)) elements *= g.value(extent);
  return elements >= large_array;
}

std::vector<LoopPlan> explicit_plan(const Graph& g, std::span<const Id> states, std::span<const Id> ranges,
                                    const Target& target, bool in_order) {
  std::vector<LoopPlan> plan;
  for (const Id r : ranges) plan.push_back({.range = r});
  std::size_t at = ranges.size();
  while (at > 0 && is_short(g, ranges[at - 1])) --at;
  const auto is_one = [&](Id r) { return g.is_index_const(g.end(r), 1); };
  if (in_order || std::ranges::all_of(ranges, is_one))
    return plan;  // if in order, serial_atomics or workgroup_lanes has said why
  if (at == 0)
    return without_lanes(g, states, plan, "each of its loops has fewer than " + std::to_string(shortest_lanes) + " iterations");
  int widest = narrowest_value, operations = 0;
  bool has_loop = false, has_local = false;
  for (const Id id : g.reachable(states)) {
    has_loop = has_loop || g.op(id) == Op::FOR;
    has_local = has_local || g.op(id) == Op::LOCAL;
    if (g.op(id) == Op::LOCAL && is_large_array(g, id))
      return without_lanes(g, states, plan,
                           "each lane would need an array of " + std::to_string(large_array) + " elements or more");
    const DType d = g.dtype(id);
    if (d == DType::index || d == DType::none || d == DType::boolean) continue;
    widest = std::max(widest, bytes(d));
    operations += is_elementwise(g.op(id)) ? 1 : 0;
  }
  LoopPlan& vector = plan[at - 1];
  const Id extent = g.end(vector.range);
  std::int64_t lanes = target.vector_bytes / widest;
  // Each iteration of a loop waits for the one before: two vectors at once fill the time.
  if (has_loop && !has_local && operations <= short_body) lanes *= 2;
  if (g.is_const(extent)) lanes = std::min(lanes, g.value(extent));
  vector.step = narrow<int>(floor_power_of_two(std::max<std::int64_t>(1, lanes)));
  vector.lanes = vector.step > 1;
  vector.tails = {{vector.step, true}};
  vector.masked_all = operations > huge_body;
  remark(g, states[0], remarks::vectorised, [&] {
    return "the loop of " + index_text_or_id(g, extent) + " work items runs " + std::to_string(vector.step) +
           " at a time, in lanes";
  });
  return plan;
}

}  // namespace kiln::compiler
