#include "compiler/lower/loop_nest.h"

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

#include "compiler/ir/nth.h"
#include "compiler/ir/power_of_two.h"
#include "compiler/ir/scopes.h"
#include "compiler/lower/access.h"
#include "compiler/lower/active_parts.h"
#include "compiler/lower/clamp_parts.h"
#include "compiler/lower/expand.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/loop_nest_builder.h"
#include "compiler/lower/past_caches.h"
#include "compiler/symbolic/bounds.h"

namespace kiln::compiler {

// Operations of a body of which the scalars of less than one vector are faster than one masked store.
constexpr std::ptrdiff_t most_of_scalars = 8;

LoopNestBuilder::LoopNestBuilder(Graph& g, RangeIds& loops, std::span<const Id> stores, std::span<const LoopPlan> plan,
                                 const Facts& facts, bool outermost, Borders borders, LastVector last)
    : g_(g), loops_(loops), stores_(stores), plan_(plan), facts_(facts), outermost_(outermost), borders_(borders), last_(last) {
  in_memory_ = std::ranges::any_of(plan, [](const LoopPlan& p) { return p.rows || p.chain; });
  for (const LoopPlan& p : plan) {
    if (!p.lanes || p.masked_all || in_memory_ || borders != Borders::split) continue;
    interior_ = find_interior(g, stores, p.range, p.step, facts);
    if (!interior_) continue;
    for (std::vector<Id>* part : all_stores(*interior_)) own_loops(*part, p.range);
  }
}

std::vector<Id> LoopNestBuilder::emit(std::size_t level, const std::vector<Copy>& copies) {
  if (level == plan_.size()) return body(copies);
  if (const std::vector<RangePart> parts = parts_of(level, copies); !parts.empty()) return one_by_one(level, copies, parts);
  if (has_row_versions(level, copies)) return row_versions(level, copies);
  const LoopPlan& p = plan_[level];
  if (p.rows) return rows(level, copies);
  if (p.chain) return chain(level, copies);
  const LoopPart all = bounds(level);
  const Id begin = all.begin, end = all.end;
  if (p.block) return blocks(level, copies, begin, end);
  if (!p.lanes && !p.shares_loads && end != g_.sym("$end") && g_.is_index_const(end, p.step) && g_.is_index_const(begin, 0))
    return emit(level + 1, written_out(p, copies));
  if (p.shares_loads && g_.is_index_const(end, p.step) && g_.is_index_const(begin, 0))
    return emit_rows(level, p.step, copies, begin);
  if (p.step == 1) return {loop(level, copies, begin, end, 1, Iteration::one)};
  if (p.masked_all) return {loop(level, copies, begin, end, p.step, Iteration::masked)};
  if (interior_ && p.lanes) return with_borders(level, copies, begin, end);
  if (is_short_row(level)) return short_row(level, copies);
  std::vector<Id> effects;
  const Id first = is_narrow_ && level + 1 == plan_.size() ? twice_as_many(level, copies, all, effects) : begin;
  const Id whole = p.lanes && all.block_end == no_id ? aligned(level, copies, begin, end, effects) : first;
  const bool always = p.streams == no_id && !is_part_of_chunk(level);
  if (always && whole == first && divides(g_.end(p.range), p.step)) {
    if (p.lanes && first != end && is_one_step(first, end, p.step) && gains_from_constants())
      return emit(level + 1, iterated(p, p.step, copies, first, end, Iteration::whole));
    effects.push_back(loop(level, copies, first, end, p.step, Iteration::whole));
    return effects;
  }
  std::vector<Tail> loops = !always || whole != first ? p.tails
                            : all.block_end == no_id  ? rest_outside_of_blocks(p)
                                                      : constant_rest(p);
  if (all.block_end == no_id && always && waits_in_rest(level, first, end)) {
    balanced_rest(level, copies, first, end, effects);
    return effects;
  }
  const bool is_long_row = rows_ == Rows::long_ones && level + 1 == plan_.size();
  if (is_long_row && last_ == LastVector::shifted) loops = {{p.step, true}};
  loops.insert(loops.begin(), {p.step, false});
  in_parts(level, copies, {whole, all.end, all.block_end, all.ends}, loops, effects);
  return effects;
}

void LoopNestBuilder::own_loops(std::vector<Id>& stores, Id lanes) {
  const std::vector<Id> nodes = g_.reachable(stores), before = g_.reachable(stores_);
  const std::unordered_set<Id> varying = depends_on_range(g_, nodes, lanes);
  std::set<Id> ranges;  // ascending: an end may depend on the loop around it
  for (const Id id : nodes)
    if (g_.op(id) == Op::FOR && !varying.contains(id) && !std::ranges::binary_search(before, id))
      ranges.insert(g_.range_of(id));
  std::unordered_map<Id, Id> fresh;
  for (const Id range : ranges) {
    const Id end = substitute(g_, g_.end(range), fresh);
    fresh[range] = loops_.range(g_, end, g_.range_kind(range));
  }
  if (fresh.empty()) return;
  for (Id& s : stores) s = substitute(g_, s, fresh);
}

std::vector<RangePart> LoopNestBuilder::parts_of(std::size_t level, const std::vector<Copy>& copies) {
  const bool is_simple = part_ == nullptr && copies.size() == 1 && copies[0].mask == no_id;
  const LoopPlan& p = plan_[level];
  if (is_simple && !p.lanes && !p.block && !p.rows && !p.chain && p.step > 1)
    if (std::vector<RangePart> parts = whole_blocks(g_, loops_, stores_, p, facts_); !parts.empty()) {
      for (RangePart& part : parts) own_loops(part.stores, p.range);
      return parts;
    }
  if (is_simple && p.shares_loads && borders_ == Borders::split && !is_chunk(level)) return blocks_of_rows(level);
  if (!is_simple || borders_ != Borders::split || !may_have_parts(g_, stores_, plan_, level)) return {};
  if (cuts_left_ > 0) {
    std::vector<RangePart> active = active_parts(g_, loops_, stores_, p, plan_.subspan(level + 1), copies[0].values, facts_);
    if (!active.empty()) return active;
  }
  if (std::vector<RangePart> parts = clamp_parts(g_, loops_, stores_, p, plan_.subspan(level + 1), copies[0].values, facts_);
      !parts.empty())
    return parts;
  std::vector<RangePart> parts = range_parts(g_, loops_, stores_, p, facts_);
  if (parts.empty() && cuts_left_ > 0) return interior_rows(level);
  return cuts_left_ > 0 || share_nothing(parts) ? parts : std::vector<RangePart>{};
}

bool LoopNestBuilder::share_nothing(std::span<const RangePart> parts) const {
  const auto values = [&](std::span<const Id> stores) {
    return std::ranges::count_if(g_.reachable(stores), [&](Id id) {
      return g_.dtype(id) < DType::index && g_.dtype(id) != DType::boolean && !g_.is_const(id) && g_.op(id) != Op::BUFFER;
    });
  };
  std::ptrdiff_t of_parts = 0;
  for (const RangePart& part : parts) of_parts += values(part.stores);
  return of_parts <= values(stores_);
}

std::vector<Id> LoopNestBuilder::one_by_one(std::size_t level, const std::vector<Copy>& copies,
                                            std::span<const RangePart> parts) {
  std::vector<Id> effects;
  for (const RangePart& part : parts) {
    std::vector<LoopPlan> plan(plan_.begin(), plan_.end());
    plan[level] = part.plan;
    LoopNestBuilder nest(g_, loops_, part.stores, plan, facts_, outermost_, borders_, last_);
    nest.cuts_left_ = part.is_border ? 0 : std::max(cuts_left_ - 1, 0);
    nest.rows_ = rows_ == Rows::short_ones ? rows_ : Rows::any;  // a part of a long row may be short
    nest.chunk_first_ = chunk_first_;
    if (is_chunk(level)) nest.chunk_first_ = chunk_first_ == no_id ? part.first : add_index(g_, chunk_first_, part.first);
    const std::vector<Id> made = nest.emit(level, copies);
    effects.insert(effects.end(), made.begin(), made.end());
  }
  return effects;
}

Id LoopNestBuilder::in_part(Id iteration, Id range) {
  const Id end = g_.end(range), zero = g_.index(0);
  const Id here = index_binary(g_, Op::MAX, sub_index(g_, iteration, chunk_first_), zero);
  return index_binary(g_, Op::MIN, here, end);
}

LoopPart LoopNestBuilder::bounds(std::size_t level) {
  const Id range = plan_[level].range;
  if (rows_ != Rows::any && level + 2 == plan_.size()) return version_;
  if (const auto it = block_of_.find(range); it != block_of_.end()) return it->second;
  if (is_part_of_chunk(level)) {
    const Id begin = in_part(g_.sym("$begin"), range), end = in_part(g_.sym("$end"), range);
    return {begin, end};
  }
  if (is_chunk(level)) return {g_.sym("$begin"), g_.sym("$end")};
  return {g_.index(0), g_.end(range)};
}

Id LoopNestBuilder::end_of_whole(Id begin, Id end, int step, Id load) {
  const Id length = sub_index(g_, end, begin), count = index_binary(g_, Op::FLOORDIV, length, g_.index(step));
  const Id whole = mul_index(g_, count, g_.index(step));
  return add_index(g_, begin,
                   load == no_id ? whole : mul_index(g_, whole, is_beyond_caches(g_, load, plan_.back().range, facts_)));
}

std::vector<Tail> LoopNestBuilder::constant_rest(const LoopPlan& p) const {
  const Id extent = g_.end(p.range);
  return g_.is_const(extent) ? tails_of(p, g_.value(extent) % p.step) : p.tails;
}

std::vector<Tail> LoopNestBuilder::rest_outside_of_blocks(const LoopPlan& p) const {
  const Id extent = g_.end(p.range);
  const int rest = g_.is_const(extent) ? narrow<int>(g_.value(extent) % p.step) : 0;
  if (p.lanes && rest > 0 && rest > p.tails.front().step && p.tails.back().masked && has_loops())
    return {{ceil_power_of_two(rest), true}};
  return constant_rest(p);
}

bool LoopNestBuilder::has_loops() const {
  return std::ranges::any_of(g_.reachable(stores()), [&](Id id) { return g_.op(id) == Op::FOR; });
}

std::vector<Tail> LoopNestBuilder::tails_of(const LoopPlan& p, std::int64_t iterations) {
  const int rest = narrow<int>(iterations);
  if (!p.lanes) return {{rest, false}};
  const int lanes = ceil_power_of_two(rest);
  if (lanes == rest || p.tails.front().masked) return {{lanes, lanes != rest}};
  return p.tails;
}

bool LoopNestBuilder::may_store_twice() const {
  const std::span<const Id> all = stores();
  const auto is_plain = [&](Id s) { return g_.op(s) == Op::STORE && names_memory(g_, s); };
  if (in_memory_ || !std::ranges::all_of(all, is_plain)) return false;
  const std::vector<Id> nodes = g_.reachable(all);
  return std::ranges::none_of(nodes, [&](Id id) {
    const auto is_same = [&](Id s) { return memory_of(g_, g_.state(s)) == memory_of(g_, g_.state(id)); };
    return g_.op(id) == Op::LOAD && std::ranges::any_of(all, is_same);
  });
}

Id LoopNestBuilder::shifted(Id begin, Id end, int step) const {
  if (last_ == LastVector::masked || !g_.is_const(begin) || !g_.is_const(end)) return no_id;
  const std::int64_t first = g_.value(end) - step, least = part_ == nullptr ? 0 : interior_->lo;
  return first >= least && first < g_.value(begin) && may_store_twice() ? g_.index(first) : no_id;
}

void LoopNestBuilder::in_parts(std::size_t level, const std::vector<Copy>& copies, const LoopPart& all,
                               std::span<const Tail> loops, std::vector<Id>& effects) {
  Id begin = all.begin;
  const bool moves = may_move_last(level);
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const auto& [step, masked] = loops[i];
    const Id end = i + 1 == loops.size()    ? all.end
                   : all.block_end == no_id ? end_of_whole(begin, all.end, step, i == 0 ? plan_[level].streams : no_id)
                                            : index_binary(g_, Op::MIN, all.block_end, all.ends[i]);
    if (moves && i == 0) {
      begin = with_last_moved(level, copies, {begin, all.end}, end, step, effects);
      continue;
    }
    const Id earlier = masked && i + 1 == loops.size() && all.block_end == no_id ? shifted(begin, end, step) : no_id;
    const bool is_one_vector = i > 0 && i + 1 == loops.size() && loops[i - 1].step <= step;
    const bool shifts = masked && earlier == no_id && is_one_vector && may_shift(level, all, end);
    if (shifts) begin = shifted_or_empty(level, copies, all, {begin, end}, step, effects);
    if (shifts && rows_ == Rows::long_ones && !interior_) return;
    if (shifts && is_light()) {
      effects.push_back(loop(level, copies, begin, end, 1, Iteration::one));
      return;
    }
    const Iteration iteration = masked && earlier == no_id ? Iteration::masked : step == 1 ? Iteration::one : Iteration::whole;
    const Id first = earlier == no_id ? begin : earlier;
    if (g_.is_const(end) && first == end) continue;
    is_narrow_ = leaves_registers(level, step);
    const bool may_be_once = plan_[level].lanes && iteration != Iteration::one && g_.is_const(g_.end(plan_[level].range));
    if (may_be_once && is_one_step(first, end, step) && gains_from_constants()) {
      const std::vector<Id> once = emit(level + 1, iterated(plan_[level], step, copies, first, end, iteration));
      effects.insert(place(effects, iteration), once.begin(), once.end());
    } else {
      const Id made = loop(level, copies, first, end, step, iteration);
      effects.insert(place(effects, iteration), made);
    }
    is_narrow_ = false;
    begin = moves ? index_binary(g_, Op::MAX, begin, end) : end;
  }
}

