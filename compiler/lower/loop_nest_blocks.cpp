// The members of LoopNestBuilder that make loops over blocks of a range, and the rows and columns of a block.
#include <algorithm>
#include <utility>

#include "compiler/ir/nth.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/state.h"
#include "compiler/lower/access.h"
#include "compiler/lower/chain_blocks.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/loop_nest_builder.h"
#include "compiler/lower/memory_accumulators.h"
#include "compiler/lower/row_loops.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t many_rows = 64;                // accumulators in memory take hardly more time than ones in registers
constexpr int fewest_copies = 4, waiting_copies = 8;  // accumulators of one register each that wait for each other

}  // namespace

Id LoopNestBuilder::has_many_rows() const {
  Id most = g_.index(0);
  for (const Id id : g_.reachable(stores_)) {
    if (g_.op(id) != Op::FOR) continue;
    const LoopParts l = loop_parts(g_, id);
    const std::vector<Id> nodes = g_.reachable(std::vector{l.begin, l.end});
    if (std::ranges::any_of(nodes, [&](Id n) { return g_.op(n) == Op::RANGE || g_.op(n) == Op::LOAD; })) return g_.index(1);
    most = index_binary(g_, Op::MAX, most, sub_index(g_, l.end, l.begin));
  }
  const Id blocks = index_binary(g_, Op::FLOORDIV, most, g_.index(many_rows));
  return index_binary(g_, Op::MIN, blocks, g_.index(1));
}

std::vector<Id> LoopNestBuilder::blocks(std::size_t level, const std::vector<Copy>& copies, Id begin, Id end) {
  const Id zero = g_.index(0), one = g_.index(1);
  const bool has_rows = in_memory_ && level + 2 < plan_.size() && plan_[level + 1].rows && plan_[level + 2].lanes;
  const bool is_known = is_row_loops() || level == 0 || !has_rows || g_.is_const(g_.end(plan_[level].range));
  const int fewest = is_row_loops() ? plan_[level + 1].step : is_known ? 0 : 2 * plan_[level + 2].step;
  const Id many = is_known ? zero : has_many_rows();
  if (fewest == 0 || many == one) return {block(level, copies, begin, end)};
  const Id count = sub_index(g_, end, begin), enough = index_binary(g_, Op::FLOORDIV, count, g_.index(fewest));
  const Id columns = index_binary(g_, Op::MAX, index_binary(g_, Op::MIN, enough, one), zero);
  const Id are_enough = many == zero ? columns : index_binary(g_, Op::MAX, columns, many);
  const Id middle = add_index(g_, begin, index_binary(g_, Op::MUL, count, are_enough));
  const Id rows = block(level, copies, begin, middle);
  in_memory_ = false;
  const Id lanes = block(level, copies, middle, end);
  in_memory_ = true;
  return {rows, lanes};
}

Id LoopNestBuilder::block(std::size_t level, const std::vector<Copy>& copies, Id begin, Id end) {
  const LoopPlan& p = plan_[level];
  const LoopPlan& inner = *std::ranges::find(plan_.subspan(level + 1), p.range, &LoopPlan::range);
  const Id most = limit(level);
  const Id range = loops_.range(g_, most, is_chunk(level) ? RangeKind::thread : RangeKind::loop);
  const Id next = add_index(g_, range, g_.index(p.step));
  LoopPart& part = block_of_[p.range] = {range, index_binary(g_, Op::MIN, next, end), next};
  Id at = begin;
  part.ends.push_back(at = end_of_whole(at, end, inner.step));
  std::vector<Tail> tails = constant_rest(inner);
  tails.pop_back();  // the last one takes all that is left
  for (const Tail& t : tails) part.ends.push_back(at = end_of_whole(at, end, t.step));
  std::vector<Id> s = {range, begin, end};
  const std::vector<Id> effects = emit(level + 1, copies);
  s.insert(s.end(), effects.begin(), effects.end());
  block_of_.erase(p.range);
  return g_.make(Op::FOR, DType::none, s, std::vector<std::int64_t>{0, p.step});
}

