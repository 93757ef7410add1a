#include "compiler/lower/loop_nest.h"

#include "compiler/lower/expand.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/interior.h"
#include "compiler/symbolic/bounds.h"

namespace kiln::compiler {
namespace {

// How one iteration of a loop runs. whole: `step` iterations of the range, all active. masked: lanes under a mask. one: one
// iteration of the range.
enum class Iteration : std::uint8_t { whole, masked, one };

class Nest {
 public:
  Nest(Graph& g, RangeIds& loops, std::span<const Id> stores, std::span<const LoopPlan> plan, const Facts& facts,
       bool outermost, Borders borders)
      : g_(g), loops_(loops), stores_(stores), plan_(plan), facts_(facts), outermost_(outermost) {
    for (const LoopPlan& p : plan)
      if (p.lanes && !p.masked_all && borders == Borders::split) interior_ = find_interior(g, stores, p.range, p.step, facts);
  }

  // Emits the loop of this level. The recursion is as deep as the kernel's rank.
  std::vector<Id> emit(std::size_t level, const std::vector<Copy>& copies) {
    if (level == plan_.size()) return body(copies);
    const LoopPlan& p = plan_[level];
    const Id extent = g_.src(p.range, 0);
    const Id begin = is_chunk(level) ? g_.sym("$begin") : g_.index(0);
    const Id end = is_chunk(level) ? g_.sym("$end") : extent;
    if (!p.lanes && !is_chunk(level) && g_.is_index_const(extent, p.step)) return emit(level + 1, written_out(p, copies));
    if (p.step == 1) return {loop(level, copies, begin, end, 1, Iteration::one)};
    if (p.masked_all) return {loop(level, copies, begin, end, p.step, Iteration::masked)};
    if (interior_ && p.lanes) return with_borders(level, copies, begin, end);
    const Id step = g_.index(p.step);
    if (divides(extent, p.step)) return {loop(level, copies, begin, end, p.step, Iteration::whole)};
    const Id whole = mul_index(g_, index_binary(g_, Op::FLOORDIV, sub_index(g_, end, begin), step), step);
    const Id middle = add_index(g_, begin, whole);
    return {loop(level, copies, begin, middle, p.step, Iteration::whole), tail(level, copies, middle, end)};
  }

 private:
  bool is_chunk(std::size_t level) const { return outermost_ && level == 0; }

  Id tail(std::size_t level, const std::vector<Copy>& copies, Id begin, Id end) {
    return plan_[level].masked_tail ? loop(level, copies, begin, end, plan_[level].step, Iteration::masked)
                                    : loop(level, copies, begin, end, 1, Iteration::one);
  }

  // Emits the low border, whole vectors in the interior, and the rest.
  std::vector<Id> with_borders(std::size_t level, const std::vector<Copy>& copies, Id begin, Id end) {
    const Id step = g_.index(plan_[level].step), lo = g_.index(interior_->lo), extent = g_.src(plan_[level].range, 0);
    const Id first = index_binary(g_, Op::MIN, is_chunk(level) ? index_binary(g_, Op::MAX, begin, lo) : lo, end);
    const Id last = index_binary(g_, Op::MIN, sub_index(g_, extent, g_.index(interior_->cut)), end);
    const Id zero = g_.index(0);
    const Id count = index_binary(g_, Op::MAX, sub_index(g_, last, first), zero);
    const Id middle = add_index(g_, first, mul_index(g_, index_binary(g_, Op::FLOORDIV, count, step), step));
    std::vector<Id> effects;
    if (interior_->lo > 0) effects.push_back(loop(level, copies, begin, first, 1, Iteration::one));
    const bool one = is_flat(level);
    in_interior_ = true;
    if (one)
      flat(level, copies, first, add_index(g_, first, count), effects);
    else
      effects.push_back(loop(level, copies, first, middle, plan_[level].step, Iteration::whole));
    in_interior_ = false;
    effects.push_back(tail(level, copies, one ? add_index(g_, first, count) : middle, end));
    return effects;
  }

  // Whether this range and the short range inside it form one contiguous range of lanes.
  bool is_flat(std::size_t level) const {
    return level + 2 == plan_.size() && walked_as_one(g_, interior_->stores, plan_[level].range, plan_[level + 1].range);
  }

