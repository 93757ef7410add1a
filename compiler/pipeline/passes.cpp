#include "compiler/pipeline/passes.h"

#include <algorithm>

#include "compiler/autodiff/differentiate.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/rangeify/collapse_reductions.h"
#include "compiler/rangeify/fold_stages.h"
#include "compiler/rangeify/graph_cleanup.h"
#include "compiler/rangeify/integer_indices.h"
#include "compiler/rangeify/range_assignment.h"
#include "compiler/rangeify/scalar_kernels.h"
#include "compiler/rangeify/small_vectors.h"
#include "compiler/rangeify/sum_atomics.h"
#include "compiler/schedule/component_versions.h"
#include "compiler/schedule/condition_loops.h"
#include "compiler/schedule/copy_slices.h"
#include "compiler/schedule/dependencies.h"
#include "compiler/schedule/fuse_rows.h"
#include "compiler/schedule/host_loops.h"
#include "compiler/schedule/inline_kernels.h"
#include "compiler/schedule/join_pieces.h"
#include "compiler/schedule/kernel_split.h"
#include "compiler/schedule/memory_plan.h"
#include "compiler/schedule/pack_operands.h"
#include "compiler/schedule/pack_windows.h"
#include "compiler/schedule/pair_products.h"
#include "compiler/schedule/ping_pong.h"
#include "compiler/schedule/product_versions.h"
#include "compiler/schedule/share_kernels.h"
#include "compiler/schedule/sibling_kernels.h"
#include "compiler/schedule/simplify_ranges.h"
#include "compiler/schedule/split_chains.h"
#include "compiler/schedule/split_columns.h"
#include "compiler/schedule/split_ranges.h"
#include "compiler/schedule/split_reduce.h"
#include "compiler/schedule/split_stripes.h"

