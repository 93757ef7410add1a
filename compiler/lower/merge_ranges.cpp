#include "compiler/lower/merge_ranges.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/lower/drop_unit_ranges.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/rewrite.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

// Index nodes that depend on one of the ranges through index arithmetic.
std::vector<Id> index_users(const Graph& g, Id sink, std::span<const Id> ranges) {
  std::unordered_set<Id> over(ranges.begin(), ranges.end());
  std::vector<Id> out;
  for (const Id id : g.reachable(sink)) {
    if (g.dtype(id) != DType::index || g.op(id) == Op::LOAD || g.op(id) == Op::RANGE) continue;
    if (std::ranges::none_of(g.src(id), [&](Id s) { return over.contains(s); })) continue;
    over.insert(id);
    out.push_back(id);
  }
  return out;
}

// The index values that nodes outside of index arithmetic use: accesses, comparisons and casts.
std::vector<Id> outermost(const Graph& g, Id sink, std::span<const Id> ranges) {
  const std::vector<Id> users = index_users(g, sink, ranges);
  std::unordered_set<Id> candidates(users.begin(), users.end());
  candidates.insert(ranges.begin(), ranges.end());
  std::unordered_set<Id> seen;
  std::vector<Id> out;
  for (const Id id : g.reachable(sink)) {
    const bool inner = g.dtype(id) == DType::index && g.op(id) != Op::LOAD;
    if (inner || g.op(id) == Op::END || g.op(id) == Op::REDUCE) continue;
    for (const Id s : g.src(id))
      if (candidates.contains(s) && seen.insert(s).second) out.push_back(s);
  }
  return out;
}

bool uses(const Graph& g, Id id, Id range) {
  const std::vector<Id> nodes = g.reachable(id);
  return std::ranges::binary_search(nodes, range);
}

// Whether the index only adds `merged` and multiplies it by constants.
bool is_clean(const Graph& g, Id id, Id merged) { return !uses(g, id, merged) || index_stride(g, id, merged).has_value(); }

class Merge {
 public:
  Merge(Graph& g, Id sink, const Facts& facts) : g_(g), facts_(facts), sink_(sink) {
    for (const Id id : g.reachable(sink))
      if (g.op(id) == Op::RANGE) next_id_ = std::max(next_id_, g.range_number(id) + 1);
  }

  Id run(std::size_t fixed) {
    std::vector<Id> ranges = loops_of(g_, sink_);
    for (std::size_t i = ranges.size(); i-- > fixed + 1;)
      if (const Id merged = merge(ranges[i - 1], ranges[i]); merged != no_id) {
        ranges.erase(ranges.begin() + static_cast<std::ptrdiff_t>(i));
        ranges[i - 1] = merged;
      }
    return sink_;
  }

 private:
  Id merge(Id outer, Id inner) {
    const Id extent = g_.end(inner);
    const Id total = mul_index(g_, g_.end(outer), extent);
    const Id merged = g_.range(total, next_id_, RangeKind::loop);
    const Id pair[] = {outer, inner};
    const std::unordered_map<Id, Id> parts = {{outer, g_.make(Op::FLOORDIV, DType::index, {merged, extent})},
                                              {inner, g_.make(Op::FLOORMOD, DType::index, {merged, extent})}};
    Simplifier simplifier(g_, facts_);
    std::unordered_map<Id, Id> replaced;
    for (const Id use : outermost(g_, sink_, pair)) {
      const Id now = simplifier(replace(use, parts));
      if (!is_clean(g_, now, merged)) return no_id;
      replaced[use] = now;
    }
    ++next_id_;
    rebuild(outer, inner, merged, replaced);
    return merged;
  }

  void rebuild(Id outer, Id inner, Id merged, const std::unordered_map<Id, Id>& replaced) {
    std::vector<Id> ends;
    for (const Id end : g_.sources(sink_)) {
      std::vector<Id> s = {g_.store(end)};
      for (const Id r : g_.src(end).subspan(1))
        if (r != inner) s.push_back(r == outer ? merged : r);
      ends.push_back(g_.with_src(end, s));
    }
    sink_ = replace(g_.make(Op::SINK, DType::none, ends), replaced);
  }

  Id replace(Id root, const std::unordered_map<Id, Id>& by) {
    return rewrite(g_, root, [&](Id id, std::span<const Id>) {
      const auto it = by.find(id);
      return it == by.end() ? no_id : it->second;
    });
  }

  Graph& g_;
  const Facts& facts_;
  Id sink_;
  std::int64_t next_id_ = 0;
};

}  // namespace

Id merge_ranges(Graph& g, Id sink, const Facts& facts, std::size_t fixed) { return Merge(g, sink, facts).run(fixed); }

}  // namespace kiln::compiler
