// The members of LoopNestBuilder that make separate loops for the borders and for the interior of a range.
#include <algorithm>
#include <utility>

#include "compiler/ir/nth.h"
#include "compiler/ir/schedule.h"
#include "compiler/ir/state.h"
#include "compiler/lower/access.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/loop_nest_builder.h"
#include "compiler/lower/past_caches.h"
#include "compiler/symbolic/bounds.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

constexpr std::ptrdiff_t most_of_rows = 24;  // operations, loads and stores of a body that each border has again
constexpr std::int64_t widest_border_of_rows = 8;

// Lanes of the vectors with conditions: fewer than in the interior if they cover the border.
int lanes_of_edge(const LoopPlan& p, const Interior& in) {
  const Tail& shorter = p.tails.front();
  return !shorter.masked && shorter.step >= std::max(in.lo, in.cut) ? shorter.step : p.step;
}

}  // namespace

bool LoopNestBuilder::borders_are_lanes(std::size_t level, Id begin, Id end) const {
  const LoopPlan& p = plan_[level];
  const Interior& in = *interior_;
  const bool may_mask = std::ranges::any_of(p.tails, &Tail::masked);
  if (!in.is_known || !in.low.empty() || !may_mask || is_flat(level) || !g_.is_index_const(begin, 0)) return false;
  if (end != g_.end(p.range) || !g_.is_const(end) || std::max(in.lo, in.cut) > p.step) return false;
  const std::int64_t from = in.is_linear ? long_row : 4 * long_row;
  const bool aligns = p.align != 0 && level + 1 == plan_.size() && g_.value(end) >= from * p.step;
  return !aligns && g_.value(end) >= p.step;
}

std::vector<Id> LoopNestBuilder::with_lanes_of_borders(std::size_t level, const std::vector<Copy>& copies) {
  const LoopPlan& p = plan_[level];
  const std::int64_t n = g_.value(g_.end(p.range)), lo = interior_->lo, cut = interior_->cut;
  const int edge = lanes_of_edge(p, *interior_);
  std::vector<Id> effects;
  std::int64_t at = 0;
  const auto whole = [&](std::int64_t end, int step) {
    const std::int64_t begin = std::exchange(at, at + std::max<std::int64_t>(0, end - at) / step * step);
    if (begin == at) return;
    const Id from = g_.index(begin), to = g_.index(at);
    if (at - begin > step) {
      effects.push_back(loop(level, copies, from, to, step, Iteration::whole));
      return;
    }
    const std::vector<Id> once = emit(level + 1, iterated(p, step, copies, from, to, Iteration::whole));  // constant conditions
    effects.insert(effects.end(), once.begin(), once.end());
  };
  if (lo > 0) whole(edge, edge);
  part_ = &interior_->stores;
  whole(n - cut, p.step);
  whole(n - cut, edge);
  if (cut > 0) part_ = nullptr;
  whole(n, edge);
  const Id from = g_.index(at), to = g_.index(n);
  if (at < n) in_parts(level, copies, {from, to}, tails_of(p, n - at), effects);
  part_ = nullptr;
  return effects;
}

std::vector<RangePart> LoopNestBuilder::blocks_of_rows(std::size_t level) {
  const LoopPlan& p = plan_[level];
  const Id extent = g_.end(p.range);
  if (!g_.is_const(extent) || g_.value(extent) <= p.step) return {};
  const std::optional<Interior> rows = find_interior(g_, stores_, p.range, 1, facts_);
  if (!rows || !rows->low.empty() || std::max(rows->lo, rows->cut) > p.step) return {};
  const std::int64_t n = g_.value(extent), first = std::min<std::int64_t>(n, rows->lo > 0 ? p.step : 0),
                     last = std::max(first, first + (n - rows->cut - first) / p.step * p.step);
  std::vector<RangePart> parts;
  const auto add = [&](std::span<const Id> stores, std::int64_t begin, std::int64_t end, int step) {
    RangePart& part = parts.emplace_back();
    part.first = g_.index(begin);
    part.range = loops_.range(g_, g_.index(end - begin), RangeKind::loop);
    part.plan = p;
    part.plan.range = part.range;
    part.plan.step = step;
    const Id row = add_index(g_, part.range, part.first);
    for (const Id store : stores) part.stores.push_back(substitute(g_, store, {{p.range, row}}));
  };
  for (std::int64_t at = 0; at < n;) {
    const bool is_inside = at == first && last > first;
    const std::int64_t end = is_inside ? last : std::min(n, at + p.step);
    add(is_inside ? std::span<const Id>(rows->stores) : stores_, at, end, is_inside ? p.step : narrow<int>(end - at));
    at = end;
  }
  return parts;
}

