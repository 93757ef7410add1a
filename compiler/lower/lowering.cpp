#include "compiler/lower/lowering.h"

#include <algorithm>
#include <stdexcept>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/entry_values.h"
#include "compiler/ir/index_poly.h"
#include "compiler/ir/loop_scopes.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/remark.h"
#include "compiler/ir/state.h"
#include "compiler/lower/access.h"
#include "compiler/lower/array_values.h"
#include "compiler/lower/chain_borders.h"
#include "compiler/lower/check_plan.h"
#include "compiler/lower/decompose_half.h"
#include "compiler/lower/decompose_math.h"
#include "compiler/lower/drop_unit_ranges.h"
#include "compiler/lower/estimate_work.h"
#include "compiler/lower/even_lanes.h"
#include "compiler/lower/explicit_plan.h"
#include "compiler/lower/forward_stores.h"
#include "compiler/lower/fuse_reductions.h"
#include "compiler/lower/gate_extraction.h"
#include "compiler/lower/idle_loops.h"
#include "compiler/lower/index_dtype.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/interleaved_access.h"
#include "compiler/lower/kernel_time.h"
#include "compiler/lower/lane_order.h"
#include "compiler/lower/loads_once.h"
#include "compiler/lower/loop_clamps.h"
#include "compiler/lower/loop_conditions.h"
#include "compiler/lower/loop_interiors.h"
#include "compiler/lower/loop_lanes.h"
#include "compiler/lower/loop_nest.h"
#include "compiler/lower/loop_reductions.h"
#include "compiler/lower/mask_loops.h"
#include "compiler/lower/merge_ranges.h"
#include "compiler/lower/narrow_casts.h"
#include "compiler/lower/narrow_integers.h"
#include "compiler/lower/near_gathers.h"
#include "compiler/lower/phase_loops.h"
#include "compiler/lower/reduce_lowering.h"
#include "compiler/lower/scan_lowering.h"
#include "compiler/lower/serial_atomics.h"
#include "compiler/lower/share_loads.h"
#include "compiler/lower/stores_in_reductions.h"
#include "compiler/lower/tile_steps.h"
#include "compiler/lower/transpose_loads.h"
#include "compiler/lower/workgroup_lanes.h"
#include "compiler/symbolic/bounds.h"
#include "compiler/target/lane_limits.h"

