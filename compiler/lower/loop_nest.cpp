#include "compiler/lower/loop_nest.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/ir/nth.h"
#include "compiler/ir/power_of_two.h"
#include "compiler/ir/schedule.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/state.h"
#include "compiler/lower/access.h"
#include "compiler/lower/expand.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/interior.h"
#include "compiler/lower/memory_accumulators.h"
#include "compiler/lower/range_parts.h"
#include "compiler/lower/row_loops.h"
#include "compiler/lower/rows_side_by_side.h"
#include "compiler/lower/transpose_tile.h"
#include "compiler/symbolic/bounds.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

constexpr int long_row = 8;   // vectors
constexpr int most_cuts = 4;  // so that a concatenation of 16 pieces has a loop for each

// How one iteration of a loop runs. whole: `step` iterations of the range, all active. masked: lanes under a mask. one: one
// iteration of the range.
enum class Iteration : std::uint8_t { whole, masked, one };

class Nest {
 public:
  Nest(Graph& g, RangeIds& loops, std::span<const Id> stores, std::span<const LoopPlan> plan, const Facts& facts,
       bool outermost, Borders borders)
      : g_(g), loops_(loops), stores_(stores), plan_(plan), facts_(facts), outermost_(outermost), borders_(borders) {
    in_memory_ = std::ranges::any_of(plan, &LoopPlan::rows);
    for (const LoopPlan& p : plan) {
      if (!p.lanes || p.masked_all || in_memory_ || borders != Borders::split) continue;
      interior_ = find_interior(g, stores, p.range, p.step, facts);
      if (!interior_) continue;
      own_loops(interior_->stores, p.range);
      own_loops(interior_->low, p.range);
    }
  }

  // Emits the loop of this level. The recursion is as deep as the kernel's rank.
  std::vector<Id> emit(std::size_t level, const std::vector<Copy>& copies) {
    if (level == plan_.size()) return body(copies);
    if (const std::vector<RangePart> parts = parts_of(level, copies); !parts.empty()) return one_by_one(level, copies, parts);
    const LoopPlan& p = plan_[level];
    if (p.rows) return rows(level, copies);
    const Part all = bounds(level);
    const Id begin = all.begin, end = all.end;
    if (p.block) return blocks(level, copies, begin, end);
    if (!p.lanes && !p.shares_loads && end != g_.sym("$end") && g_.is_index_const(end, p.step) && g_.is_index_const(begin, 0))
      return emit(level + 1, written_out(p, copies));
    if (p.step == 1) return {loop(level, copies, begin, end, 1, Iteration::one)};
    if (p.masked_all) return {loop(level, copies, begin, end, p.step, Iteration::masked)};
    if (interior_ && p.lanes) return with_borders(level, copies, begin, end);
    std::vector<Id> effects;
    const Id whole = p.lanes && all.block_end == no_id ? aligned(level, copies, begin, end, effects) : begin;
    const bool always = p.streams == no_id && !is_part_of_chunk(level);
    if (always && whole == begin && divides(g_.end(p.range), p.step))
      return {loop(level, copies, begin, end, p.step, Iteration::whole)};
    std::vector<Tail> loops = always && whole == begin ? constant_rest(p) : p.tails;
    loops.insert(loops.begin(), {p.step, false});
    in_parts(level, copies, {whole, all.end, all.block_end, all.ends}, loops, effects);
    return effects;
  }

 private:
  // Iterations of a range. In a block, the loops end at the block's end, or where they end in the whole range.
  struct Part {
    Id begin, end;
    Id block_end = no_id;
    std::vector<Id> ends = {};  // where each loop but the last ends in the whole range
  };

  // Loops that occur only in these stores get new RANGEs, because two loops of one kernel must not share a RANGE. Loops that
  // depend on the range of the lanes get new RANGEs later.
  void own_loops(std::vector<Id>& stores, Id lanes) {
    const std::vector<Id> nodes = g_.reachable(stores), before = g_.reachable(stores_);
    const std::unordered_set<Id> varying = depends_on_range(g_, nodes, lanes);
    std::unordered_map<Id, Id> fresh;
    for (const Id id : nodes) {
      if (g_.op(id) != Op::FOR || varying.contains(id) || std::ranges::binary_search(before, id)) continue;
      const Id range = g_.range_of(id);
      fresh[range] = loops_.range(g_, g_.end(range), g_.range_kind(range));
    }
    if (fresh.empty()) return;
    for (Id& s : stores) s = substitute(g_, s, fresh);
  }