bool LoopNestBuilder::leaves_registers(std::size_t level, int lanes) const {
  const LoopPlan &p = plan_[level], &copies = plan_.back();
  return last_ == LastVector::shifted && level + 2 == plan_.size() && p.lanes && p.vectors == 1 && 2 * lanes <= p.step &&
         g_.is_const(g_.end(p.range)) && !copies.shares_loads && copies.transposes == no_id && copies.step >= fewest_copies &&
         copies.step < waiting_copies && has_loops();
}

Id LoopNestBuilder::twice_as_many(std::size_t level, const std::vector<Copy>& copies, const LoopPart& all,
                                  std::vector<Id>& effects) {
  const int step = plan_[level].step;
  Id end = end_of_whole(all.begin, all.end, step);
  if (all.block_end != no_id && !all.ends.empty()) end = index_binary(g_, Op::MIN, all.block_end, all.ends[0]);
  end = end_of_whole(all.begin, end, 2 * step);
  effects.push_back(loop(level, copies, all.begin, end, 2 * step, Iteration::whole));
  return end;
}

bool LoopNestBuilder::waits_in_rest(std::size_t level, Id begin, Id end) const {
  const LoopPlan& p = plan_[level];
  if (p.lanes || p.shares_loads || p.transposes != no_id || is_narrow_ || level + 1 != plan_.size()) return false;
  if (p.step < fewest_copies || p.step >= waiting_copies || !g_.is_const(begin) || !g_.is_const(end) || !has_loops())
    return false;
  const std::int64_t n = g_.value(end) - g_.value(begin), rest = n % p.step;
  return n > p.step && rest > 0 && rest < fewest_copies;
}

void LoopNestBuilder::balanced_rest(std::size_t level, const std::vector<Copy>& copies, Id begin, Id end,
                                    std::vector<Id>& effects) {
  const int step = plan_[level].step;
  const std::int64_t last = g_.value(end), both = step + (last - g_.value(begin)) % step, half = (both + 1) / 2;
  const Id middle = g_.index(last - both), next = g_.index(last - both + half);
  if (middle != begin) effects.push_back(loop(level, copies, begin, middle, step, Iteration::whole));
  effects.push_back(loop(level, copies, middle, next, narrow<int>(half), Iteration::whole));
  effects.push_back(loop(level, copies, next, end, narrow<int>(both - half), Iteration::whole));
}

std::vector<Id> LoopNestBuilder::rows(std::size_t level, const std::vector<Copy>& copies) {
  const LoopPlan& block = plan_[level - 1];
  const Id first_column = block_of_.at(block.range).begin;
  const auto made_columns = [&](std::span<const Id> stores) {
    std::vector<Id> made;
    add_inner(level, copies, stores, made);
    return made;
  };
  if (!in_memory_) return emit(level + 1, copies);
  if (is_row_loops()) {
    std::vector<Id> effects = RowLoops(g_, loops_, stores_, block.range, first_column, block.step, made_columns).run();
    for (Id& e : effects) e = substitute(g_, e, copies[0].values);  // bounds may depend on the ranges around
    return effects;
  }
  MemoryAccumulators m(g_, loops_, stores_, block.range, first_column, sub_index(g_, block.range, first_column), block.step);
  std::vector<Id> effects;
  for (const Id reduction : m.reductions()) {
    add_inner(level, copies, m.initial(reduction), effects);
    const auto parts = loop_parts(g_, reduction);
    const Id end = substitute(g_, parts.end, copies[0].values);  // bounds are the same in all copies
    Id begin = substitute(g_, parts.begin, copies[0].values);
    for (const int n : {plan_[level].step, 1}) {
      const Id last = n == 1 ? end : end_of_whole(begin, end, n);
      if (begin == last) continue;
      const Id row = loops_.range(g_, end, RangeKind::loop);
      std::vector<Id> s = {row, begin, last};
      add_inner(level, copies, m.after_rows(reduction, row, n), s);
      effects.push_back(g_.make(Op::FOR, DType::none, s, std::vector<std::int64_t>{0, n}));
      begin = last;
    }
  }
  add_inner(level, copies, m.results(), effects);
  return effects;
}

