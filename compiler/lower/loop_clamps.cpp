#include "compiler/lower/loop_clamps.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/scopes.h"
#include "compiler/lower/rewrite.h"
#include "compiler/symbolic/prove.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

class Tightened {
 public:
  Tightened(Graph& g, const Facts& facts) : g_(g), facts_(facts), simplify_(g, facts) {}

  Id run(Id sink) {
    add_counters();
    tighten_ranges(sink);
    if (exact_.empty() && depends_.empty()) return sink;
    const Id made = rewrite(g_, sink, [&](Id id, std::span<const Id> x) { return node(id, x); });
    return rewrite(g_, made, [&](Id id, std::span<const Id>) { return rough_.contains(id) ? rough_.at(id) : no_id; });
  }

 private:
  // The symbols of facts: counters of loops around the kernel.
  void add_counters() {
    for (const Id id : g_.reachable(facts_.nonnegative))
      if (g_.op(id) == Op::SYM) depends_.insert(id);
  }

  // RANGEs with the ends of their FORs, outer loops first: a FOR has a greater id than the loops inside it.
  void tighten_ranges(Id sink) {
    const std::vector<Id> nodes = g_.reachable(sink);
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
      if (g_.op(*it) != Op::FOR) continue;
      const LoopParts l = loop_parts(g_, *it);
      const Id range = l.range;
      if (g_.range_kind(range) != RangeKind::loop || l.end == g_.end(range) || !g_.is_index_const(l.begin, 0)) continue;
      const Id end = rewrite(g_, l.end, [&](Id id, std::span<const Id> x) { return node(id, x); });
      const Id exact = g_.range(end, g_.range_number(range), RangeKind::loop);
      exact_[range] = exact;
      rough_[exact] = range;
    }
  }

  Id node(Id id, std::span<const Id> x) {
    if (const auto it = exact_.find(id); it != exact_.end()) return it->second;
    if (g_.op(id) == Op::RANGE || !of_exact(x)) return no_id;
    if (fits_cast(id, x)) return g_.operand(x[0]);
    const Id made = g_.with_src(id, std::vector<Id>(x.begin(), x.end()));
    depends_.insert(made);
    const bool is_index = g_.dtype(id) == DType::index && is_elementwise(g_.op(id)) && g_.op(id) != Op::CAST;
    const bool compares = is_comparison(g_.op(id)) && g_.dtype(x[0]) == DType::index;
    if (!is_index && !compares) return made;
    const Id simple = simplify_(made);
    if (g_.op(simple) != Op::CONST) depends_.insert(simple);
    return simple;
  }

  bool of_exact(std::span<const Id> x) const {
    return std::ranges::any_of(x, [&](Id s) { return rough_.contains(s) || depends_.contains(s); });
  }

  // CAST index of CAST of an index to an integer that can hold it.
  bool fits_cast(Id id, std::span<const Id> x) {
    if (g_.op(id) != Op::CAST || g_.dtype(id) != DType::index || g_.op(x[0]) != Op::CAST) return false;
    const Id index = g_.operand(x[0]);
    if (g_.dtype(index) != DType::index || g_.dtype(x[0]) != DType::i32) return false;
    using Limits = std::numeric_limits<std::int32_t>;
    return prove_le(g_, g_.index(Limits::min()), index, facts_) && prove_le(g_, index, g_.index(Limits::max()), facts_);
  }

  Graph& g_;
  const Facts& facts_;
  Simplifier simplify_;
  std::unordered_map<Id, Id> exact_, rough_;  // RANGE -> RANGE with the end of its FOR, and back
  std::unordered_set<Id> depends_;            // on RANGEs with exact ends, or on counters
};

}  // namespace

Id loop_clamps(Graph& g, Id sink, const Facts& facts) { return Tightened(g, facts).run(sink); }

}  // namespace kiln::compiler