std::vector<Id>::iterator LoopNestBuilder::place(std::vector<Id>& effects, Iteration iteration) const {
  return iteration == Iteration::masked && !outermost_ ? effects.begin() : effects.end();
}

bool LoopNestBuilder::is_one_step(Id begin, Id end, int step) const {
  return g_.is_const(begin) && g_.is_const(end) && g_.value(end) - g_.value(begin) <= step;
}

bool LoopNestBuilder::gains_from_constants() const {
  return std::ranges::any_of(g_.reachable(stores()), [&](Id id) {
    const Op op = g_.op(id);
    if (op == Op::FOR || (is_comparison(op) && g_.dtype(g_.src(id, 0)) == DType::index)) return true;
    return (op == Op::FLOORMOD || op == Op::MIN || op == Op::MAX) && g_.dtype(id) == DType::index;
  });
}

bool LoopNestBuilder::may_shift(std::size_t level, const LoopPart& all, Id end) const {
  return last_ == LastVector::shifted && plan_[level].lanes && all.block_end == no_id && !is_chunk(level) &&
         !g_.is_const(end) && may_store_twice();
}

bool LoopNestBuilder::is_light() const {
  const std::vector<Id> nodes = g_.reachable(stores());
  const auto computes = [&](Id id) { return is_elementwise(g_.op(id)) && g_.dtype(id) != DType::index; };
  return std::ranges::none_of(nodes, [&](Id id) { return g_.op(id) == Op::FOR; }) &&
         std::ranges::count_if(nodes, computes) <= most_of_scalars;
}

