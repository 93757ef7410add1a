#include "compiler/lower/group_lanes.h"

#include <algorithm>
#include <bit>
#include <unordered_set>
#include <vector>

#include "compiler/ir/scopes.h"
#include "compiler/lower/expand.h"
#include "compiler/lower/group_accesses.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/mask_loops.h"
#include "compiler/lower/own_plan.h"

namespace kiln::compiler {
namespace {

constexpr int narrowest_value = 4;  // bytes; indices are at least that wide
constexpr std::int64_t shortest_lanes = 4;

// Inner loops come before those around them.
Id first_group(const Graph& g, Id sink) {
  const Id roots[] = {sink};
  const std::vector<Id> nodes = g.reachable(roots);
  const auto it = std::ranges::find_if(nodes, [&](Id id) { return is_group_loop(g, id); });
  return it == nodes.end() ? no_id : *it;
}

Id loop_of(const Graph& g, Id sink, Id range) {
  const Id roots[] = {sink};
  const std::vector<Id> nodes = g.reachable(roots);
  return *std::ranges::find_if(nodes, [&](Id id) { return g.op(id) == Op::FOR && g.src(id, 0) == range; });
}

int lanes_for(const Graph& g, Id loop, const Target& target) {
  const LoopParts l = loop_parts(g, loop);
  const std::int64_t size = g.arg(g.src(l.range, 0), 0);
  if (size < shortest_lanes) return 1;
  int widest = narrowest_value;  // of what is loaded and stored
  std::unordered_set<Id> inside{l.range};
  for (const Id id : g.reachable(l.yield)) {
    if (!inside.contains(id) && std::ranges::none_of(g.src(id), [&](Id s) { return inside.contains(s); })) continue;
    inside.insert(id);
    if (g.op(id) == Op::FOR && static_cast<RangeKind>(g.arg(g.src(id, 0), 1)) == RangeKind::vector) return 1;
    if (g.op(id) == Op::LOCAL && is_large_array(g, id)) return 1;
    if (g.op(id) == Op::LOAD) widest = std::max(widest, bytes(g.dtype(id)));
    if (g.op(id) == Op::STORE || g.op(id) == Op::ATOMIC) widest = std::max(widest, bytes(g.dtype(g.src(id, 2))));
  }
  return static_cast<int>(
      std::bit_floor(static_cast<std::uint64_t>(std::min<std::int64_t>(size, target.vector_bytes / widest))));
}

class Widening {
 public:
  Widening(Graph& g, LoopIds& loops, Id loop, int lanes, const GroupAccesses& accesses)
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
    for (std::size_t i = 0; i < init.size(); ++i)
      left.push_back(g_.make(Op::GET, DType::none, {whole}, {static_cast<std::int64_t>(i)}));
    return loop(count, end, left, true);
  }

 private:
  Id loop(Id begin, Id end, const std::vector<Id>& init, bool masked) {
    const Id old_range = g_.src(loop_, 0);
    const Id range = loops_.range(g_, g_.src(old_range, 0), RangeKind::vector);
    const std::vector<Id> yields(loop_parts(g_, loop_).yield.begin(), loop_parts(g_, loop_).yield.end());
    Copy copy;
    copy.values[old_range] = ramp(g_, range, 1, lanes_);
    for (const Id id : g_.reachable(yields))
      if (g_.op(id) == Op::CARRY && g_.src(id, 0) == old_range)
        copy.values[id] =
            g_.make(Op::CARRY, DType::none, {range, init[static_cast<std::size_t>(g_.arg(id, 0))]}, {g_.arg(id, 0)});
    add_ramps(range, copy);
    if (masked) copy.mask = lane_mask(g_, range, end, lanes_);
    std::vector<Id> src{range, begin, end};
    src.insert(src.end(), init.begin(), init.end());
    const std::vector<Copy> copies{copy};
    const auto made = expand(g_, loops_, yields, copies, Arrays::shared);
    src.insert(src.end(), made[0].begin(), made[0].end());
    return g_.make(Op::FOR, DType::none, src, std::vector<std::int64_t>{static_cast<std::int64_t>(init.size()), lanes_});
  }

  // The index of the first lane, and the step from lane to lane.
  void add_ramps(Id range, Copy& copy) {
    std::vector<Id> indices;
    for (const auto& [index, stride] : accesses_.strides) indices.push_back(index);
    std::ranges::sort(indices);
    Copy first;
    first.values[g_.src(loop_, 0)] = range;
    const std::vector<Copy> firsts{first};
    const auto made = expand(g_, loops_, indices, firsts, Arrays::shared);
    for (std::size_t i = 0; i < indices.size(); ++i)
      if (g_.op(indices[i]) != Op::RANGE)
        copy.values[indices[i]] = ramp(g_, made[0][i], accesses_.strides.at(indices[i]), lanes_);
  }

  Graph& g_;
  LoopIds& loops_;
  Id loop_;
  int lanes_;
  const GroupAccesses& accesses_;
};

}  // namespace

bool has_groups(const Graph& g, Id sink) { return first_group(g, sink) != no_id; }

Id group_lanes(Graph& g, LoopIds& loops, Id sink, const Facts& facts, const Target& target) {
  const auto replaced = [&](Id old, Id made) {
    return rewrite(g, sink, [&](Id id, std::span<const Id>) { return id == old ? made : no_id; });
  };
  for (Id loop = first_group(g, sink); loop != no_id; loop = first_group(g, sink)) {
    const Id range = g.src(loop, 0);
    const int lanes = lanes_for(g, loop, target);
    GroupAccesses accesses;
    if (lanes > 1) accesses = group_accesses(g, sink, loop, lanes, facts);
    if (accesses.independent) {
      sink = mask_loops(g, loops, sink, range);
      loop = loop_of(g, sink, range);
      sink = replaced(loop, Widening(g, loops, loop, lanes, accesses).run());
    } else {
      sink = replaced(range, loops.range(g, g.src(range, 0), RangeKind::loop));
    }
  }
  return sink;
}

}  // namespace kiln::compiler
