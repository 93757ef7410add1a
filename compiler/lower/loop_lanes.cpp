#include "compiler/lower/loop_lanes.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/ir/nth.h"
#include "compiler/ir/remark.h"
#include "compiler/ir/scopes.h"
#include "compiler/lower/expand.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/loop_accesses.h"
#include "compiler/lower/loop_copies.h"
#include "compiler/lower/rewrite.h"
#include "compiler/lower/vector_terms.h"
#include "compiler/symbolic/simplify.h"
#include "compiler/target/lane_limits.h"

namespace kiln::compiler {
namespace {

bool is_short(const Graph& g, Id loop) {
  const LoopParts l = loop_parts(g, loop);
  return g.is_const(l.begin) && g.is_const(l.end) && g.value(l.end) - g.value(l.begin) < shortest_lanes;
}

class Widening {
 public:
  Widening(Graph& g, RangeIds& loops, const Facts& facts, Id loop, int lanes, bool has_masks)
      : g_(g), loops_(loops), simplified_(g, facts), loop_(loop), lanes_(lanes), has_masks_(has_masks) {
    const LoopParts l = loop_parts(g, loop);
    states_.assign(l.init.begin(), l.init.end());
    yields_.assign(l.yield.begin(), l.yield.end());
  }

  // The RANGEs of the FORs over single iterations.
  const std::vector<Id>& singles() const { return singles_; }

  // The last one of the FORs that take the place of the loop.
  Id run(const LoopAccesses& accesses) {
    const LoopParts l = loop_parts(g_, loop_);
    const Id begin = l.begin, end = simplified_(index_binary(g_, Op::MAX, l.begin, l.end));
    gates_ = accesses.gates;
    Id vectors_end = end;
    for (const Id c : accesses.gates) vectors_end = g_.make(Op::WHERE, DType::index, {c, vectors_end, begin});
    for (const Id c : accesses.conditions) vectors_end = g_.make(Op::WHERE, DType::index, {c, vectors_end, begin});
    Id at = begin;
    for (const Id last : in_order(accesses.last)) {
      const Id behind = add_index(g_, last, g_.index(1));
      const Id limited = index_binary(g_, Op::MAX, at, index_binary(g_, Op::MIN, behind, vectors_end));
      at = vectors(at, simplified_(limited), no_id);
    }
    vectors(at, vectors_end, end);
    return made_;
  }

 private:
  std::vector<Id> in_order(const std::vector<Id>& places) {
    if (places.size() < 2) return places;
    return {index_binary(g_, Op::MIN, places[0], places[1]), index_binary(g_, Op::MAX, places[0], places[1])};
  }

  // Vectors from `begin` to `end`, which is not before `begin`, and the rest; single iterations up to `behind`, unless it is
  // no_id.
  Id vectors(Id begin, Id end, Id behind) {
    const Id step = g_.index(lanes_);
    const Id count = index_binary(g_, Op::FLOORDIV, sub_index(g_, end, begin), step);
    Id at = simplified_(add_index(g_, begin, mul_index(g_, count, step)));
    loop(begin, at, lanes_, false);
    if (has_masks_ && at != end) loop(std::exchange(at, end), end, lanes_, true);
    const Id last = behind == no_id ? end : behind;
    if (at != last) loop(at, last, 1, false);
    return end;
  }

  void loop(Id begin, Id end, int lanes, bool masked) {
    const Id old_range = g_.range_of(loop_);
    const Id range = loops_.range(g_, g_.end(old_range), lanes > 1 ? RangeKind::vector : RangeKind::loop);
    if (lanes == 1) singles_.push_back(range);
    Copy copy;
    copy.values[old_range] = lanes > 1 ? ramp(g_, range, 1, lanes) : range;
    for (const Id id : g_.reachable(yields_))
      if (g_.op(id) == Op::CARRY && g_.range_of(id) == old_range)
        copy.values[id] = g_.make(Op::CARRY, DType::none, std::vector<Id>{range, nth(states_, g_.slot(id))}, g_.args(id));
    if (lanes > 1)
      for (const Id gate : gates_) copy.values[gate] = g_.constant(DType::boolean, 1);
    if (masked) copy.mask = lane_mask(g_, range, end, lanes);
    const std::vector<Id> next = expand(g_, loops_, yields_, std::span(&copy, 1), Arrays::shared)[0];
    std::vector<Id> src{range, begin, end};
    src.insert(src.end(), states_.begin(), states_.end());
    src.insert(src.end(), next.begin(), next.end());
    made_ = g_.make(Op::FOR, DType::none, src, std::vector<std::int64_t>{std::ssize(states_), lanes});
    states_ = results_of(g_, made_);
  }

  Graph& g_;
  RangeIds& loops_;
  Simplifier simplified_;
  Id loop_, made_ = no_id;
  int lanes_;
  bool has_masks_;
  std::vector<Id> states_, yields_;  // states_: behind the FORs that are made so far
  std::vector<Id> gates_, singles_;
};

Id replaced(Graph& g, Id sink, Id loop, Id made) {
  return rewrite(g, sink, [&](Id id, std::span<const Id>) { return id == loop ? made : no_id; });
}

}  // namespace

LoopsWithLanes loop_lanes(Graph& g, RangeIds& loops, Id sink, const Facts& facts, const Target& target) {
  std::set<Id> seen;  // RANGEs of loops that were looked at
  const auto next = [&] {
    for (const Id id : g.reachable(sink))
      if (g.op(id) == Op::FOR && seen.insert(g.range_of(id)).second) return id;
    return no_id;
  };
  bool some = false;
  for (Id loop = next(); loop != no_id; loop = next()) {
    if (is_short(g, loop)) continue;
    const auto accesses = loop_accesses(g, loop, target.vector_bytes);
    if (!accesses) {
      const LocScope of_loop(g, g.loc(loop));
      const Id made = vector_terms(g, loops, loop, target);
      if (made == no_id) continue;
      seen.insert(g.range_of(made));
      sink = replaced(g, sink, loop, made);
      some = true;
      continue;
    }
    if (!accesses->why.empty()) {
      remark(g, loop, remarks::not_vectorised,
             [&] { return "the iterations of the loop run one after another: " + accesses->why; });
      continue;
    }
    const int lanes = target.vector_bytes / accesses->widest;
    remark(g, loop, remarks::vectorised,
           [&] { return "the loop runs " + std::to_string(lanes) + " iterations at a time, in lanes"; });
    const LocScope of_loop(g, g.loc(loop));
    constexpr int bytes_with_masks = 64;  // of registers: a store under a mask is slow with shorter ones
    Widening widening(g, loops, facts, loop, lanes, target.vector_bytes >= bytes_with_masks);
    const Id made = widening.run(*accesses);
    const std::vector<Id>& singles = widening.singles();
    seen.insert(singles.begin(), singles.end());
    sink = replaced(g, sink, loop, made);
    some = true;
  }
  return {sink, some};
}

}  // namespace kiln::compiler