  void flat(std::size_t level, const std::vector<Copy>& copies, Id first, Id last, std::vector<Id>& effects) {
    const Id channels = g_.src(plan_[level + 1].range, 0), limit = mul_index(g_, g_.src(plan_[level].range, 0), channels);
    const Id begin = mul_index(g_, first, channels), end = mul_index(g_, last, channels);
    const int lanes = plan_[level].step;
    const Id step = g_.index(lanes);
    const Id whole = mul_index(g_, index_binary(g_, Op::FLOORDIV, sub_index(g_, end, begin), step), step);
    const Id middle = add_index(g_, begin, whole);
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

  bool divides(Id extent, int step) {
    const Congruence c = Bounds(g_, facts_).residue(extent);
    return c.offset % step == 0 && c.stride % step == 0;
  }

  Id loop(std::size_t level, const std::vector<Copy>& copies, Id begin, Id end, int step, Iteration iteration) {
    const LoopPlan& p = plan_[level];
    const auto kind = is_chunk(level)                          ? RangeKind::thread
                      : p.lanes && iteration != Iteration::one ? RangeKind::vector
                                                               : RangeKind::loop;
    const Id limit = is_chunk(level) ? g_.sym("$end") : g_.src(p.range, 0);  // a tighter bound than the computed end
    const Id range = loops_.range(g_, limit, kind);
    std::vector<Id> s = {range, begin, end};
    const std::vector<Id> effects = emit(level + 1, iterated(p, copies, range, end, iteration));
    s.insert(s.end(), effects.begin(), effects.end());
    return g_.make(Op::FOR, DType::none, s, std::vector<std::int64_t>{0, step});
  }

  // Copies for all iterations of the range, without a loop.
  std::vector<Copy> written_out(const LoopPlan& p, const std::vector<Copy>& copies) {
    return iterated(p, copies, g_.index(0), no_id, Iteration::whole);
  }

  std::vector<Copy> iterated(const LoopPlan& p, const std::vector<Copy>& copies, Id range, Id end, Iteration iteration) {
    std::vector<Copy> out;
    const int unrolled = iteration == Iteration::one || p.lanes ? 1 : p.step;
    for (const Copy& c : copies)
      for (int i = 0; i < unrolled; ++i) {
        Copy& made = out.emplace_back(c);
        const bool lanes = p.lanes && iteration != Iteration::one;
        made.values[p.range] = lanes ? ramp(g_, range, 1, p.step) : add_index(g_, range, g_.index(i));
        if (iteration == Iteration::masked) made.mask = lane_mask(g_, range, end, p.step);
      }
    return out;
  }

  std::vector<Id> body(const std::vector<Copy>& copies) {
    std::vector<Id> effects;
    const std::span<const Id> stores = in_interior_ ? std::span<const Id>(interior_->stores) : stores_;
    for (const std::vector<Id>& c : expand(g_, loops_, stores, copies)) effects.insert(effects.end(), c.begin(), c.end());
    return effects;
  }

  Graph& g_;
  RangeIds& loops_;
  std::span<const Id> stores_;
  std::span<const LoopPlan> plan_;
  const Facts& facts_;
  bool outermost_;                    // whether the first range runs over a chunk
  std::optional<Interior> interior_;  // interior of the range that becomes lanes
  bool in_interior_ = false;          // true while the body of the interior's main loop is built
};

}  // namespace

std::vector<Id> loop_nest(Graph& g, RangeIds& loops, std::span<const Id> stores, std::span<const LoopPlan> plan,
                          const Facts& facts, Borders borders) {
  if (!plan.empty()) return Nest(g, loops, stores, plan, facts, true, borders).emit(0, {Copy{}});
  const Id end = g.sym("$end");  // a kernel without ranges has one iteration
  std::vector<Id> s = {loops.range(g, end, RangeKind::thread), g.sym("$begin"), end};
  s.insert(s.end(), stores.begin(), stores.end());
  return {g.make(Op::FOR, DType::none, s, std::vector<std::int64_t>{0, 1})};
}

std::vector<Id> inner_nest(Graph& g, RangeIds& loops, std::span<const Id> stores, std::span<const LoopPlan> plan,
                           const Facts& facts) {
  if (plan.empty()) return {stores.begin(), stores.end()};
  return Nest(g, loops, stores, plan, facts, false, Borders::split).emit(0, {Copy{}});
}

}  // namespace kiln::compiler