namespace kiln::compiler {
namespace {

// Alternates fold_stages and collapse_reductions until nothing changes, because each makes work for the other. A value whose
// STAGE has lost an axis may no longer depend on a reduction's range. A value without its loop may be too cheap to store. The
// loop ends, because each round removes a STAGE, an axis or a range.
void fold_stages_to_the_end(Graph& g, Program& p) {
  for (Id before = no_id; before != p.sink;) {
    before = p.sink;
    fold_stages(g, p);
    if (p.sink != before) collapse_reductions(g, p);
  }
}

using enum Takes;
using enum Need;

constexpr Pass table[] = {
    {"differentiate", program, Form::program, required, differentiate},
    {"scalar_kernels", program, Form::program, required, scalar_kernels},
    {"host_loops", schedule, Form::tensors, required, host_loops},
    {"component_versions", schedule, Form::tensors, optional, component_versions},
    {"graph_cleanup", program, Form::tensors, required, graph_cleanup},
    {"small_vectors", program, Form::tensors, optional, small_vectors},
    {"integer_indices", program, Form::tensors, optional, integer_indices},
    {"sum_atomics", program, Form::tensors, optional, sum_atomics},
    {"range_assignment", program, Form::ranges, required, range_assignment},
    {"collapse_reductions", program, Form::ranges, optional, collapse_reductions},
    {"fold_stages", program, Form::ranges, optional, fold_stages_to_the_end},
    {"kernel_split", segment, Form::kernels, required, kernel_split},
    {"pack_windows", segment, Form::kernels, optional, pack_windows},
    {"pair_products", segment, Form::kernels, optional, pair_products},
    {"pack_operands", segment, Form::kernels, optional, pack_operands},
    {"inline_kernels", segment, Form::kernels, optional, inline_kernels},
    {"split_chains", segment, Form::kernels, optional, split_chains},
    {"fuse_rows", segment, Form::kernels, optional, fuse_rows},
    {"simplify_ranges", segment, Form::kernels, optional, simplify_ranges},
    {"split_columns", segment, Form::kernels, optional, split_columns},
    {"split_reduce", segment, Form::kernels, optional, split_reduce},
    {"split_stripes", segment, Form::kernels, optional, split_stripes},
    {"sibling_kernels", segment, Form::kernels, optional, sibling_kernels},
    {"split_ranges", segment, Form::kernels, optional, split_ranges},
    {"join_pieces", segment, Form::kernels, optional, join_pieces},
    {"copy_slices", segment, Form::kernels, optional, copy_slices},
    {"dependencies", schedule, Form::ordered, required, dependencies},
    {"ping_pong", schedule, Form::ordered, optional, ping_pong},
    {"product_versions", schedule, Form::ordered, optional, product_versions},
    {"condition_loops", schedule, Form::ordered, optional, condition_loops},
    {"memory_plan", schedule, Form::planned, required, memory_plan},
    {"share_kernels", schedule, Form::planned, optional, share_kernels},
    {"drop_unit_ranges", kernel, Form::lowering, optional, lowering::drop_unit_ranges},
    {"gate_extraction", kernel, Form::lowering, required, lowering::gate_extraction},
    {"merge_ranges", plain_kernel, Form::lowering, optional, lowering::merge_ranges},
    {"serial_atomics", explicit_kernel, Form::lowering, required, lowering::serial_atomics},
    {"loop_conditions", explicit_kernel, Form::lowering, optional, lowering::loop_conditions},
    {"loop_clamps", explicit_kernel, Form::lowering, optional, lowering::loop_clamps},
    {"forward_stores", explicit_kernel, Form::lowering, optional, lowering::forward_stores},
    {"decompose_math", kernel, Form::lowering, required, lowering::decompose_math},
    {"decompose_half", kernel, Form::lowering, required, lowering::decompose_half},
    {"narrow_integers", kernel, Form::lowering, optional, lowering::narrow_integers},
    {"estimate_work", kernel, Form::lowering, required, lowering::estimate_work},
    {"reduce_lowering", kernel, Form::lowering, required, lowering::reduce_lowering},
    {"fuse_reductions", plain_kernel, Form::lowering, optional, lowering::fuse_reductions},
    {"loop_interiors", kernel, Form::lowering, optional, lowering::loop_interiors},
    {"scan_lowering", explicit_kernel, Form::lowering, required, lowering::scan_lowering},
    {"workgroup_lanes", explicit_kernel, Form::lowering, optional, lowering::workgroup_lanes},
    {"array_values", explicit_kernel, Form::lowering, optional, lowering::array_values},
    {"loop_lanes", explicit_kernel, Form::lowering, optional, lowering::loop_lanes},
    {"vectorize_plan", kernel, Form::lowering, optional, lowering::vectorize_plan},
    {"mask_loops", explicit_kernel, Form::lowering, required, lowering::mask_loops},
    {"loop_nest", kernel, Form::lowering, required, lowering::loop_nest},
    {"phase_loops", plain_kernel, Form::lowering, optional, lowering::phase_loops},
    {"idle_loops", plain_kernel, Form::lowering, optional, lowering::idle_loops},
    {"chain_borders", plain_kernel, Form::lowering, optional, lowering::chain_borders},
    {"share_loads", kernel, Form::lowering, optional, lowering::share_loads},
    {"transpose_loads", kernel, Form::lowering, optional, lowering::transpose_loads},
    {"near_gathers", kernel, Form::lowering, optional, lowering::near_gathers},
    {"interleaved_access", kernel, Form::lowering, optional, lowering::interleaved_access},
    {"narrow_casts", plain_kernel, Form::lowering, optional, lowering::narrow_casts},
    {"lane_order", kernel, Form::lowering, optional, lowering::lane_order},
    {"even_lanes", kernel, Form::lowering, optional, lowering::even_lanes},
    {"index_dtype", kernel, Form::lowered, required, lowering::index_dtype},
};

}  // namespace

std::span<const Pass> passes() { return table; }

std::vector<std::string_view> pass_names() {
  std::vector<std::string_view> names;
  for (const Pass& p : table) names.push_back(p.name);
  return names;
}

const Pass& pass_named(std::string_view name) {
  const Pass* at = std::ranges::find(table, name, &Pass::name);
  if (at == std::end(table))
    throw Diagnostic("E-pass", "", "expected a pass that `kiln-opt passes` lists, got '" + std::string(name) + "'");
  return *at;
}

std::string_view last_pass(Form form) {
  std::string_view last;
  for (const Pass& p : table)
    if (p.leaves == form) last = p.name;
  return last;
}

Form form_after(std::string_view pass) { return pass.empty() ? Form::program : pass_named(pass).leaves; }

}  // namespace kiln::compiler
