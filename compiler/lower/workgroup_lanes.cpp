#include "compiler/lower/workgroup_lanes.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>
#include <vector>

#include "compiler/ir/nth.h"
#include "compiler/ir/power_of_two.h"
#include "compiler/ir/remark.h"
#include "compiler/ir/scopes.h"
#include "compiler/lower/access.h"
#include "compiler/lower/expand.h"
#include "compiler/lower/explicit_plan.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/lane_patterns.h"
#include "compiler/lower/mask_loops.h"
#include "compiler/lower/unroll_loop.h"
#include "compiler/lower/whole_workgroups.h"
#include "compiler/lower/workgroup_accesses.h"
#include "compiler/lower/workgroup_bounds.h"
#include "compiler/symbolic/bounds.h"
#include "compiler/target/lane_limits.h"

namespace kiln::compiler {
namespace {

// The first loop over work items; inner loops come before the loops around them.
Id first_workgroup(const Graph& g, Id sink) {
  const std::vector<Id> nodes = g.reachable(sink);
  const auto it = std::ranges::find_if(nodes, [&](Id id) { return is_workgroup_loop(g, id); });
  return it == nodes.end() ? no_id : *it;
}

// The largest possible number of work items.
std::int64_t work_items(Graph& g, Id loop, const Facts& facts) {
  const LoopParts l = loop_parts(g, loop);
  return std::clamp<std::int64_t>(Bounds(g, facts)(l.end).max, 0, g.arg(g.end(l.range), 0));
}

int lanes_for(const Graph& g, Id loop, std::int64_t size, const Target& target) {
  const LoopParts l = loop_parts(g, loop);
  if (size < shortest_lanes || !g.is_index_const(l.begin, 0)) return 1;
  int widest = narrowest_value;  // bytes of the widest value in memory
  std::unordered_set<Id> inside{l.range};
  for (const Id id : g.reachable(l.yield)) {
    if (!inside.contains(id) && std::ranges::none_of(g.src(id), [&](Id s) { return inside.contains(s); })) continue;
    inside.insert(id);
    if (g.op(id) == Op::FOR && g.range_kind(g.range_of(id)) == RangeKind::vector) return 1;
    if (g.op(id) == Op::LOCAL && is_large_array(g, id)) return 1;
    if (g.op(id) == Op::LOAD) widest = std::max(widest, bytes(g.dtype(id)));
    if (g.op(id) == Op::STORE || g.op(id) == Op::ATOMIC) widest = std::max(widest, bytes(g.dtype(value_of(g, id))));
  }
  return narrow<int>(floor_power_of_two(std::min<std::int64_t>(size, target.vector_bytes / widest)));
}

class Widening {
 public:
  Widening(Graph& g, RangeIds& loops, Id loop, int lanes, const WorkgroupAccesses& accesses)
      : g_(g), loops_(loops), loop_(loop), lanes_(lanes), accesses_(accesses) {}

  Id run() {
    const LoopParts l = loop_parts(g_, loop_);
    const Id begin = l.begin, end = l.end;
    const std::vector<Id> init(l.init.begin(), l.init.end());
    const Id step = g_.index(lanes_);
    const Id count = mul_index(g_, index_binary(g_, Op::FLOORDIV, end, step), step);
    const Id whole = loop(begin, count, init, false);
    if (count == end) return whole;
    std::vector<Id> left;
    for (std::int64_t i = 0; i < std::ssize(init); ++i) left.push_back(g_.make(Op::GET, DType::none, {whole}, {i}));
    return loop(count, end, left, true);
  }

 private:
  Id loop(Id begin, Id end, const std::vector<Id>& init, bool masked) {
    const Id old_range = g_.range_of(loop_);
    const Id range = loops_.range(g_, g_.end(old_range), RangeKind::vector);
    const std::vector<Id> yields(loop_parts(g_, loop_).yield.begin(), loop_parts(g_, loop_).yield.end());
    Copy copy;
    copy.values[old_range] = ramp(g_, range, 1, lanes_);
    for (const Id id : g_.reachable(yields))
      if (g_.op(id) == Op::CARRY && g_.range_of(id) == old_range)
        copy.values[id] = g_.make(Op::CARRY, DType::none, std::vector<Id>{range, init[g_.slot(id)]}, g_.args(id));
    const std::map<Id, Id> firsts = first_lanes(range);
    for (const auto& [index, first] : firsts)
      if (g_.op(index) != Op::RANGE && accesses_.strides.contains(index))
        copy.values[index] = ramp(g_, first, accesses_.strides.at(index), lanes_);
    if (masked) copy.mask = lane_mask(g_, range, end, lanes_);
    std::vector<Id> src{range, begin, end};
    src.insert(src.end(), init.begin(), init.end());
    const std::vector<Id> next = masked ? bodies(yields, copy) : patterns(yields, copy, firsts);
    src.insert(src.end(), next.begin(), next.end());
    return g_.make(Op::FOR, DType::none, src, std::vector<std::int64_t>{std::ssize(init), lanes_});
  }

