#include "compiler/lower/reduce_form.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "compiler/lower/access.h"
#include "compiler/lower/expand.h"
#include "compiler/lower/index_vector.h"
#include "compiler/symbolic/bounds.h"
#include "compiler/symbolic/value_bounds.h"
#include "compiler/target/lane_limits.h"
#include "compiler/target/unrollable_loops.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t unrolled_extent = 16;  // for a longer one, a masked vector for each row is faster
// Limits for reductions that are written out. They count all iterations and all registers of a vector, because the copies of
// nested reductions multiply.
constexpr int register_bytes = 32;
constexpr std::int64_t most_unrolled = 1000;       // operations
constexpr std::int64_t most_carried = 16;          // values that inner loops carry: as many as there are registers
constexpr int short_row = 8;                       // elements of a contiguous row whose sum is faster without lanes
constexpr std::int64_t most_of_short_rows = 4000;  // operations of all copies of rows inside rows
constexpr std::int64_t most_of_component = 4;      // places between elements that shuffles bring together
constexpr std::int64_t most_loads_apart = 16;  // loads that are not contiguous over lanes, each about a hundred instructions

// Whether some loop of the kernel may become lanes: not the one over tiles, and none of a single iteration.
bool has_lanes_beside(const Graph& g, const std::vector<Id>& kernel, Id tile) {
  return tile == no_id || std::ranges::any_of(kernel, [&](Id r) { return r != tile && !g.is_index_const(g.end(r), 1); });
}

}  // namespace

std::vector<Id> loops_around(const Graph& g, Id sink) {
  const auto effects = g.src(sink);
  if (effects.empty() || g.op(effects[0]) != Op::END) return {};
  std::vector<Id> ranges = g.sources(effects[0], 1);
  if (!std::ranges::all_of(ranges, [&](Id r) { return g.op(r) == Op::RANGE; })) ranges.clear();
  return ranges;
}

ReduceForm::ReduceForm(Graph& g, const Facts& facts, std::vector<Id> kernel, Id tile)
    : g_(g),
      facts_(facts),
      kernel_(std::move(kernel)),
      in_unrollable_loops_(long_loops(g, kernel_) < kernel_.size()),
      innermost_(kernel_.empty() ? no_id : kernel_.back()),
      most_small_(has_lanes_beside(g, kernel_, tile) ? unrolled_extent : short_row) {}

bool ReduceForm::is_of_magnitudes(const Reduction& r) const {
  return r.kind == ReduceKind::max && is_float(r.acc) && g_.op(r.values[0]) == Op::ABS;
}

bool ReduceForm::is_striped(const Reduction& r) const {
  if (r.ranges.empty()) return false;
  if (r.kind == ReduceKind::fma) return is_far_over_lanes(r) && fit_pairs(r);
  if (r.order_matters() && r.order == ReduceOrder::striped) {
    if (r.ranges.size() != 1) throw std::logic_error("lower: striped REDUCE over several ranges");
    return true;
  }
  if (r.order_matters() || r.ranges.size() != 1 || is_small(r) || loop_has_lanes(r)) return false;
  if ((r.kind == ReduceKind::dot || is_paired(g_, r)) && loads_apart(g_, r.values, r.ranges[0]) > 0) return false;
  // In a kernel without loops no other range has lanes. So values of positions and of components have lanes too.
  const bool has_loops = std::ranges::any_of(kernel_, [&](Id k) { return !g_.is_index_const(g_.end(k), 1); });
  const bool are_near = !has_loops && loads_apart(g_, r.values, r.ranges[0], most_of_component) == 0;
  return (contiguous_over(g_, r.values, r.ranges[0]) || are_near) && !has_vectors_over(g_, r.values, r.ranges[0]);
}

bool ReduceForm::is_small(const Reduction& r) const {
  const Id n = g_.end(r.ranges[0]);
  if (!g_.is_const(n) || g_.value(n) > unrolled_extent) return false;
  return g_.value(n) <= most_small_ || has_vectors_over(g_, r.values, r.ranges[0]);
}

bool ReduceForm::is_written_out(const Reduction& r) const {
  if (r.kind == ReduceKind::fma && (!in_unrollable_loops_ || r.ranges.size() > 1)) return is_window(r);
  return r.ranges.size() == 1 && is_small(r) && is_light(r) && (!is_paired(g_, r) || in_unrollable_loops_);
}

bool ReduceForm::is_window(const Reduction& r) const {
  // Rows of constant number and length run side by side (window_rows.h); other long windows have one range over planes.
  const bool is_plane = r.ranges.size() == 2 && kernel_.size() > 1 &&
                        std::ranges::all_of(std::span(kernel_).last(2), [&](Id loop) { return g_.is_const(g_.end(loop)); });
  const std::int64_t most = is_plane ? most_of_plane_window : most_of_window;
  std::int64_t products = 1;
  for (const Id range : r.ranges) {
    if (!g_.is_const(g_.end(range)) || g_.value(g_.end(range)) > most) return false;
    products *= g_.value(g_.end(range));
  }
  if (products > most || innermost_ == no_id) return false;
  std::vector<Id> vectors;
  for (const Id id : g_.reachable(r.values)) {
    if (g_.op(id) == Op::FOR) return false;
    if (g_.op(id) == Op::LOAD && index_stride(g_, index_of(g_, id), innermost_) != 0) vectors.push_back(index_of(g_, id));
  }
  return std::ranges::all_of(vectors, [&](Id index) {
    const std::vector<Id> below = g_.reachable(index);
    return std::ranges::all_of(kernel_, [&](Id loop) { return std::ranges::binary_search(below, loop); });
  });
}

