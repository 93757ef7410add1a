#include "compiler/lower/lower.h"

#include <algorithm>
#include <stdexcept>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/index_poly.h"
#include "compiler/lower/decompose_half.h"
#include "compiler/lower/decompose_math.h"
#include "compiler/lower/estimate_work.h"
#include "compiler/lower/gate_extraction.h"
#include "compiler/lower/group_lanes.h"
#include "compiler/lower/index_dtype.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/interleaved_access.h"
#include "compiler/lower/loop_nest.h"
#include "compiler/lower/mask_loops.h"
#include "compiler/lower/merge_ranges.h"
#include "compiler/lower/narrow_casts.h"
#include "compiler/lower/optimise.h"
#include "compiler/lower/own_plan.h"
#include "compiler/lower/phases.h"
#include "compiler/lower/reduce_lowering.h"
#include "compiler/lower/serial_atomics.h"
#include "compiler/symbolic/bounds.h"

namespace kiln::compiler {
namespace {

// The ranges of the first END. All ENDs have the same ranges.
std::vector<Id> loops_of(const Graph& g, Id sink) {
  std::vector<Id> out;
  const Id first = g.src(sink).empty() ? no_id : g.src(sink, 0);
  if (first == no_id || g.op(first) != Op::END) return out;
  for (const Id r : g.src(first).subspan(1))
    if (g.op(r) == Op::RANGE) out.push_back(r);
  return out;
}

// Replaces LOOP ranges and ranges of reductions. Ranges of FORs stay.
Id drop_unit_ranges(Graph& g, Id sink) {
  const std::vector<Id> loops = loops_of(g, sink);
  return rewrite(g, sink, [&](Id id, std::span<const Id> x) -> Id {
    const bool unit = g.op(id) == Op::RANGE && g.is_index_const(x[0], 1);
    return unit && (static_cast<RangeKind>(g.arg(id, 1)) == RangeKind::reduce || std::ranges::find(loops, id) != loops.end())
               ? g.index(0)
               : no_id;
  });
}

std::vector<Id> stores_of(const Graph& g, Id sink) {
  std::vector<Id> out;
  for (const Id effect : g.src(sink)) out.push_back(g.op(effect) == Op::END ? g.src(effect, 0) : effect);
  return out;
}

void check(const Graph& g, std::span<const Id> phases) {
  for (const Id phase : phases)
    for (const Id effect : g.src(phase))
      if (g.op(effect) != Op::END && g.op(effect) != Op::STORE)
        throw std::logic_error("lower: a kernel's effects are END or STORE");
}

// Adds the bounds of $begin and $end: both are between 0 and the trip count.
Facts with_chunk(const Graph& g, Facts facts, Id trip_count) {
  const SymFact inside{0, Bounds(g, facts)(trip_count).max, 1};
  facts.syms["$begin"] = facts.syms["$end"] = inside;
  return facts;
}

// Limits the size of a kernel's arrays, because they are on the stack of the thread that runs it.
void check_arrays(const Graph& g, Id sink) {
  constexpr std::int64_t most = std::int64_t{1} << 20;
  std::int64_t left = most;
  const Id roots[] = {sink};
  for (const Id id : g.reachable(roots)) {
    if (g.op(id) != Op::LOCAL) continue;
    std::int64_t size = bytes(g.dtype(id));
    for (const Id extent : g.src(id).subspan(1)) size = std::min(size * std::min(g.arg(extent, 0), most + 1), most + 1);
    left -= size;
    if (left < 0)
      throw Diagnostic("E-stack", where(g, g.loc(id)),
                       "expected at most " + std::to_string(most) +
                           " bytes of arrays in a kernel, got more: local and group arrays, and what the positions of a group "
                           "keep across barriers");
  }
}

// Lowers a kernel with one nest of loops.
LoweredKernel in_chunks(Graph& g, LoopIds& loops, Id sink, const Facts& facts, const Target& target) {
  LoweredKernel out;
  const std::vector<Id> stores = stores_of(g, sink), ranges = order_of_ranges(g, stores, loops_of(g, sink), target);
  const std::vector<LoopPlan> plan = optimise(g, stores, ranges, target);
  out.trip_count = ranges.empty() ? g.index(1) : g.src(ranges[0], 0);
  out.alignment = plan.empty() ? 1 : plan[0].step;
  out.parallel =
      !ranges.empty() && std::ranges::all_of(stores, [&](Id s) { return index_stride(g, g.src(s, 1), ranges[0]) != 0; });
  out.sink = g.make(Op::SINK, DType::none, loop_nest(g, loops, stores, plan, facts));
  return out;
}

LoweredKernel lower_own(Graph& g, const Kernel& kernel, const Facts& facts, const Target& target,
                        const LowerObserver* observer) {
  check_arrays(g, kernel.sink);
  Id sink = kernel.sink;
  const auto step = [&](std::string_view name, Id now) {
    sink = now;
    if (observer != nullptr) observer->after(name, g, sink);
  };
  step("drop_unit_ranges", drop_unit_ranges(g, sink));
  step("gate_extraction", gate_extraction(g, sink));
  const bool in_order = needs_order(g, sink);
  step("serial_atomics", serial_atomics(g, sink));
  step("decompose_math", decompose_math(g, sink));
  step("decompose_half", decompose_half(g, sink));
  LoweredKernel out;
  out.work = estimate_work(g, sink);

  LoopIds loops(g, sink);
  const std::vector<Id> ranges = loops_of(g, sink);
  const bool in_groups = has_groups(g, sink);  // then the positions of groups become lanes, not the kernel's ranges
  if (in_groups) step("group_lanes", group_lanes(g, loops, sink, facts, target));
  const std::vector<LoopPlan> plan = own_plan(g, stores_of(g, sink), ranges, target, in_order || in_groups);
  for (const LoopPlan& p : plan)
    if (p.lanes) step("mask_loops", mask_loops(g, loops, sink, p.range));
  out.trip_count = ranges.empty() ? g.index(1) : g.src(ranges[0], 0);
  out.alignment = plan.empty() ? 1 : plan[0].step;
  out.parallel = !ranges.empty() && !in_order;
  step("loop_nest", g.make(Op::SINK, DType::none, loop_nest(g, loops, stores_of(g, sink), plan, facts, Borders::stay)));
  step("interleaved_access", interleaved_access(g, sink, target));
  step("index_dtype", index_dtype(g, sink, with_chunk(g, facts, out.trip_count), target.index_bits));
  out.sink = sink;
  return out;
}

}  // namespace

LoweredKernel lower_kernel(Graph& g, const Schedule& schedule, const Kernel& kernel, const Facts& facts, const Target& target,
                           const LowerObserver* observer) {
  if (kernel.is_own) return lower_own(g, kernel, facts, target, observer);
  std::vector<Id> phases = phases_of(g, kernel.sink);
  Id sink = kernel.sink;
  const auto tell = [&](std::string_view name) {
    if (observer != nullptr) observer->after(name, g, sink);
  };
  const auto each = [&](std::string_view name, auto&& step) {
    for (Id& phase : phases) phase = step(phase);
    sink = joined(g, phases);
    tell(name);
  };
  each("drop_unit_ranges", [&](Id s) { return drop_unit_ranges(g, s); });
  each("gate_extraction", [&](Id s) { return gate_extraction(g, s); });
  each("merge_ranges", [&](Id s) { return merge_ranges(g, s, facts, phases.size() > 1 ? 1 : 0); });
  each("decompose_math", [&](Id s) { return decompose_math(g, s); });
  each("decompose_half", [&](Id s) { return decompose_half(g, s); });
  check(g, phases);
  const Id work = estimate_work(g, sink);
  LoopIds loops(g, sink);
  each("reduce_lowering", [&](Id s) { return reduce_lowering(g, loops, s, facts); });
  LoweredKernel out = phases.size() == 1 ? in_chunks(g, loops, sink, facts, target)
                                         : in_turns(g, loops, windows_of(schedule, kernel), phases, facts, target);
  out.work = work;
  const auto finish = [&](std::string_view name, Id now) {
    sink = now;
    tell(name);
  };
  finish("loop_nest", out.sink);
  finish("interleaved_access", interleaved_access(g, sink, target));
  const Facts in_chunk = with_chunk(g, facts, out.trip_count);
  finish("narrow_casts", narrow_casts(g, sink, in_chunk));
  finish("index_dtype", index_dtype(g, sink, in_chunk, target.index_bits));
  out.sink = sink;
  return out;
}

}  // namespace kiln::compiler