Id LoopNestBuilder::shifted_or_empty(std::size_t level, const std::vector<Copy>& copies, const LoopPart& all,
                                     const LoopPart& rest, int step, std::vector<Id>& effects) {
  const Id zero = g_.index(0), one = g_.index(1), left = sub_index(g_, rest.end, rest.begin);
  const Id length = sub_index(g_, rest.end, all.begin), most = g_.index(step - 1);
  const Id room = sub_index(g_, length, most);  // positive: the vector fits
  const bool is_known = rows_ == Rows::long_ones && !interior_;
  const Id fits = is_known ? one : index_binary(g_, Op::MIN, index_binary(g_, Op::MAX, room, zero), one);
  const Id count = index_binary(g_, Op::MUL, index_binary(g_, Op::MIN, left, one), fits);
  const Id first = sub_index(g_, rest.end, mul_index(g_, count, g_.index(step)));
  effects.push_back(loop(level, copies, first, rest.end, step, Iteration::whole));
  return add_index(g_, rest.begin, index_binary(g_, Op::MUL, left, count));
}

bool LoopNestBuilder::divides(Id extent, int step) {
  const Congruence c = Bounds(g_, facts_).residue(extent);
  return c.offset % step == 0 && c.stride % step == 0;
}

Id LoopNestBuilder::limit(std::size_t level) const {
  return is_chunk(level) && !is_part_of_chunk(level) ? g_.sym("$end") : g_.end(plan_[level].range);
}

