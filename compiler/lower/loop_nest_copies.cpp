// The members of LoopNestBuilder that copy the stores for the iterations of a range.
#include <algorithm>
#include <bit>
#include <unordered_set>
#include <utility>

#include "compiler/ir/state.h"
#include "compiler/lower/access.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/loop_nest_builder.h"
#include "compiler/lower/transpose_tile.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {

bool LoopNestBuilder::once(std::size_t level, const std::vector<Copy>& copies) const {
  if (part_ != nullptr || in_memory_ || level + 1 == plan_.size() || copies.size() != 1 || copies[0].mask != no_id)
    return false;
  if (!std::ranges::all_of(stores_, [&](Id s) { return g_.op(s) == Op::STORE && names_memory(g_, s); })) return false;
  const std::vector<Id> nodes = g_.reachable(stores_);
  std::unordered_set<Id> later;
  for (const LoopPlan& p : plan_.subspan(level + 1)) later.merge(depends_on_range(g_, nodes, p.range));
  return std::ranges::any_of(nodes, [&](Id id) { return g_.op(id) == Op::FOR && !later.contains(id); });
}

std::vector<Id> LoopNestBuilder::emit_once(std::size_t level, Copy here, Id range) {
  here.values[plan_[level].range] = range;
  std::vector<Id> roots(stores_.begin(), stores_.end());
  Interior inside = interior_.value_or(Interior{});
  for (const std::vector<Id>* part : all_stores(inside)) roots.insert(roots.end(), part->begin(), part->end());
  const std::vector<Id> all = expand(g_, loops_, roots, std::span(&here, 1))[0];
  auto at = all.begin() + std::ssize(stores_);
  const std::vector<Id> border(all.begin(), at);
  for (std::vector<Id>* part : all_stores(inside)) {
    const auto begin = std::exchange(at, at + std::ssize(*part));
    part->assign(begin, at);
  }
  return emit_others(level, {Copy{}}, border, std::move(inside));
}

std::vector<Id> LoopNestBuilder::emit_others(std::size_t level, const std::vector<Copy>& copies, const std::vector<Id>& stores,
                                             Interior inside) {
  const std::span<const Id> whole = std::exchange(stores_, stores);
  const std::optional<Interior> interior = interior_;
  if (interior_) interior_ = std::move(inside);
  std::vector<Id> effects = emit(level + 1, copies);
  interior_ = interior;
  stores_ = whole;
  return effects;
}

std::vector<Id> LoopNestBuilder::emit_rows(std::size_t level, int step, const std::vector<Copy>& copies, Id range) {
  Simplifier simplify(g_, facts_);
  const auto rows_of = [&](std::span<const Id> stores) {
    std::vector<Id> out;
    for (int i = 0; i < step; ++i) {
      const Id row = add_index(g_, range, g_.index(i));
      for (const Id store : stores) out.push_back(simplify(substitute(g_, store, {{plan_[level].range, row}})));
    }
    return out;
  };
  const std::vector<Id> rows = rows_of(stores_);
  Interior inside = interior_.value_or(Interior{});
  for (std::vector<Id>* part : all_stores(inside)) *part = rows_of(*part);
  return emit_others(level, copies, rows, std::move(inside));
}

std::vector<Copy> LoopNestBuilder::written_out(const LoopPlan& p, const std::vector<Copy>& copies) {
  return iterated(p, p.step, copies, g_.index(0), no_id, Iteration::whole);
}

std::vector<Copy> LoopNestBuilder::iterated(const LoopPlan& p, int step, const std::vector<Copy>& copies, Id range, Id end,
                                            Iteration iteration) {
  std::vector<Copy> out;
  const bool lanes = p.lanes && iteration != Iteration::one;
  const int unrolled = iteration == Iteration::one                       ? 1
                       : !p.lanes                                        ? step
                       : iteration == Iteration::whole && step == p.step ? p.vectors
                                                                         : 1;
  for (const Copy& c : copies)
    for (int i = 0; i < unrolled; ++i) {
      Copy& made = out.emplace_back(c);
      const Id first = add_index(g_, range, g_.index(lanes ? i * (step / unrolled) : i));
      made.values[p.range] = lanes ? ramp(g_, first, 1, step / unrolled) : first;
      if (iteration == Iteration::masked) made.mask = lane_mask(g_, range, end, step);
    }
  if (p.transposes != no_id && copies.size() == 1) transpose(p, out);
  return out;
}

void LoopNestBuilder::transpose(const LoopPlan& p, std::vector<Copy>& copies) {
  const Id lanes = copies[0].values.at(p.transposes);
  const auto columns = static_cast<std::uint64_t>(copies.size());
  if (g_.op(lanes) != Op::RAMP || columns == 1 || !std::has_single_bit(columns)) return;
  if (g_.lanes(lanes) < std::ssize(copies) || !std::has_single_bit(static_cast<std::uint64_t>(g_.lanes(lanes)))) return;
  transpose_tile(g_, loops_, loads_to_transpose(g_, stores(), p.range, p.transposes), p.range, p.transposes, copies);
}

std::vector<Id> LoopNestBuilder::body(const std::vector<Copy>& copies) {
  std::vector<Id> effects;
  const Arrays arrays = in_memory_ ? Arrays::shared : Arrays::own;
  for (const std::vector<Id>& c : expand(g_, loops_, stores(), copies, arrays))
    effects.insert(effects.end(), c.begin(), c.end());
  return effects;
}

}  // namespace kiln::compiler
