#include "compiler/lower/whole_workgroups.h"

#include <algorithm>
#include <map>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/state.h"

namespace kiln::compiler {
namespace {

// The ends of loops over work items that are MIN(size, left), by size.
std::map<Id, std::int64_t> partial_ends(const Graph& g, Id sink) {
  std::map<Id, std::int64_t> out;
  for (const Id id : g.reachable(sink)) {
    if (!is_workgroup_loop(g, id)) continue;
    const Id end = loop_parts(g, id).end;
    if (g.op(end) != Op::MIN) continue;
    const auto [a, b] = g.operands<2>(end);
    if (g.is_const(a) || g.is_const(b)) out[end] = g.value(g.is_const(a) ? a : b);
  }
  return out;
}

constexpr std::int64_t most_array_bytes = std::int64_t{1} << 18;  // both versions have arrays of their own on the stack

bool has_small_arrays(const Graph& g, Id sink) {
  std::int64_t left = most_array_bytes;
  for (const Id id : g.reachable(sink)) {
    if (g.op(id) != Op::LOCAL) continue;
    std::int64_t size = bytes(g.dtype(id));
    for (const Id extent : g.src(id).subspan(1)) size = std::min(size * std::min(g.value(extent), left + 1), left + 1);
    left -= size;
    if (left < 0) return false;
  }
  return true;
}

// The RANGEs of the kernel; an axis with one workgroup may have none.
std::vector<Id> axes_of(const Graph& g, Id sink) {
  std::vector<Id> out = g.sources(g.src(sink, 0), 1);
  std::erase_if(out, [&](Id r) { return g.op(r) != Op::RANGE; });
  return out;
}

class Versions {
 public:
  Versions(Graph& g, RangeIds& loops, Id sink, std::map<Id, std::int64_t> ends)
      : g_(g), loops_(loops), ends_(std::move(ends)), effects_(g.sources(sink)) {
    ranges_ = axes_of(g, sink);
    for (const Id effect : effects_) finals_.push_back(g.src(effect, 0));
    for (const Id state : finals_) entries_.push_back(entry_of(memory_of(g, state)));
    states_ = entries_;
  }

  Id run() {
    const Id zero = g_.index(0), one = g_.index(1);
    Id is_whole = one;
    for (const auto& [end, size] : ends_)
      is_whole = index_min(g_, is_whole, index_max(g_, zero, index_add(g_, end, g_.index(1 - size))));
    version(zero, is_whole, true);
    version(is_whole, one, false);
    std::vector<Id> effects;
    for (std::size_t i = 0; i < effects_.size(); ++i) {
      std::vector<Id> src = g_.sources(effects_[i]);
      src[0] = states_[i];
      effects.push_back(g_.with_src(effects_[i], src));
    }
    return g_.make(Op::SINK, DType::none, effects);
  }

 private:
  Id entry_of(Id memory) {
    for (const Id id : g_.reachable(finals_))
      if (g_.op(id) == Op::ENTRY && memory_of(g_, id) == memory) return id;
    return no_id;
  }

  // The body in one loop for each axis of the kernel. The loop over axis 0 runs from its index + begin to its index + end, the
  // others have one iteration. The RANGEs of these loops have the values of the kernel's, so that nothing moves out of them.
  void version(Id begin, Id end, bool whole) {
    std::unordered_map<Id, Id> made;
    std::vector<Id> ranges;
    for (const Id r : ranges_) made[r] = ranges.emplace_back(loops_.range(g_, g_.end(r), RangeKind::loop));
    std::vector<std::vector<Id>> inits{states_};
    for (const Id r : ranges) {
      std::vector<Id> carries;
      for (std::size_t i = 0; i < states_.size(); ++i)
        carries.push_back(g_.make(Op::CARRY, DType::none, {r, inits.back()[i]}, {i}));
      inits.push_back(carries);
    }
    for (std::size_t i = 0; i < states_.size(); ++i) made[entries_[i]] = inits.back()[i];
    const Id finals = g_.make(Op::SINK, DType::none, finals_);
    const Id body = rewrite(g_, finals, [&](Id id, std::span<const Id> x) -> Id {
      if (const auto it = made.find(id); it != made.end()) return it->second;
      if (const auto it = ends_.find(id); whole && it != ends_.end()) return g_.index(it->second);
      if (g_.op(id) == Op::RANGE) return loops_.range(g_, x[0], g_.range_kind(id));
      return no_id;
    });
    std::vector<Id> now = g_.sources(body);
    for (std::size_t k = ranges.size(); k-- > 0;) now = loop(ranges, k, begin, end, inits[k], now);
    states_ = now;
  }

  std::vector<Id> loop(const std::vector<Id>& ranges, std::size_t k, Id begin, Id end, const std::vector<Id>& init,
                       const std::vector<Id>& yield) {
    const Id here = ranges_[k];
    std::vector<Id> src{ranges[k], k == 0 ? index_add(g_, here, begin) : here, index_add(g_, here, k == 0 ? end : g_.index(1))};
    src.insert(src.end(), init.begin(), init.end());
    src.insert(src.end(), yield.begin(), yield.end());
    const Id made = g_.make(Op::FOR, DType::none, src, {std::ssize(init), 1});
    std::vector<Id> out;
    for (std::size_t i = 0; i < init.size(); ++i) out.push_back(g_.make(Op::GET, DType::none, {made}, {i}));
    return out;
  }

  Graph& g_;
  RangeIds& loops_;
  std::map<Id, std::int64_t> ends_;
  std::vector<Id> effects_, ranges_, finals_;
  std::vector<Id> entries_;  // by effect: the state of its memory at entry
  std::vector<Id> states_;   // the same, after the versions so far
};

}  // namespace

Id whole_workgroups(Graph& g, RangeIds& loops, Id sink) {
  std::map<Id, std::int64_t> ends = partial_ends(g, sink);
  return ends.empty() || axes_of(g, sink).empty() || !has_small_arrays(g, sink)
             ? sink
             : Versions(g, loops, sink, std::move(ends)).run();
}

}  // namespace kiln::compiler