Id LoopNestBuilder::loop(std::size_t level, const std::vector<Copy>& copies, Id begin, Id end, int step, Iteration iteration,
                         Id last) {
  const LoopPlan& p = plan_[level];
  const auto kind = is_chunk(level)                          ? RangeKind::thread
                    : p.lanes && iteration != Iteration::one ? RangeKind::vector
                                                             : RangeKind::loop;
  // All rows of a whole iteration are below the limit, so only the last ones may be at a border.
  const bool is_whole = p.shares_loads && iteration == Iteration::whole && !is_chunk(level);
  const Id all = limit(level), most = is_whole ? sub_index(g_, all, g_.index(step - 1)) : all;
  const Id range = loops_.range(g_, most, kind);
  const Id here = last == no_id ? range : index_binary(g_, Op::MIN, range, last);
  std::vector<Id> s = {range, begin, end};
  std::vector<Id> effects = p.shares_loads ? emit_rows(level, step, copies, range)
                            : iteration == Iteration::one && once(level, copies)
                                ? emit_once(level, copies[0], range)
                                : emit(level + 1, iterated(p, step, copies, here, end, iteration));
  if (iteration == Iteration::past_caches)
    for (Id& effect : effects)
      if (g_.state(effect) == g_.state(stores()[0]) && g_.src(effect).size() == 3) effect = store_past_caches(g_, effect);
  s.insert(s.end(), effects.begin(), effects.end());
  return g_.make(Op::FOR, DType::none, s, std::vector<std::int64_t>{0, step});
}

std::vector<Id> loop_nest(Graph& g, RangeIds& loops, std::span<const Id> stores, std::span<const LoopPlan> plan,
                          const Facts& facts, Borders borders, LastVector last) {
  if (!plan.empty()) return LoopNestBuilder(g, loops, stores, plan, facts, true, borders, last).emit(0, {Copy{}});
  const Id end = g.sym("$end");  // a kernel without ranges has one iteration
  std::vector<Id> s = {loops.range(g, end, RangeKind::thread), g.sym("$begin"), end};
  s.insert(s.end(), stores.begin(), stores.end());
  return {g.make(Op::FOR, DType::none, s, std::vector<std::int64_t>{0, 1})};
}

std::vector<Id> inner_nest(Graph& g, RangeIds& loops, std::span<const Id> stores, std::span<const LoopPlan> plan,
                           const Facts& facts, LastVector last) {
  if (plan.empty()) return {stores.begin(), stores.end()};
  return LoopNestBuilder(g, loops, stores, plan, facts, false, Borders::split, last).emit(0, {Copy{}});
}

}  // namespace kiln::compiler