std::vector<RangePart> LoopNestBuilder::interior_rows(std::size_t level) {
  const LoopPlan& p = plan_[level];
  const bool has_lanes = std::ranges::any_of(plan_.subspan(level + 1), &LoopPlan::lanes);
  const std::vector<Id> nodes = g_.reachable(stores_);
  const auto counts = [&](Id id) {
    const bool computes = is_elementwise(g_.op(id)) && g_.dtype(id) != DType::index && g_.dtype(id) != DType::boolean;
    return computes || g_.op(id) == Op::LOAD || g_.op(id) == Op::STORE;
  };
  if (p.lanes || p.step != 1 || !has_lanes || std::ranges::count_if(nodes, counts) > most_of_rows) return {};
  const std::optional<Interior> rows = find_interior(g_, stores_, p.range, 1, facts_);
  if (!rows || rows->lo + rows->cut == 0 || std::max(rows->lo, rows->cut) > widest_border_of_rows) return {};
  const Id n = g_.end(p.range), low = index_binary(g_, Op::MIN, g_.index(rows->lo), n);
  if (Bounds(g_, facts_)(n).max < 2 * (rows->lo + rows->cut)) return {};  // as the rows of a border that was cut off before
  const Id high = index_binary(g_, Op::MAX, low, sub_index(g_, n, g_.index(rows->cut)));
  Simplifier simplified(g_, facts_);
  std::vector<RangePart> parts;
  const auto add = [&](std::span<const Id> stores, Id first, Id end, bool is_border) {
    const Id extent = simplified(sub_index(g_, end, first));
    if (g_.is_index_const(extent, 0)) return;
    RangePart part{{}, loops_.range(g_, extent, RangeKind::loop), simplified(first), p, is_border};
    part.plan.range = part.range;
    const Id row = add_index(g_, part.range, part.first);
    for (const Id store : stores)
      part.stores.push_back(without_known_gates(g_, simplified(substitute(g_, store, {{p.range, row}}))));
    parts.push_back(std::move(part));
  };
  if (rows->lo > 0) add(rows->low.empty() ? stores_ : std::span<const Id>(rows->low), g_.index(0), low, true);
  add(rows->stores, low, high, false);
  if (rows->cut > 0) add(stores_, high, n, true);
  return parts;
}

bool LoopNestBuilder::ends_are_lanes(std::size_t level, const std::vector<Copy>& copies, Id begin, Id end) const {
  const LoopPlan& p = plan_[level];
  const Interior& in = *interior_;
  const bool may_mask = std::ranges::any_of(p.tails, &Tail::masked);
  if (!in.is_linear || !in.low.empty() || !may_mask || is_flat(level) || !g_.is_index_const(begin, 0)) return false;
  const int lanes = lanes_of_edge(p, in);
  if (end != g_.end(p.range) || g_.is_const(end) || lanes == 1 || std::max(in.lo, in.cut) > lanes) return false;
  return rows_ == Rows::short_ones || p.align == 0 || level + 1 != plan_.size() || copies.size() != 1;
}