  // The parts of a level's range whose stores differ.
  std::vector<RangePart> parts_of(std::size_t level, const std::vector<Copy>& copies) {
    const bool is_simple = part_ == nullptr && copies.size() == 1 && copies[0].mask == no_id;
    if (!is_simple || borders_ != Borders::split || cuts_left_ == 0 || !may_have_parts(g_, stores_, plan_, level)) return {};
    return range_parts(g_, loops_, stores_, plan_[level].range, plan_[level].step, facts_);
  }

  // Emits the loops of this level for one part after the other.
  std::vector<Id> one_by_one(std::size_t level, const std::vector<Copy>& copies, std::span<const RangePart> parts) {
    std::vector<Id> effects;
    for (const RangePart& part : parts) {
      std::vector<LoopPlan> plan(plan_.begin(), plan_.end());
      plan[level].range = part.range;
      Nest nest(g_, loops_, part.stores, plan, facts_, outermost_, borders_);
      nest.cuts_left_ = cuts_left_ - 1;
      nest.chunk_first_ = chunk_first_;
      if (is_chunk(level)) nest.chunk_first_ = chunk_first_ == no_id ? part.first : add_index(g_, chunk_first_, part.first);
      const std::vector<Id> made = nest.emit(level, copies);
      effects.insert(effects.end(), made.begin(), made.end());
    }
    return effects;
  }

  bool is_chunk(std::size_t level) const { return outermost_ && level == 0; }

  // Whether the range is a part of the range whose iterations the runtime cuts into chunks.
  bool is_part_of_chunk(std::size_t level) const { return is_chunk(level) && chunk_first_ != no_id; }

  // The iteration of a part at which a chunk begins or ends.
  Id in_part(Id iteration, Id range) {
    const Id end = g_.end(range), zero = g_.index(0);
    const Id here = index_binary(g_, Op::MAX, sub_index(g_, iteration, chunk_first_), zero);
    return index_binary(g_, Op::MIN, here, end);
  }

  // The iterations that the loop of a level covers: one block inside a loop over blocks, one chunk at the outermost level, else
  // the whole range.
  Part bounds(std::size_t level) {
    const Id range = plan_[level].range;
    if (const auto it = block_of_.find(range); it != block_of_.end()) return it->second;
    if (is_part_of_chunk(level)) {
      const Id begin = in_part(g_.sym("$begin"), range), end = in_part(g_.sym("$end"), range);
      return {begin, end};
    }
    if (is_chunk(level)) return {g_.sym("$begin"), g_.sym("$end")};
    return {g_.index(0), g_.end(range)};
  }

  // Of a kernel of the program: whether the loops over rows run around those over columns.
  bool is_row_loops() const { return in_memory_ && (g_.op(stores_[0]) != Op::STORE || !names_memory(g_, stores_[0])); }

  // The loops over blocks. If too few columns for loops over rows are left, lanes run through the rows in registers.
  std::vector<Id> blocks(std::size_t level, const std::vector<Copy>& copies, Id begin, Id end) {
    const int fewest = is_row_loops() ? plan_[level + 1].step : 0;
    if (fewest == 0) return {block(level, copies, begin, end)};
    const Id zero = g_.index(0), one = g_.index(1), count = sub_index(g_, end, begin);
    const Id enough = index_binary(g_, Op::FLOORDIV, count, g_.index(fewest));
    const Id are_enough = index_binary(g_, Op::MAX, index_binary(g_, Op::MIN, enough, one), zero);
    const Id middle = add_index(g_, begin, index_binary(g_, Op::MUL, count, are_enough));
    const Id rows = block(level, copies, begin, middle);
    in_memory_ = false;
    const Id lanes = block(level, copies, middle, end);
    in_memory_ = true;
    return {rows, lanes};
  }

