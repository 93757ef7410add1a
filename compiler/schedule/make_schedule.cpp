#include "compiler/schedule/make_schedule.h"

#include "compiler/ir/call_symbols.h"
#include "compiler/rangeify/collapse_reductions.h"
#include "compiler/rangeify/fold_stages.h"
#include "compiler/rangeify/graph_cleanup.h"
#include "compiler/rangeify/integer_positions.h"
#include "compiler/rangeify/range_assignment.h"
#include "compiler/rangeify/scalar_kernels.h"
#include "compiler/rangeify/small_vectors.h"
#include "compiler/rangeify/sum_atomics.h"
#include "compiler/schedule/dependencies.h"
#include "compiler/schedule/fuse_rows.h"
#include "compiler/schedule/host_loops.h"
#include "compiler/schedule/kernel_split.h"
#include "compiler/schedule/memory_plan.h"
#include "compiler/schedule/pack_operands.h"
#include "compiler/schedule/pieces.h"
#include "compiler/schedule/ping_pong.h"
#include "compiler/schedule/share_kernels.h"
#include "compiler/schedule/simplify_ranges.h"
#include "compiler/schedule/split_ranges.h"
#include "compiler/schedule/split_reduce.h"

namespace kiln::compiler {
namespace {

// Alternates fold_stages and collapse_reductions until nothing changes, because each makes work for the other. A value whose
// STAGE has lost an axis may no longer depend on a reduction's range. A value without its loop may be too cheap to store. The
// loop ends, because each round removes a STAGE, an axis or a range.
void fold_stages_to_the_end(Graph& g, Schedule& s) {
  for (Id before = no_id; before != s.program.sink;) {
    before = s.program.sink;
    fold_stages(g, s.program);
    if (s.program.sink != before) collapse_reductions(g, s.program);
  }
}

template <void (*pass)(Graph&, Program&)>
void on_programs(Graph& g, Schedule& s) {
  in_pieces(g, s, [](Graph& graph, Schedule& piece) { pass(graph, piece.program); });
}
template <void (*pass)(Graph&, Schedule&)>
void on_pieces(Graph& g, Schedule& s) {
  in_pieces(g, s, pass);
}

constexpr SchedulePass passes[] = {
    {"scalar_kernels", Form::program, [](Graph& g, Schedule& s) { scalar_kernels(g, s.program); }},
    {"host_loops", Form::tensors, host_loops},
    {"graph_cleanup", Form::tensors, on_programs<graph_cleanup>},
    {"small_vectors", Form::tensors, on_programs<small_vectors>},
    {"integer_positions", Form::tensors, on_programs<integer_positions>},
    {"sum_atomics", Form::tensors, on_programs<sum_atomics>},
    {"range_assignment", Form::ranges, on_programs<range_assignment>},
    {"collapse_reductions", Form::ranges, on_programs<collapse_reductions>},
    {"fold_stages", Form::ranges, on_pieces<fold_stages_to_the_end>},
    {"kernel_split", Form::kernels, on_pieces<kernel_split>},
    {"pack_operands", Form::kernels, on_pieces<pack_operands>},
    {"fuse_rows", Form::kernels, on_pieces<fuse_rows>},
    {"simplify_ranges", Form::kernels, on_pieces<simplify_ranges>},
    {"split_reduce", Form::kernels, on_pieces<split_reduce>},
    {"split_ranges", Form::kernels, on_pieces<split_ranges>},
    {"dependencies", Form::ordered, dependencies},
    {"ping_pong", Form::ordered, ping_pong},
    {"memory_plan", Form::planned, memory_plan},
    {"share_kernels", Form::planned, share_kernels},
};

}  // namespace

std::span<const SchedulePass> schedule_passes() { return passes; }

Schedule make_schedule(Graph& g, const Program& p, const PassObserver* observer) {
  Schedule s;
  s.program = p;
  for (const SchedulePass& pass : passes) {
    pass.run(g, s);
    if (observer != nullptr) observer->after(pass.name, g, s);
  }
  check_run(g, s);
  return s;
}

}  // namespace kiln::compiler