std::vector<Id> LoopNestBuilder::with_lanes_at_ends(std::size_t level, const std::vector<Copy>& copies) {
  const LoopPlan& p = plan_[level];
  const Interior& in = *interior_;
  const int lanes = lanes_of_edge(p, in);
  const Id zero = g_.index(0), one = g_.index(1), end = g_.end(p.range), width = g_.index(lanes);
  const Id inner = sub_index(g_, end, g_.index(std::max(in.lo, in.cut)));
  const Id vectors = index_binary(g_, Op::FLOORDIV, inner, width);
  const Id fits = index_binary(g_, Op::MAX, index_binary(g_, Op::MIN, vectors, one), zero);
  const Id first = mul_index(g_, width, fits), room = sub_index(g_, end, add_index(g_, first, g_.index(in.cut)));
  const Id last = add_index(g_, first, index_binary(g_, Op::MUL, room, fits));
  const Id short_end = index_binary(g_, Op::MUL, end, sub_index(g_, one, fits));
  std::vector<Id> effects;
  const auto add = [&](const std::vector<Id>* part, Id from, Id to, int step, Iteration iteration) {
    part_ = part;
    effects.push_back(loop(level, copies, from, to, step, iteration));
    part_ = nullptr;
  };
  add(&in.left, zero, first, lanes, Iteration::whole);
  Id at = first;
  for (const int step : {p.step, lanes}) {
    if (at != first && step == p.step) break;
    const Id whole = end_of_whole(at, last, step);
    add(&in.stores, at, whole, step, Iteration::whole);
    at = whole;
  }
  if (last_ == LastVector::shifted && may_store_twice()) {
    // The last vector covers all iterations behind the interior's vectors, but for some of a border of more than one.
    const Id begin = sub_index(g_, end, width), zero_or_more = index_binary(g_, Op::MAX, sub_index(g_, begin, at), zero);
    const auto once = [&](Id if_positive) {
      return mul_index(g_, index_binary(g_, Op::MUL, index_binary(g_, Op::MIN, if_positive, one), fits), width);
    };
    if (in.cut > 1) add(&in.right, at, add_index(g_, at, once(zero_or_more)), lanes, Iteration::whole);
    add(&in.right, sub_index(g_, end, once(sub_index(g_, end, at))), end, lanes, Iteration::whole);
  } else {
    add(&in.right, index_binary(g_, Op::MAX, at, short_end), end, lanes, Iteration::masked);
  }
  add(nullptr, zero, short_end, lanes, Iteration::masked);
  return effects;
}

std::vector<Id> LoopNestBuilder::with_borders(std::size_t level, const std::vector<Copy>& copies, Id begin, Id end) {
  if (borders_are_lanes(level, begin, end)) return with_lanes_of_borders(level, copies);
  if (ends_are_lanes(level, copies, begin, end)) return with_lanes_at_ends(level, copies);
  const Id lo = g_.index(interior_->lo), extent = g_.end(plan_[level].range);
  const Id first = index_binary(g_, Op::MIN, index_binary(g_, Op::MAX, begin, lo), end);
  const Id last = index_binary(g_, Op::MIN, sub_index(g_, extent, g_.index(interior_->cut)), end);
  const Id zero = g_.index(0);
  const Id count = index_binary(g_, Op::MAX, sub_index(g_, last, first), zero);
  const Id interior_end = add_index(g_, first, count);
  std::vector<Id> effects;
  if (!interior_->low.empty()) {
    part_ = &interior_->low;
    const Id middle = end_of_whole(begin, first, plan_[level].step);
    effects.push_back(loop(level, copies, begin, middle, plan_[level].step, Iteration::whole));
    in_parts(level, copies, {middle, first}, plan_[level].tails, effects);
  } else if (interior_->lo > 0) {
    effects.push_back(loop(level, copies, begin, first, 1, Iteration::one));
  }
  part_ = &interior_->stores;
  if (is_flat(level)) {
    flat(level, copies, first, interior_end, effects);
  } else {
    const Id whole = aligned(level, copies, first, interior_end, effects);
    const Id middle = end_of_whole(whole, interior_end, plan_[level].step);
    effects.push_back(loop(level, copies, whole, middle, plan_[level].step, Iteration::whole));
    in_parts(level, copies, {middle, interior_end}, plan_[level].tails, effects);
  }
  part_ = nullptr;
  if (interior_->cut > 0) effects.push_back(loop(level, copies, interior_end, end, 1, Iteration::one));
  return effects;
}