bool ReduceForm::is_far_over_lanes(const Reduction& r) const {
  if (r.ranges.size() != 1 || is_small(r) || innermost_ == no_id || loads_apart(g_, r.values, innermost_) == 0) return false;
  return contiguous_over(g_, r.values, r.ranges[0]) && !has_vectors_over(g_, r.values, r.ranges[0]);
}

Stripes ReduceForm::stripes_of(const Reduction& r) const {
  const Id range = r.ranges[0];
  if (loop_has_lanes(r)) return walks_again(r) ? Stripes::chains : Stripes::scalars;
  if (has_vectors_over(g_, r.values, range)) return Stripes::element;
  return loads_apart(g_, r.values, range) <= most_loads_apart ? Stripes::vector : Stripes::element;
}

int ReduceForm::most_apart(const Reduction& r, Stripes stripes) const {
  if (innermost_ == no_id) return 0;
  if (stripes == Stripes::scalars || stripes == Stripes::chains) return reduce_stripes;
  return has_short_rows(r, stripes) ? short_row : 0;
}

bool ReduceForm::has_short_rows(const Reduction& r, Stripes stripes) const {
  const std::int64_t operations = operations_of(r);
  if (stripes == Stripes::vector) return operations <= most_of_columns;
  return operations * 2 * short_row <= most_of_short_rows;
}

bool ReduceForm::fit_pairs(const Reduction& r) const {
  const std::vector<Id> x = factors(g_, r);
  if ((r.acc != DType::i32 && r.acc != DType::u32) || x.empty() || loads_apart(g_, x, r.ranges[0]) > 0) return false;
  Bounds indices(g_, facts_);
  ValueBounds bounds(g_, indices);
  return std::ranges::all_of(x, [&](Id v) { return fits_i16(bounds(v)); });
}

bool ReduceForm::loop_has_lanes(const Reduction& r) const {
  if (r.ranges.size() != 1 || innermost_ == no_id || innermost_ == r.ranges[0]) return false;
  const Id columns = g_.end(innermost_);
  if (g_.is_const(columns) && g_.value(columns) < fewest_columns) return false;
  int operations = 0;
  bool apart = false;
  for (const Id id : g_.reachable(r.values)) {
    if (g_.op(id) == Op::FOR || g_.lanes(id) > 1) return false;
    if (is_elementwise(g_.op(id)) && g_.op(id) != Op::CAST && g_.dtype(id) != DType::index) ++operations;
    if (g_.op(id) != Op::LOAD) continue;
    const Id index = index_of(g_, id);
    const auto along = index_stride(g_, index, r.ranges[0]), across = index_stride(g_, index, innermost_);
    if (!across || *across > 1 || *across < 0) return false;
    apart = apart || (*across == 1 && (!along || *along < 0 || *along > 1));
  }
  return apart && (!r.order_matters() || operations <= most_of_columns);
}

bool ReduceForm::walks_again(const Reduction& r) const {
  std::vector<Id> indices;
  for (const Id id : g_.reachable(r.values))
    if (g_.op(id) == Op::LOAD && index_stride(g_, index_of(g_, id), innermost_) != 0) indices.push_back(index_of(g_, id));
  const std::vector<Id> below = g_.reachable(indices);
  const auto repeats = [&](Id loop) { return !std::ranges::binary_search(below, loop); };
  return std::ranges::any_of(kernel_, repeats) || std::ranges::any_of(r.around, repeats);
}

std::int64_t ReduceForm::registers_of(Id id) const { return std::max(1, g_.lanes(id) * bytes(g_.dtype(id)) / register_bytes); }

std::int64_t ReduceForm::operations_of(const Reduction& r) const {
  std::int64_t operations = 0;
  for (const Id id : g_.reachable(r.values))
    if (is_elementwise(g_.op(id)) && g_.dtype(id) != DType::index) operations += registers_of(id);
  return operations;
}

bool ReduceForm::is_light(const Reduction& r) const {
  std::int64_t carried = 0;
  for (const Id id : g_.reachable(r.values))
    if (g_.op(id) == Op::CARRY) carried += registers_of(id);
  const std::int64_t iterations = g_.value(g_.end(r.ranges[0]));
  return operations_of(r) * iterations <= most_unrolled && carried * iterations <= most_carried;
}

bool ReduceForm::finds_in_lanes(const Reduction& r) const {
  if (r.ranges.size() != 1 || r.acc == DType::boolean || loop_has_lanes(r)) return false;
  const Id extent = g_.end(r.ranges[0]);
  if (g_.is_const(extent) && g_.value(extent) < 2 * reduce_stripes) return false;
  const std::vector<Id> nodes = g_.reachable(r.values[0]);
  const bool has_loops = std::ranges::any_of(nodes, [&](Id id) { return g_.op(id) == Op::FOR; });
  return !has_loops && contiguous_over(g_, r.values, r.ranges[0]) && !has_vectors_over(g_, r.values, r.ranges[0]);
}

}  // namespace kiln::compiler