  // A loop over blocks of the range, around the loops of the later levels.
  Id block(std::size_t level, const std::vector<Copy>& copies, Id begin, Id end) {
    const LoopPlan& p = plan_[level];
    const LoopPlan& inner = *std::ranges::find(plan_.subspan(level + 1), p.range, &LoopPlan::range);
    const Id most = limit(level);
    const Id range = loops_.range(g_, most, is_chunk(level) ? RangeKind::thread : RangeKind::loop);
    const Id next = add_index(g_, range, g_.index(p.step));
    Part& part = block_of_[p.range] = {range, index_binary(g_, Op::MIN, next, end), next};
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

  // The reductions of a block, row by row, and then the STOREs of their results.
  std::vector<Id> rows(std::size_t level, const std::vector<Copy>& copies) {
    const LoopPlan& block = plan_[level - 1];
    const Id first_column = block_of_.at(block.range).begin;
    const auto made_columns = [&](std::span<const Id> stores) {
      const std::span<const Id> whole = std::exchange(stores_, stores);
      std::vector<Id> made = emit(level + 1, copies);
      stores_ = whole;
      return made;
    };
    if (!in_memory_) return emit(level + 1, copies);
    if (is_row_loops()) return RowLoops(g_, loops_, stores_, block.range, first_column, block.step, made_columns).run();
    MemoryAccumulators m(g_, loops_, stores_, block.range, first_column, block.step);
    std::vector<Id> effects;
    const auto columns = [&](std::span<const Id> stores, std::vector<Id>& out) {
      const std::vector<Id> made = made_columns(stores);
      out.insert(out.end(), made.begin(), made.end());
    };
    for (const Id reduction : m.reductions()) {
      columns(m.initial(reduction), effects);
      const auto parts = loop_parts(g_, reduction);
      const Id end = substitute(g_, parts.end, copies[0].values);  // bounds are the same in all copies
      Id begin = substitute(g_, parts.begin, copies[0].values);
      for (const int n : {plan_[level].step, 1}) {
        const Id last = n == 1 ? end : end_of_whole(begin, end, n);
        if (begin == last) continue;
        const Id row = loops_.range(g_, end, RangeKind::loop);
        std::vector<Id> s = {row, begin, last};
        columns(m.after_rows(reduction, row, n), s);
        effects.push_back(g_.make(Op::FOR, DType::none, s, std::vector<std::int64_t>{0, n}));
        begin = last;
      }
    }
    columns(m.results(), effects);
    return effects;
  }

  // begin + the largest multiple of `step` that fits. Rows of a load: begin if they fit the caches.
  Id end_of_whole(Id begin, Id end, int step, Id load = no_id) {
    const Id length = sub_index(g_, end, begin), count = index_binary(g_, Op::FLOORDIV, length, g_.index(step));
    const Id whole = mul_index(g_, count, g_.index(step));
    return add_index(g_, begin,
                     load == no_id ? whole : mul_index(g_, whole, is_beyond_caches(g_, load, plan_.back().range, facts_)));
  }

  // The loops behind the main loop. Of a constant extent, one iteration takes the rest: chunks and blocks begin at multiples of
  // the step.
  std::vector<Tail> constant_rest(const LoopPlan& p) const {
    const Id extent = g_.end(p.range);
    if (!g_.is_const(extent)) return p.tails;
    const int rest = narrow<int>(g_.value(extent) % p.step);
    if (!p.lanes) return {{rest, false}};
    const int lanes = ceil_power_of_two(rest);
    if (lanes == rest || p.tails.front().masked) return {{lanes, lanes != rest}};
    return p.tails;
  }

  // Emits loops one after the other. The last one takes all that is left.
  void in_parts(std::size_t level, const std::vector<Copy>& copies, const Part& all, std::span<const Tail> loops,
                std::vector<Id>& effects) {
    Id begin = all.begin;
    for (std::size_t i = 0; i < loops.size(); ++i) {
      const auto& [step, masked] = loops[i];
      const Id end = i + 1 == loops.size()    ? all.end
                     : all.block_end == no_id ? end_of_whole(begin, all.end, step, i == 0 ? plan_[level].streams : no_id)
                                              : index_binary(g_, Op::MIN, all.block_end, all.ends[i]);
      const Iteration iteration = masked ? Iteration::masked : step == 1 ? Iteration::one : Iteration::whole;
      effects.push_back(loop(level, copies, begin, end, step, iteration));
      begin = end;
    }
  }

  // Emits the low border, whole vectors in the interior and its rest, and the high border. In long rows whole vectors begin at
  // a multiple of their lanes, behind a masked vector, so that no store touches two cache lines if the rows are aligned.
  std::vector<Id> with_borders(std::size_t level, const std::vector<Copy>& copies, Id begin, Id end) {
    const Id lo = g_.index(interior_->lo), extent = g_.end(plan_[level].range);
    const Id first = index_binary(g_, Op::MIN, is_chunk(level) ? index_binary(g_, Op::MAX, begin, lo) : lo, end);
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

  // Emits a masked vector, behind which the stores of whole vectors are aligned. Returns the first iteration behind it. Large
  // arrays of glibc's malloc begin 16 bytes behind a cache line. Without this vector each store of 64 bytes would touch two
  // lines.
  Id aligned(std::size_t level, const std::vector<Copy>& copies, Id begin, Id end, std::vector<Id>& effects) {
    const LoopPlan& p = plan_[level];
    const Id extent = g_.end(p.range), store = stores()[0];
    const bool is_long = !g_.is_const(extent) || g_.value(extent) >= std::int64_t{long_row} * p.step;
    if (p.align == 0 || level + 1 != plan_.size() || !is_long || copies.size() != 1) return begin;
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
    return whole;
  }

  // Whether this range and the short range inside it form one contiguous range of lanes.
  bool is_flat(std::size_t level) const {
    return level + 2 == plan_.size() && walked_as_one(g_, interior_->stores, plan_[level].range, plan_[level + 1].range);
  }

  void flat(std::size_t level, const std::vector<Copy>& copies, Id first, Id last, std::vector<Id>& effects) {
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

  bool divides(Id extent, int step) {
    const Congruence c = Bounds(g_, facts_).residue(extent);
    return c.offset % step == 0 && c.stride % step == 0;
  }

  // A bound of the level's range: tighter than the computed end of its loop.
  Id limit(std::size_t level) const {
    return is_chunk(level) && !is_part_of_chunk(level) ? g_.sym("$end") : g_.end(plan_[level].range);
  }

  Id loop(std::size_t level, const std::vector<Copy>& copies, Id begin, Id end, int step, Iteration iteration) {
    const LoopPlan& p = plan_[level];
    const auto kind = is_chunk(level)                          ? RangeKind::thread
                      : p.lanes && iteration != Iteration::one ? RangeKind::vector
                                                               : RangeKind::loop;
    const Id most = limit(level), range = loops_.range(g_, most, kind);
    std::vector<Id> s = {range, begin, end};
    const std::vector<Id> effects = p.shares_loads ? emit_rows(level, step, copies, range)
                                    : iteration == Iteration::one && once(level, copies)
                                        ? emit_once(level, copies[0], range)
                                        : emit(level + 1, iterated(p, step, copies, range, end, iteration));
    s.insert(s.end(), effects.begin(), effects.end());
    return g_.make(Op::FOR, DType::none, s, std::vector<std::int64_t>{0, step});
  }

  // Whether loops of a plain kernel have the same results in all iterations of the later ranges. The main loop of a later range
  // and its tails then share these results.
  bool once(std::size_t level, const std::vector<Copy>& copies) const {
    if (part_ != nullptr || in_memory_ || level + 1 == plan_.size() || copies.size() != 1 || copies[0].mask != no_id)
      return false;
    if (!std::ranges::all_of(stores_, [&](Id s) { return g_.op(s) == Op::STORE && names_memory(g_, s); })) return false;
    const std::vector<Id> nodes = g_.reachable(stores_);
    std::unordered_set<Id> later;
    for (const LoopPlan& p : plan_.subspan(level + 1)) later.merge(depends_on_range(g_, nodes, p.range));
    return std::ranges::any_of(nodes, [&](Id id) { return g_.op(id) == Op::FOR && !later.contains(id); });
  }

  // Emits the later levels for one iteration of this level and of those around it.
  std::vector<Id> emit_once(std::size_t level, Copy here, Id range) {
    here.values[plan_[level].range] = range;
    std::vector<Id> roots(stores_.begin(), stores_.end());
    const Interior inside = interior_.value_or(Interior{});
    roots.insert(roots.end(), inside.stores.begin(), inside.stores.end());
    roots.insert(roots.end(), inside.low.begin(), inside.low.end());
    const std::vector<Id> all = expand(g_, loops_, roots, std::span(&here, 1))[0];
    const auto border = all.begin() + std::ssize(stores_), low = border + std::ssize(inside.stores);
    return emit_others(level, {Copy{}}, {all.begin(), border}, {border, low}, {low, all.end()});
  }

  // Emits the later levels with other stores in place of stores_, the interior's and its low border's.
  std::vector<Id> emit_others(std::size_t level, const std::vector<Copy>& copies, const std::vector<Id>& stores,
                              std::vector<Id> inside, std::vector<Id> low) {
    const std::span<const Id> whole = std::exchange(stores_, stores);
    const std::optional<Interior> interior = interior_;
    if (interior_) {
      interior_->stores = std::move(inside);
      interior_->low = std::move(low);
    }
    std::vector<Id> effects = emit(level + 1, copies);
    interior_ = interior;
    stores_ = whole;
    return effects;
  }

  // Emits the later levels for STOREs of `step` iterations. Simplified, equal indices are equal nodes, and so are the loads.
  std::vector<Id> emit_rows(std::size_t level, int step, const std::vector<Copy>& copies, Id range) {
    Simplifier simplify(g_, facts_);
    const auto rows_of = [&](std::span<const Id> stores) {
      std::vector<Id> out;
      for (int i = 0; i < step; ++i) {
        const Id row = add_index(g_, range, g_.index(i));
        for (const Id store : stores) out.push_back(simplify(substitute(g_, store, {{plan_[level].range, row}})));
      }
      return out;
    };
    const Interior inside = interior_.value_or(Interior{});
    const std::vector<Id> rows = rows_of(stores_), inner = rows_of(inside.stores), low = rows_of(inside.low);
    return emit_others(level, copies, rows, inner, low);
  }

  // Copies for all iterations of the range, without a loop.
  std::vector<Copy> written_out(const LoopPlan& p, const std::vector<Copy>& copies) {
    return iterated(p, p.step, copies, g_.index(0), no_id, Iteration::whole);
  }

  std::vector<Copy> iterated(const LoopPlan& p, int step, const std::vector<Copy>& copies, Id range, Id end,
                             Iteration iteration) {
    std::vector<Copy> out;
    const int unrolled = iteration == Iteration::one || p.lanes ? 1 : step;
    for (const Copy& c : copies)
      for (int i = 0; i < unrolled; ++i) {
        Copy& made = out.emplace_back(c);
        const bool lanes = p.lanes && iteration != Iteration::one;
        made.values[p.range] = lanes ? ramp(g_, range, 1, step) : add_index(g_, range, g_.index(i));
        if (iteration == Iteration::masked) made.mask = lane_mask(g_, range, end, step);
      }
    if (p.transposes != no_id) transpose(p, out);
    return out;
  }

  // Loads whole tiles along the copies. In tails there are fewer copies, or a mask is there.
  void transpose(const LoopPlan& p, std::vector<Copy>& copies) {
    const Id lanes = copies[0].values.at(p.transposes);
    const auto columns = static_cast<std::uint64_t>(copies.size());
    if (g_.op(lanes) != Op::RAMP || columns == 1 || !std::has_single_bit(columns) || copies[0].mask != no_id) return;
    if (g_.lanes(lanes) < std::ssize(copies) || !std::has_single_bit(static_cast<std::uint64_t>(g_.lanes(lanes)))) return;
    transpose_tile(g_, loops_, loads_to_transpose(g_, stores(), p.range, p.transposes), p.range, p.transposes, copies);
  }

  std::span<const Id> stores() const { return part_ != nullptr ? std::span<const Id>(*part_) : stores_; }

  std::vector<Id> body(const std::vector<Copy>& copies) {
    std::vector<Id> effects;
    const Arrays arrays = in_memory_ ? Arrays::shared : Arrays::own;
    for (const std::vector<Id>& c : expand(g_, loops_, stores(), copies, arrays))
      effects.insert(effects.end(), c.begin(), c.end());
    return effects;
  }

  Graph& g_;
  RangeIds& loops_;
  std::span<const Id> stores_;
  std::span<const LoopPlan> plan_;
  const Facts& facts_;
  bool outermost_;  // whether the first range runs over a chunk
  Borders borders_;
  int cuts_left_ = most_cuts;              // of a range into parts, inside of each other
  Id chunk_first_ = no_id;                 // of a part of the first range: its first iteration in the whole range
  std::optional<Interior> interior_;       // interior of the range that becomes lanes
  std::unordered_map<Id, Part> block_of_;  // while the loops inside a block are built
  bool in_memory_ = false;                 // whether carried values are in arrays, which all lanes share
  const std::vector<Id>* part_ = nullptr;  // the stores of the interior or its low border, while their loops are built
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