Id LoopNestBuilder::aligned(std::size_t level, const std::vector<Copy>& copies, Id begin, Id end, std::vector<Id>& effects) {
  const LoopPlan& p = plan_[level];
  const Id extent = g_.end(p.range), store = stores()[0];
  const bool is_long = !g_.is_const(extent) || g_.value(extent) >= std::int64_t{long_row} * p.step;
  if (p.align == 0 || level + 1 != plan_.size() || !is_long || copies.size() != 1 || rows_ == Rows::short_ones) return begin;
  const int size = bytes(g_.dtype(value_of(g_, store))), elements = p.align / size;
  if (elements < 2 || elements > p.step) return begin;
  Copy here = copies[0];
  here.values[p.range] = begin;
  const Id index[] = {index_of(g_, store)};
  const Id first = expand(g_, loops_, index, std::span(&here, 1))[0][0];
  const Id bytes_past = g_.sym(misalignment_of(g_.slot(g_.state(store)))), zero = g_.index(0), one = g_.index(1);
  const Id place = add_index(g_, first, index_binary(g_, Op::FLOORDIV, bytes_past, g_.index(size)));
  const Id back = sub_index(g_, zero, place), length = sub_index(g_, end, begin);
  const Id head = index_binary(g_, Op::FLOORMOD, back, g_.index(elements));
  const Id vectors = index_binary(g_, Op::FLOORDIV, length, g_.index(std::int64_t{long_row} * p.step));
  const Id is_worth = index_binary(g_, Op::MAX, index_binary(g_, Op::MIN, vectors, one), zero);
  const Id whole = add_index(g_, begin, index_binary(g_, Op::MUL, head, is_worth));
  effects.push_back(loop(level, copies, begin, whole, p.step, Iteration::masked));
  // The head aligns the first store. Stores to other rows of the same array may begin anywhere.
  const auto to_same = [&](Id s) { return g_.state(s) == g_.state(store); };
  const bool is_only = std::ranges::count_if(stores(), to_same) == 1;
  const Id past = p.past_caches == 0 || !is_only ? zero : mul_index(g_, is_worth, is_past_caches(g_, plan_, p.past_caches));
  if (g_.is_index_const(past, 0)) return whole;
  const Id length_past = sub_index(g_, end_of_whole(whole, end, p.step), whole);
  const Id behind = add_index(g_, whole, mul_index(g_, length_past, past));
  effects.push_back(loop(level, copies, whole, behind, p.step, Iteration::past_caches));
  return behind;
}

bool LoopNestBuilder::is_flat(std::size_t level) const {
  return level + 2 == plan_.size() && walked_as_one(g_, interior_->stores, plan_[level].range, plan_[level + 1].range);
}

void LoopNestBuilder::flat(std::size_t level, const std::vector<Copy>& copies, Id first, Id last, std::vector<Id>& effects) {
  const Id channels = g_.end(plan_[level + 1].range), limit = mul_index(g_, g_.end(plan_[level].range), channels);
  const Id begin = mul_index(g_, first, channels), end = mul_index(g_, last, channels);
  const int lanes = plan_[level].step;
  const Id middle = end_of_whole(begin, end, lanes);
  const auto part = [&](Id from, Id to, int width) {
    const Id range = loops_.range(g_, limit, width > 1 ? RangeKind::vector : RangeKind::loop);
    std::vector<Copy> iterated = copies;
    for (Copy& c : iterated) {
      c.values[plan_[level].range] = g_.index(0);
      c.values[plan_[level + 1].range] = width > 1 ? ramp(g_, range, 1, width) : range;
    }
    std::vector<Id> s = {range, from, to};
    const std::vector<Id> stores = body(iterated);
    s.insert(s.end(), stores.begin(), stores.end());
    effects.push_back(g_.make(Op::FOR, DType::none, s, std::vector<std::int64_t>{0, width}));
  };
  part(begin, middle, lanes);
  part(middle, end, 1);
}

}  // namespace kiln::compiler