  std::vector<Id> bodies(const std::vector<Id>& roots, const Copy& copy) {
    return expand(g_, loops_, roots, std::span(&copy, 1), Arrays::shared)[0];
  }

  // By index with known lane offsets: the scalar index of lane 0.
  std::map<Id, Id> first_lanes(Id range) {
    std::set<Id> known;
    for (const auto& [index, stride] : accesses_.strides) known.insert(index);
    for (const auto& [index, offsets] : accesses_.patterns) known.insert(index);
    const std::vector<Id> indices(known.begin(), known.end());
    Copy first;
    first.values[g_.range_of(loop_)] = range;
    const std::vector<Id> made = bodies(indices, first);
    std::map<Id, Id> out;
    for (std::size_t i = 0; i < indices.size(); ++i) out[indices[i]] = made[i];
    return out;
  }

  std::vector<Id> patterns(const std::vector<Id>& yields, const Copy& copy, const std::map<Id, Id>& firsts) {
    std::vector<Id> roots = yields;
    for (const auto& [index, first] : firsts)
      if (accesses_.patterns.contains(index)) roots.push_back(index);
    const std::vector<Id> made = bodies(roots, copy);
    std::map<Id, LanePattern> found;
    for (std::size_t i = yields.size(); i < roots.size(); ++i)
      found[made[i]] = {firsts.at(roots[i]), accesses_.patterns.at(roots[i])};
    return lane_patterns(g_, std::span(made).first(yields.size()), found);
  }

  Graph& g_;
  RangeIds& loops_;
  Id loop_;
  int lanes_;
  const WorkgroupAccesses& accesses_;
};

constexpr std::int64_t most_barrier_loops = 16;  // iterations

// Unrolls loops around barriers whose loops over work items all have constant bounds.
Id unroll_barrier_loops(Graph& g, RangeIds& loops, Id sink) {
  const auto is_regular = [&](Id loop) {
    bool around = false;
    const std::vector<Id> nodes = g.reachable(loop_parts(g, loop).yield);
    for (const Id id : depends_on_range(g, nodes, g.range_of(loop))) {
      if (!is_workgroup_loop(g, id)) continue;
      const LoopParts l = loop_parts(g, id);
      around = true;
      if (!g.is_const(l.begin) || !g.is_const(l.end)) return false;
    }
    return around;
  };
  const auto next = [&] {
    const std::vector<Id> nodes = g.reachable(sink);
    const auto it = std::ranges::find_if(nodes, [&](Id id) {
      return g.op(id) == Op::FOR && !is_workgroup_loop(g, id) && has_constant_count(g, id, most_barrier_loops) &&
             is_regular(id);
    });
    return it == nodes.end() ? no_id : *it;
  };
  for (Id loop = next(); loop != no_id; loop = next()) sink = unroll_loop(g, loops, sink, loop);
  return sink;
}

void explain(const Graph& g, Id loop, int lanes, bool independent) {
  if (independent)
    remark(g, loop, remarks::vectorised,
           [&] { return "work items between two barriers run " + std::to_string(lanes) + " at a time, in lanes"; });
  else
    remark(g, loop, remarks::not_vectorised, [&] {
      return lanes > 1 ? "work items between two barriers run one after another: they may use the same elements"
                       : "work items between two barriers run one after another: there are too few for lanes";
    });
}

}  // namespace

bool has_workgroups(const Graph& g, Id sink) { return first_workgroup(g, sink) != no_id; }

Id workgroup_lanes(Graph& g, RangeIds& loops, Id sink, const Facts& facts, const Target& target) {
  const auto replaced = [&](Id old, Id made) {
    return rewrite(g, sink, [&](Id id, std::span<const Id>) { return id == old ? made : no_id; });
  };
  sink = whole_workgroups(g, loops, sink);
  sink = unroll_barrier_loops(g, loops, sink);
  for (Id loop = first_workgroup(g, sink); loop != no_id; loop = first_workgroup(g, sink)) {
    const Id range = g.range_of(loop);
    sink = workgroup_bounds(g, sink, range);
    loop = loop_of(g, sink, range);
    const std::int64_t size = work_items(g, loop, facts);
    const int lanes = lanes_for(g, loop, size, target);
    WorkgroupAccesses accesses;
    if (lanes > 1) accesses = workgroup_accesses(g, sink, loop, lanes, size, facts);
    explain(g, loop, lanes, accesses.independent);
    if (accesses.independent) {
      sink = mask_loops(g, loops, sink, range);
      loop = loop_of(g, sink, range);
      sink = replaced(loop, Widening(g, loops, loop, lanes, accesses).run());
    } else {
      sink = replaced(range, loops.range(g, g.end(range), RangeKind::loop));
    }
  }
  return sink;
}

}  // namespace kiln::compiler
