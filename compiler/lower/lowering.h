// Lowering translates one kernel of the schedule (K level) into structured loops over scalars and vectors (P level). Its
// steps are rows of the table in compiler/pipeline/passes.cpp. This header has the state of a kernel between two steps, and
// the functions that the table names.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/schedule.h"
#include "compiler/lower/rewrite.h"
#include "compiler/lower/vectorize_plan.h"
#include "compiler/symbolic/facts.h"
#include "compiler/target/target.h"

namespace kiln::compiler {

struct Lowering {
  bool is_explicit = false;    // the program wrote the kernel: its loops stay
  std::vector<Id> tile_sizes;  // by kernel slot: elements of one tile of the buffer; no_id: the buffer is stored whole
  std::vector<bool> at_entry;  // by kernel slot: loads read the buffer's value on entry
  Facts facts;                 // bounds of at least the symbols that the kernel uses
  Target target;
  PlanMaker make_plan = compiler::vectorize_plan;  // not for kernels that the program wrote
  std::vector<Id> tile_steps;                      // one SINK for each loop nest; from loop_nest on, one SINK for the kernel
  bool has_tiles = false;                          // several tile steps at the begin of lowering
  std::optional<RangeIds> loops;                   // from estimate_work on
  bool in_order = false;                           // from serial_atomics on: iterations must run one after another
  bool has_vectors = false;                        // from scan_lowering on: scans or loops work on vectors
  bool has_workgroups = false;                     // from workgroup_lanes on: the work items of workgroups became lanes
  std::vector<std::vector<LoopPlan>> plans;        // from vectorize_plan on, by tile step
  LoweredKernel out;  // sink: the effects of all tile steps. The steps up to loop_nest set the other fields
};

// Throws E-stack if the arrays of the kernel need more stack than a thread may have.
Lowering begin_lowering(Graph& g, const Schedule& s, const Kernel& k, const Facts& facts, const Target& target);

// The steps. Each calls the pass of its name.
namespace lowering {
void drop_unit_ranges(Graph& g, Lowering& k);
void gate_extraction(Graph& g, Lowering& k);
void merge_ranges(Graph& g, Lowering& k);     // not for kernels that the program wrote
void serial_atomics(Graph& g, Lowering& k);   // only for kernels that the program wrote
void loop_conditions(Graph& g, Lowering& k);  // only for kernels that the program wrote
void loop_clamps(Graph& g, Lowering& k);      // only for kernels that the program wrote
void forward_stores(Graph& g, Lowering& k);   // only for kernels that the program wrote
void decompose_math(Graph& g, Lowering& k);
void decompose_half(Graph& g, Lowering& k);
void narrow_integers(Graph& g, Lowering& k);
void estimate_work(Graph& g, Lowering& k);
void reduce_lowering(Graph& g, Lowering& k);  // not for kernels that the program wrote
void loop_interiors(Graph& g, Lowering& k);
void scan_lowering(Graph& g, Lowering& k);    // only for kernels with loops, as the program writes them
void fuse_reductions(Graph& g, Lowering& k);  // not for kernels that the program wrote
void workgroup_lanes(Graph& g, Lowering& k);  // only for kernels that the program wrote
void array_values(Graph& g, Lowering& k);     // only for kernels that the program wrote
void loop_lanes(Graph& g, Lowering& k);       // only for kernels that the program wrote
void vectorize_plan(Graph& g, Lowering& k);   // explicit_plan for kernels that the program wrote
void mask_loops(Graph& g, Lowering& k);       // only for kernels that the program wrote
void loop_nest(Graph& g, Lowering& k);
void phase_loops(Graph& g, Lowering& k);  // not for kernels that the program wrote
void share_loads(Graph& g, Lowering& k);
void transpose_loads(Graph& g, Lowering& k);
void near_gathers(Graph& g, Lowering& k);
void interleaved_access(Graph& g, Lowering& k);
void idle_loops(Graph& g, Lowering& k);     // not for kernels that the program wrote
void chain_borders(Graph& g, Lowering& k);  // not for kernels that the program wrote
void narrow_casts(Graph& g, Lowering& k);   // not for kernels that the program wrote
void lane_order(Graph& g, Lowering& k);
void even_lanes(Graph& g, Lowering& k);
void index_dtype(Graph& g, Lowering& k);
}  // namespace lowering

}  // namespace kiln::compiler
