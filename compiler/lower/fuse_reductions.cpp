#include "compiler/lower/fuse_reductions.h"

#include <algorithm>
#include <bitset>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/ir/open_ranges.h"
#include "compiler/ir/scopes.h"

namespace kiln::compiler {
namespace {

constexpr std::size_t most_loops = 64;  // in one kernel; a kernel with more loops does not change

using Loops = std::bitset<most_loops>;

// A loop that may be fused.
struct Loop {
  Id node = no_id;
  std::set<std::size_t> slots;  // buffers that it loads from
  std::int64_t bytes = 0;       // of its carried values
  Loops needs;                  // loops whose results it uses
};

class ReductionFuser {
 public:
  ReductionFuser(Graph& g, const Target& target) : g_(g), most_bytes_(target.vector_registers * target.vector_bytes * 3 / 4) {}

  Id run(Id sink) {
    while (const auto pair = find(sink)) sink = fuse(sink, pair->first, pair->second);
    return sink;
  }

 private:
  std::optional<std::pair<Id, Id>> find(Id sink) const {
    const std::vector<Id> nodes = g_.reachable(sink);
    OpenRanges open(g_);
    for (const Id id : nodes) open.visit(id);
    std::vector<Loop> loops;
    for (const Id id : nodes) {
      if (g_.op(id) != Op::FOR || !is_reduction(id)) continue;
      if (loops.size() == most_loops) return std::nullopt;
      loops.push_back(look(id, open));
    }
    if (loops.size() < 2) return std::nullopt;
    list_needs(nodes, loops);
    for (std::size_t b = 1; b < loops.size(); ++b)
      for (std::size_t a = 0; a < b; ++a)
        if (!loops[b].needs[a] && fit(loops[a], loops[b], open)) return std::pair(loops[a].node, loops[b].node);
    return std::nullopt;
  }

  // Whether a FOR has carried values and no condition, and computes some vector. Its effects are STOREs of elements that no
  // reduction of the tile step loads (stores_in_reductions.h).
  bool is_reduction(Id loop) const {
    const LoopParts p = loop_parts(g_, loop);
    if (p.conditional || p.init.empty()) return false;
    return std::ranges::any_of(g_.reachable(p.yield), [&](Id id) { return g_.op(id) == Op::CARRY && g_.lanes(id) > 1; });
  }

  Loop look(Id loop, const OpenRanges& open) const {
    const LoopParts p = loop_parts(g_, loop);
    Loop out{loop, {}, 0, {}};
    for (const Id init : p.init) out.bytes += g_.lanes(init) * bytes(g_.dtype(init));
    for (const Id id : g_.reachable(p.yield))
      if (g_.op(id) == Op::LOAD && std::ranges::binary_search(open.of(id), p.range)) out.slots.insert(g_.slot(g_.state(id)));
    return out;
  }

  void list_needs(const std::vector<Id>& nodes, std::vector<Loop>& loops) const {
    std::vector<Loops> needs(nodes.back() + 1);
    for (const Id id : nodes) {
      for (const Id s : g_.src(id)) needs[id] |= needs[s];
      const auto loop = std::ranges::find(loops, id, &Loop::node);
      if (loop == loops.end()) continue;
      loop->needs = needs[id];
      needs[id].set(static_cast<std::size_t>(loop - loops.begin()));
    }
  }

  bool fit(const Loop& a, const Loop& b, const OpenRanges& open) const {
    const LoopParts p = loop_parts(g_, a.node), q = loop_parts(g_, b.node);
    return std::tuple(p.begin, p.end, p.step) == std::tuple(q.begin, q.end, q.step) && open.of(a.node) == open.of(b.node) &&
           a.bytes + b.bytes <= most_bytes_ && std::ranges::any_of(a.slots, [&](std::size_t s) { return b.slots.contains(s); });
  }

  // Adds the carried values of the loop `b` to the loop `a`.
  Id fuse(Id sink, Id a, Id b) {
    const std::vector<Id> first = g_.sources(a), second = g_.sources(b);
    const std::size_t n = g_.slot(a), m = g_.slot(b);
    std::unordered_map<Id, Id> map{{second[0], first[0]}};
    for (const Id id : g_.reachable(std::span(second).subspan(3 + m)))
      if (g_.op(id) == Op::CARRY && g_.src(id, 0) == second[0])
        map[id] = g_.make(Op::CARRY, g_.dtype(id), {first[0], g_.src(id, 1)}, {n + g_.slot(id)}, {}, g_.lanes(id));
    std::vector<Id> src(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(3 + n));
    src.insert(src.end(), second.begin() + 3, second.begin() + static_cast<std::ptrdiff_t>(3 + m));
    const auto effects = first.begin() + static_cast<std::ptrdiff_t>(3 + 2 * n);
    src.insert(src.end(), first.begin() + static_cast<std::ptrdiff_t>(3 + n), effects);
    for (std::size_t i = 0; i < m; ++i) src.push_back(substitute(g_, second[3 + m + i], map));
    src.insert(src.end(), effects, first.end());
    for (std::size_t i = 3 + 2 * m; i < second.size(); ++i) src.push_back(substitute(g_, second[i], map));
    const Id loop = g_.make(Op::FOR, DType::none, src, {n + m, g_.arg(a, 1)});
    std::unordered_map<Id, Id> results;
    for (const Id id : g_.reachable(sink))
      if (g_.op(id) == Op::GET && (g_.scope(id) == a || g_.scope(id) == b))
        results[id] = g_.make(Op::GET, g_.dtype(id), {loop}, {g_.slot(id) + (g_.scope(id) == b ? n : 0)}, {}, g_.lanes(id));
    return substitute(g_, sink, results);
  }

  Graph& g_;
  const std::int64_t most_bytes_;  // of carried vectors: the other registers are for loads and operands
};

}  // namespace

Id fuse_reductions(Graph& g, Id sink, const Target& target) {
  const LocScope restored(g);
  return ReductionFuser(g, target).run(sink);
}

}  // namespace kiln::compiler