void LoopNestBuilder::add_inner(std::size_t level, const std::vector<Copy>& copies, std::span<const Id> stores,
                                std::vector<Id>& effects) {
  const std::span<const Id> whole = std::exchange(stores_, stores);
  const std::vector<Id> made = emit(level + 1, copies);
  stores_ = whole;
  effects.insert(effects.end(), made.begin(), made.end());
}

std::vector<Id> LoopNestBuilder::chain(std::size_t level, const std::vector<Copy>& copies) {
  const auto inside = plan_.subspan(level + 1);
  Id first_row = no_id, index = g_.index(0), column = no_id;
  std::int64_t elements = 1, lanes = 0;
  const auto add_axis = [&](Id at, std::int64_t n) {
    index = add_index(g_, mul_index(g_, index, g_.index(n)), at);
    elements *= n;
  };
  for (const LoopPlan& l : plan_.first(level))  // copies around
    if (!l.block && l.step > 1) add_axis(l.range, g_.value(g_.end(l.range)));
  for (const LoopPlan& l : inside) {
    if (l.lanes) column = l.range, lanes = l.step;
    if (l.lanes) continue;
    const auto block = std::ranges::find(plan_.first(level), l.range, &LoopPlan::range);
    if (block != plan_.begin() + narrow<std::ptrdiff_t>(level)) {
      first_row = block_of_.at(l.range).begin;
      add_axis(sub_index(g_, l.range, first_row), block->step);
    } else {
      add_axis(l.range, g_.value(g_.end(l.range)));
    }
  }
  add_axis(column, g_.value(g_.end(column)));
  // A vector behind the last column may be longer than the rest of the array.
  MemoryAccumulators m(g_, loops_, stores_, column, first_row, index, elements + lanes);
  const std::vector<Id> nest = chain_nest(g_, g_.reachable(stores_));
  std::vector<Id> effects;
  add_inner(level, copies, m.initial(nest[0]), effects);
  for (const Id effect : terms(level, copies, m, nest)) effects.push_back(effect);
  add_inner(level, copies, m.results(), effects);
  return effects;
}

std::vector<Id> LoopNestBuilder::terms(std::size_t level, const std::vector<Copy>& copies, MemoryAccumulators& m,
                                       std::span<const Id> nest) {
  std::size_t cut = chain_level(g_, nest, plan_[level].step);
  std::int64_t step = std::max<std::int64_t>(1, plan_[level].step / iterations_of(g_, nest.subspan(cut + 1)));
  if (step == 1 && cut + 1 < nest.size()) step = iterations_of(g_, nest.subspan(++cut, 1));
  const auto range_of = [&](Id loop) { return loops_.range(g_, loop_parts(g_, loop).end, RangeKind::loop); };
  const auto loop_of = [&](Id range, Id begin, Id end, std::int64_t n, std::span<const Id> effects) {
    std::vector<Id> s = {range, begin, end};
    s.insert(s.end(), effects.begin(), effects.end());
    return g_.make(Op::FOR, DType::none, s, std::vector<std::int64_t>{0, n});
  };
  std::vector<Id> outer, effects, body;
  for (const Id loop : nest.first(cut)) outer.push_back(range_of(loop));
  const LoopParts parts = loop_parts(g_, nest[cut]);
  const Id begin = parts.begin, end = parts.end, last = end_of_whole(begin, end, narrow<int>(step));
  if (begin != last) {
    const Id term = range_of(nest[cut]);
    add_inner(level, copies, m.after_terms(nest, outer, term, add_index(g_, term, g_.index(step))), body);
    effects.push_back(loop_of(term, begin, last, step, body));
  }
  if (last != end) add_inner(level, copies, m.after_terms(nest, outer, last, end), effects);
  for (std::size_t i = cut; i-- > 0;) {
    const LoopParts around = loop_parts(g_, nest[i]);
    const Id made = loop_of(outer[i], around.begin, around.end, 1, effects);
    effects = {made};
  }
  return effects;
}

}  // namespace kiln::compiler
