// The members of LoopNestBuilder for rows whose length only the call knows.
#include <algorithm>
#include <utility>

#include "compiler/ir/nth.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/loop_nest_builder.h"
#include "compiler/target/lane_limits.h"

namespace kiln::compiler {
namespace {

constexpr int fewest_moved = 4;  // copies of a block of rows

}  // namespace

bool LoopNestBuilder::has_row_versions(std::size_t level, const std::vector<Copy>& copies) const {
  if (rows_ != Rows::any || level + 2 != plan_.size() || in_memory_ || copies.size() != 1 || copies[0].mask != no_id)
    return false;
  const LoopPlan& row = plan_.back();
  const LoopPlan& p = plan_[level];
  const bool is_plain = !p.lanes && !p.block && p.transposes == no_id && (p.step == 1 || p.shares_loads);
  if (!is_plain || block_of_.contains(p.range) || !row.lanes || row.align == 0 || row.masked_all || has_loops()) return false;
  const std::vector<Id> length = g_.reachable(g_.end(row.range));
  return !g_.is_const(g_.end(row.range)) &&
         std::ranges::none_of(length, [&](Id id) { return g_.op(id) == Op::RANGE || g_.op(id) == Op::LOAD; });
}

std::vector<Id> LoopNestBuilder::row_versions(std::size_t level, const std::vector<Copy>& copies) {
  const LoopPlan& row = plan_.back();
  const LoopPart all = bounds(level);
  const Id vectors = index_binary(g_, Op::FLOORDIV, g_.end(row.range), g_.index(std::int64_t{long_version} * row.step));
  const Id zero = g_.index(0), one = g_.index(1);
  const Id are_long = index_binary(g_, Op::MAX, index_binary(g_, Op::MIN, vectors, one), zero);
  const Id count = sub_index(g_, all.end, all.begin);
  const Id middle = add_index(g_, all.begin, index_binary(g_, Op::MUL, count, are_long));
  std::vector<Id> effects;
  for (const auto& [rows, part] :
       {std::pair(Rows::long_ones, LoopPart{all.begin, middle}), {Rows::short_ones, {middle, all.end}}}) {
    rows_ = rows;
    version_ = part;
    const std::vector<Id> made = emit(level, copies);
    effects.insert(effects.end(), made.begin(), made.end());
  }
  rows_ = Rows::any;
  return effects;
}

bool LoopNestBuilder::is_short_row(std::size_t level) const {
  if (rows_ != Rows::short_ones || level + 1 != plan_.size() || last_ != LastVector::shifted) return false;
  const Tail& last = plan_[level].tails.back();
  return last.masked && last.step > 1 && may_store_twice();
}

std::vector<Id> LoopNestBuilder::short_row(std::size_t level, const std::vector<Copy>& copies) {
  const LoopPlan& p = plan_[level];
  const int step = p.tails.back().step;
  const Id zero = g_.index(0), one = g_.index(1), end = g_.end(p.range), whole = end_of_whole(zero, end, step);
  const Id vectors = index_binary(g_, Op::FLOORDIV, end, g_.index(step));
  const Id fits = index_binary(g_, Op::MIN, index_binary(g_, Op::MAX, vectors, zero), one);
  const Id left = index_binary(g_, Op::MIN, sub_index(g_, end, whole), one);
  const Id count = index_binary(g_, Op::MUL, left, fits), last = sub_index(g_, end, mul_index(g_, count, g_.index(step)));
  std::vector<Id> effects;
  effects.push_back(loop(level, copies, zero, whole, step, Iteration::whole));
  effects.push_back(loop(level, copies, last, end, step, Iteration::whole));
  // Rows that are shorter than the vector share one test.
  std::vector<Id> s = {loops_.range(g_, one, RangeKind::loop), zero, sub_index(g_, one, fits)};
  const int masked = p.tails.back().step, narrowest = is_light() ? narrow<int>(shortest_lanes) : masked;
  Id begin = zero;
  for (int lanes = step / 2; lanes >= narrowest; lanes /= 2) {
    const Id done = at_both_ends(level, copies, {begin, end}, lanes, no_id, s);
    begin = add_index(g_, begin, index_binary(g_, Op::MUL, sub_index(g_, end, begin), done));
  }
  s.push_back(is_light() ? loop(level, copies, begin, end, 1, Iteration::one)
                         : loop(level, copies, begin, end, masked, Iteration::masked));
  effects.push_back(g_.make(Op::FOR, DType::none, s, std::vector<std::int64_t>{0, 1}));
  return effects;
}

bool LoopNestBuilder::may_move_last(std::size_t level) const {
  const LoopPlan& p = plan_[level];
  const bool is_plain = !p.lanes && !p.shares_loads && p.transposes == no_id && p.streams == no_id;
  return is_plain && p.step >= fewest_moved && p.tails.size() > 1 && !g_.is_const(g_.end(p.range)) && may_store_twice();
}

Id LoopNestBuilder::with_last_moved(std::size_t level, const std::vector<Copy>& copies, const LoopPart& all, Id whole, int step,
                                    std::vector<Id>& effects) {
  const Id zero = g_.index(0), one = g_.index(1), size = g_.index(step), rest = sub_index(g_, all.end, whole);
  const Id enough = index_binary(g_, Op::MAX, sub_index(g_, rest, g_.index(step / 2 - 1)), zero);
  const Id in_blocks = sub_index(g_, whole, all.begin);  // a multiple of the step
  const Id fits = index_binary(g_, Op::MIN, index_binary(g_, Op::MAX, in_blocks, zero), one);
  const Id moved = index_binary(g_, Op::MUL, index_binary(g_, Op::MIN, enough, one), fits);
  const Id end = add_index(g_, whole, mul_index(g_, moved, size)), last = sub_index(g_, all.end, size);
  effects.push_back(loop(level, copies, all.begin, end, step, Iteration::whole, last));
  return add_index(g_, whole, index_binary(g_, Op::MUL, moved, rest));
}

Id LoopNestBuilder::at_both_ends(std::size_t level, const std::vector<Copy>& copies, const LoopPart& all, int lanes, Id between,
                                 std::vector<Id>& effects) {
  const Id length = sub_index(g_, all.end, all.begin), apart = sub_index(g_, length, g_.index(lanes));
  const Id vectors = index_binary(g_, Op::FLOORDIV, length, g_.index(lanes)), zero = g_.index(0), one = g_.index(1);
  const Id fits = index_binary(g_, Op::MAX, index_binary(g_, Op::MIN, vectors, one), zero);
  const auto vector_at = [&](Id place) {
    std::vector<Copy> here = copies;
    for (Copy& c : here) c.values[plan_[level].range] = ramp(g_, add_index(g_, all.begin, place), 1, lanes);
    return emit(level + 1, here);
  };
  const int most = between == no_id ? 2 : 3;
  const Id range = loops_.range(g_, g_.index(most), RangeKind::loop);
  const bool is_short = between == no_id && is_light();
  Id count = g_.index(2);
  if (between != no_id) {
    const Id gap = index_binary(g_, Op::MAX, sub_index(g_, apart, between), zero);
    count = add_index(g_, count, index_binary(g_, Op::MIN, gap, one));
  }
  std::vector<Id> s = {range, zero, is_short ? fits : index_binary(g_, Op::MUL, count, fits)};
  if (is_short) {
    for (const Id place : {zero, apart})
      for (const Id effect : vector_at(place)) s.push_back(effect);
  } else {
    const Id next = index_binary(g_, Op::MUL, range, between == no_id ? apart : between);
    for (const Id effect : vector_at(between == no_id ? next : index_binary(g_, Op::MIN, next, apart))) s.push_back(effect);
  }
  effects.push_back(g_.make(Op::FOR, DType::none, s, std::vector<std::int64_t>{0, 1}));
  return fits;
}

}  // namespace kiln::compiler