namespace kiln::compiler {
namespace {

std::vector<Id> stores_of(const Graph& g, Id sink) {
  std::vector<Id> out;
  for (const Id effect : g.src(sink)) out.push_back(g.op(effect) == Op::END ? g.store(effect) : effect);
  return out;
}

// Limits the size of a kernel's arrays, because they are on the stack of the thread that runs it.
void check_arrays(const Graph& g, Id sink) {
  constexpr std::int64_t most = std::int64_t{1} << 20;
  std::int64_t left = most;
  for (const Id id : g.reachable(sink)) {
    if (g.op(id) != Op::LOCAL) continue;
    std::int64_t size = bytes(g.dtype(id));
    for (const Id extent : g.src(id).subspan(1)) size = std::min(size * std::min(g.value(extent), most + 1), most + 1);
    left -= size;
    if (left < 0)
      throw Diagnostic(
          "E-stack", where(g, g.loc(id)),
          "expected at most " + std::to_string(most) +
              " bytes of arrays in a kernel, got more: local and shared arrays, and values that the work items of a workgroup "
              "keep across barriers");
  }
}

// Adds the bounds of $begin and $end, which are between 0 and the trip count, and of misalignments.
Facts in_chunk(const Graph& g, const Lowering& k) {
  Facts facts = k.facts;
  const SymFact inside{0, Bounds(g, facts)(k.out.trip_count).max, 1};
  facts.syms["$begin"] = facts.syms["$end"] = inside;
  for (std::size_t slot = 0; slot < k.tile_sizes.size(); ++slot) facts.syms[misalignment_of(slot)] = {0, 63, 1};
  return facts;
}

void set_tile_steps(Graph& g, Lowering& k, std::vector<Id> tile_steps) {
  k.tile_steps = std::move(tile_steps);
  k.out.sink = k.tile_steps.size() == 1 ? k.tile_steps[0] : joined(g, k.tile_steps);
}

template <class F>
void each_tile_step(Graph& g, Lowering& k, F&& step) {
  std::vector<Id> tile_steps;
  for (const Id tile_step : k.tile_steps) tile_steps.push_back(step(tile_step));
  set_tile_steps(g, k, std::move(tile_steps));
}

// The ranges that a plan is about, outermost first. A kernel with several tile steps has one loop over its tiles around them.
std::vector<Id> planned_ranges(const Graph& g, const Lowering& k, Id tile_step) {
  std::vector<Id> ranges = loops_of(g, tile_step);
  if (k.has_tiles)
    std::erase(ranges, tile_range(g, k.tile_steps));
  else if (!k.is_explicit)
    ranges = order_of_ranges(g, stores_of(g, tile_step), ranges, k.target);
  return ranges;
}

// Whether the iterations have no loops and no atomic operations.
bool is_straight(const Graph& g, std::span<const Id> stores) {
  return std::ranges::none_of(g.reachable(stores), [&](Id id) { return g.op(id) == Op::FOR || g.op(id) == Op::ATOMIC; });
}

// Whether the iterations have no atomic operations, and only loops over windows: with constant ends, always to the end.
bool is_window(const Graph& g, std::span<const Id> stores) {
  constexpr std::int64_t most_turns = 1024;
  const auto fits = [&](Id id) {
    if (g.op(id) != Op::FOR) return g.op(id) != Op::ATOMIC;
    const ForParts loop = for_parts(g, id);
    const bool is_counted = g.is_const(loop.begin) && g.is_const(loop.end) && !loop.has_condition;
    return is_counted && g.value(loop.end) - g.value(loop.begin) <= most_turns;
  };
  return std::ranges::all_of(g.reachable(stores), fits);
}

// Whether a kernel that the program wrote is like one of the compiler's: each iteration computes elements of its own, without
// loops and arrays, and neighbouring iterations store neighbours.
bool is_like_plain(const Graph& g, const Lowering& k, std::span<const Id> stores, std::span<const Id> ranges) {
  if (k.in_order || k.has_vectors || k.has_workgroups || ranges.empty() || !is_straight(g, stores)) return false;
  if (!std::ranges::all_of(stores, [&](Id s) { return g.op(s) == Op::STORE && g.op(memory_of(g, s)) == Op::BUFFER; }))
    return false;
  const Id last = ranges.back(), extent = g.end(last);
  if (g.is_const(extent) && g.value(extent) < shortest_lanes) return false;
  if (std::ranges::any_of(g.reachable(stores), [&](Id id) { return g.op(id) == Op::LOCAL; })) return false;
  return why_no_lanes(g, stores, last, 1).empty();
}

// Stores to states that change in an iteration are not aligned, and do not go past the caches.
void forget_alignment(const Graph& g, std::span<const Id> stores, std::vector<LoopPlan>& plan) {
  if (std::ranges::all_of(stores, [&](Id s) { return g.op(g.state(s)) == Op::BUFFER; })) return;
  for (LoopPlan& p : plan) p.align = 0, p.past_caches = 0;
}

std::vector<LoopPlan> plan_of(const Graph& g, const Lowering& k, Id tile_step) {
  const std::vector<Id> ranges = planned_ranges(g, k, tile_step), stores = stores_of(g, tile_step);
  if (k.is_explicit && is_like_plain(g, k, stores, ranges)) {
    std::vector<LoopPlan> plan = k.make_plan(g, stores, ranges, k.target);
    forget_alignment(g, stores, plan);
    if (check_plan(g, stores, ranges, plan).empty() && std::ranges::any_of(plan, &LoopPlan::lanes)) return plan;
  }
  if (k.is_explicit) return explicit_plan(g, stores, ranges, k.target, k.in_order || k.has_vectors || k.has_workgroups);
  std::vector<LoopPlan> plan = k.make_plan(g, stores, ranges, k.target);
  if (const std::string broken = check_plan(g, stores, ranges, plan); !broken.empty())
    throw std::logic_error("plan of a kernel: " + broken);
  return plan;
}

// Whether work items of the kernel become lanes.
bool has_lanes(Graph& g, const Lowering& k) {
  const std::vector<Id> ranges = planned_ranges(g, k, k.tile_steps[0]);
  if (ranges.empty()) return false;
  Remarks* const remarks = g.remarks();
  g.set_remarks(nullptr);  // vectorize_plan makes them
  const std::vector<LoopPlan> plan = plan_of(g, k, k.tile_steps[0]);
  g.set_remarks(remarks);
  return std::ranges::any_of(plan, &LoopPlan::lanes);
}

// The plan if the pass `vectorize_plan` is disabled: every loop runs one iteration at a time.
std::vector<LoopPlan> scalar_plan(const Graph& g, const Lowering& k, Id tile_step) {
  std::vector<LoopPlan> plan;
  for (const Id r : planned_ranges(g, k, tile_step)) plan.push_back({.range = r});
  return plan;
}

void explain_scattered(const Graph& g, Id sink) {
  for (const Id id : g.reachable(sink)) {
    const bool is_load = g.op(id) == Op::LOAD;
    if ((!is_load && g.op(id) != Op::STORE) || access_of(g, id) != Access::scattered) continue;
    remark(g, id, remarks::gathered, [&] {
      return (is_load ? "loads " : "stores ") + std::to_string(g.lanes(index_of(g, id))) +
             " elements one by one: neighbouring lanes do not use neighbouring elements" +
             (are_even(g, index_of(g, id))
                  ? ", but elements at a distance that the call decides, as in a column or on a diagonal. A "
                    "tensor with one row for each column or diagonal is faster"
                  : "");
    });
  }
}

// How the runtime may cut the outermost loop of a kernel with one tile step.
// How many iterations of a block of rows, each of several copies, a chunk of a thread has at least. Each chunk reads the whole
// right operand of a product, so chunks of few rows wait for memory. Many rows give enough chunks for the threads in any case.
int blocks_in_chunk(const Graph& g, const LoopPlan& rows, int copies) {
  constexpr std::int64_t enough_chunks = 32, most = 4;
  const Id extent = g.end(rows.range);
  if (!rows.block || !g.is_const(extent)) return 1;
  return narrow<int>(std::clamp<std::int64_t>(g.value(extent) / (copies * enough_chunks), 1, most));
}

void describe_loop(Graph& g, Lowering& k, std::span<const Id> stores) {
  const std::vector<LoopPlan>& plan = k.plans[0];
  const auto moves = [&](Id store) { return index_stride(g, index_of(g, store), plan[0].range) != 0; };
  k.out.trip_count = plan.empty() ? g.index(1) : g.end(plan[0].range);
  const auto last_loop = [&] { return std::ranges::find(plan.rbegin(), plan.rend(), plan[0].range, &LoopPlan::range); };
  k.out.alignment = plan.empty() ? 1 : last_loop()->step * blocks_in_chunk(g, plan[0], last_loop()->step);
  k.out.parallel = !plan.empty() && (k.is_explicit ? !k.in_order : std::ranges::all_of(stores, moves));
  const auto has_loop = [&] { return std::ranges::any_of(g.reachable(stores), [&](Id id) { return g.op(id) == Op::FOR; }); };
  if (plan.empty() && g.remarks() != nullptr && has_loop())
    remark(g, stores[0], remarks::one_thread, [] { return "the kernel has one work item, so its loops run in one thread"; });
}

}  // namespace

Lowering begin_lowering(Graph& g, const Schedule& s, const Kernel& k, const Facts& facts, const Target& target) {
  if (k.is_explicit) check_arrays(g, k.sink);
  Lowering out;
  out.is_explicit = k.is_explicit;
  out.tile_sizes = tile_sizes_of(s, k);
  out.at_entry = entry_slots(s, k);
  out.facts = facts;
  out.target = target;
  out.out.sink = k.sink;
  out.tile_steps = k.is_explicit ? std::vector<Id>{k.sink} : tile_steps_of(g, k.sink);
  out.has_tiles = out.tile_steps.size() > 1;
  return out;
}

namespace lowering {

void drop_unit_ranges(Graph& g, Lowering& k) {
  each_tile_step(g, k, [&](Id s) { return compiler::drop_unit_ranges(g, s); });
}

void gate_extraction(Graph& g, Lowering& k) {
  each_tile_step(g, k, [&](Id s) { return compiler::gate_extraction(g, s, k.facts); });
}

void merge_ranges(Graph& g, Lowering& k) {
  const std::size_t fixed = k.has_tiles ? 1 : 0;  // the range of the tiles
  each_tile_step(g, k, [&](Id s) { return compiler::merge_ranges(g, s, k.facts, fixed); });
}

void serial_atomics(Graph& g, Lowering& k) {
  k.in_order = needs_order(g, k.tile_steps[0]);
  each_tile_step(g, k, [&](Id s) { return compiler::serial_atomics(g, s); });
}

void loop_conditions(Graph& g, Lowering& k) {
  each_tile_step(g, k, [&](Id s) { return compiler::loop_conditions(g, s); });
}

void loop_clamps(Graph& g, Lowering& k) {
  each_tile_step(g, k, [&](Id s) { return compiler::loop_clamps(g, s, k.facts); });
}

void forward_stores(Graph& g, Lowering& k) {
  each_tile_step(g, k, [&](Id s) { return compiler::forward_stores(g, s); });
}

void decompose_math(Graph& g, Lowering& k) {
  each_tile_step(g, k, [&](Id s) { return compiler::decompose_math(g, s, k.target); });
}

void decompose_half(Graph& g, Lowering& k) {
  each_tile_step(g, k, [&](Id s) { return compiler::decompose_half(g, s); });
}

void narrow_integers(Graph& g, Lowering& k) {
  each_tile_step(g, k, [&](Id s) { return compiler::narrow_integers(g, s, k.facts); });
}

void estimate_work(Graph& g, Lowering& k) {
  k.out.work = compiler::estimate_work(g, k.out.sink);
  k.loops.emplace(g, k.out.sink);
}

void reduce_lowering(Graph& g, Lowering& k) {
  if (k.is_explicit) each_tile_step(g, k, [&](Id s) { return loop_reductions(g, s, k.facts); });
  StoresInReductions stores;
  if (k.has_tiles) set_tile_steps(g, k, stores_in_reductions(g, k, stores));
  const Id tile = k.has_tiles ? tile_range(g, k.tile_steps) : no_id;
  each_tile_step(g, k, [&](Id s) { return compiler::reduce_lowering(g, *k.loops, s, k.facts, tile, stores); });
}

void scan_lowering(Graph& g, Lowering& k) {
  each_tile_step(g, k, [&](Id s) {
    const LoweredScans lowered = compiler::scan_lowering(g, *k.loops, s, k.facts);
    k.has_vectors = k.has_vectors || lowered.have_vectors;
    return lowered.sink;
  });
}

void fuse_reductions(Graph& g, Lowering& k) {
  each_tile_step(g, k, [&](Id s) { return compiler::fuse_reductions(g, s, k.target); });
}

void loop_interiors(Graph& g, Lowering& k) {
  each_tile_step(g, k, [&](Id s) { return compiler::loop_interiors(g, *k.loops, s, k.facts); });
}

void workgroup_lanes(Graph& g, Lowering& k) {
  k.has_workgroups = compiler::has_workgroups(g, k.tile_steps[0]);
  if (k.has_workgroups)
    each_tile_step(g, k, [&](Id s) { return compiler::workgroup_lanes(g, *k.loops, s, k.facts, k.target); });
}

void array_values(Graph& g, Lowering& k) {
  each_tile_step(g, k, [&](Id s) { return compiler::array_values(g, *k.loops, s, k.has_workgroups, k.target); });
}

void loop_lanes(Graph& g, Lowering& k) {
  if (k.has_workgroups || k.has_vectors || has_lanes(g, k)) return;
  const Id before = k.tile_steps[0];
  const LoopsWithLanes made = compiler::loop_lanes(g, *k.loops, before, k.facts, k.target);
  if (!made.have_vectors) return;
  if (!loops_of(g, before).empty()) (void)plan_of(g, k, before);  // makes the remark why work items have no lanes
  k.has_vectors = true;
  set_tile_steps(g, k, {made.sink});
}

void vectorize_plan(Graph& g, Lowering& k) {
  for (const Id tile_step : k.tile_steps) k.plans.push_back(plan_of(g, k, tile_step));
}

void mask_loops(Graph& g, Lowering& k) {
  for (const std::vector<LoopPlan>& plan : k.plans)
    for (const LoopPlan& p : plan)
      if (p.lanes) each_tile_step(g, k, [&](Id s) { return compiler::mask_loops(g, *k.loops, s, p.range); });
}

void loop_nest(Graph& g, Lowering& k) {
  if (k.plans.empty())
    for (const Id tile_step : k.tile_steps) k.plans.push_back(scalar_plan(g, k, tile_step));
  if (k.has_tiles) return set_tile_steps(g, k, {in_tiles(g, k)});
  std::vector<Id> stores = stores_of(g, k.tile_steps[0]);
  describe_loop(g, k, stores);
  const bool splits = !k.is_explicit || is_straight(g, stores);
  const Borders borders = splits || is_window(g, stores) ? Borders::split : Borders::stay;
  if (k.is_explicit && splits && !k.in_order && k.plans[0].size() > 1) stores = loads_once(g, stores, k.plans[0].back().range);
  Id sink = g.make(Op::SINK, DType::none,
                   compiler::loop_nest(g, *k.loops, stores, k.plans[0], k.facts, borders, last_vector(k.target)));
  if (k.is_explicit) sink = compiler::loop_interiors(g, *k.loops, sink, k.facts, LoopLanes::none);
  set_tile_steps(g, k, {sink});
}

void transpose_loads(Graph& g, Lowering& k) {
  each_tile_step(g, k, [&](Id s) { return compiler::transpose_loads(g, *k.loops, s, k.target); });
}

void near_gathers(Graph& g, Lowering& k) {
  each_tile_step(g, k, [&](Id s) { return compiler::near_gathers(g, s, k.out.alignment); });
}

void interleaved_access(Graph& g, Lowering& k) {
  each_tile_step(g, k, [&](Id s) { return compiler::interleaved_access(g, s, k.target); });
  if (g.remarks() != nullptr) explain_scattered(g, k.out.sink);
}

void idle_loops(Graph& g, Lowering& k) {
  each_tile_step(g, k, [&](Id s) { return compiler::idle_loops(g, s, in_chunk(g, k)); });
}

void phase_loops(Graph& g, Lowering& k) {
  each_tile_step(g, k, [&](Id s) { return compiler::phase_loops(g, *k.loops, s); });
}

void share_loads(Graph& g, Lowering& k) {
  each_tile_step(g, k, [&](Id s) { return compiler::share_loads(g, *k.loops, s, k.target); });
}

void chain_borders(Graph& g, Lowering& k) {
  each_tile_step(g, k, [&](Id s) { return compiler::chain_borders(g, *k.loops, s, in_chunk(g, k)); });
}

void narrow_casts(Graph& g, Lowering& k) {
  each_tile_step(g, k, [&](Id s) { return compiler::narrow_casts(g, s, in_chunk(g, k)); });
}

void lane_order(Graph& g, Lowering& k) {
  each_tile_step(g, k, [&](Id s) { return compiler::lane_order(g, s, k.target); });
}

void even_lanes(Graph& g, Lowering& k) {
  each_tile_step(g, k, [&](Id s) { return compiler::even_lanes(g, s); });
}

void index_dtype(Graph& g, Lowering& k) {
  each_tile_step(g, k, [&](Id s) { return compiler::index_dtype(g, s, in_chunk(g, k), k.target.index_bits); });
  k.out.work = work_in_time(g, k.out.work, kernel_time(g, k.out, k.target));
}

}  // namespace lowering

}  // namespace kiln::compiler
