#include "compiler/schedule/simplify_ranges.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/reduce_identity.h"
#include "compiler/schedule/each_kernel.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/schedule/range_pair.h"

namespace kiln::compiler {
namespace {

class KernelRanges {
 public:
  KernelRanges(Graph& g, Kernel& k, Simplifier& simplify) : g_(g), kernel_(k), simplify_(simplify) {}

  void run(const Facts& facts) {
    use_iterations(facts);
    drop_unit_ranges();
    for (std::size_t i = loop_ranges_of(g_, kernel_).size(); i-- > 1;) {
      const std::vector<Id> loops = loop_ranges_of(g_, kernel_);
      merge(loops[i - 1], loops[i]);
    }
    while (merge_in_reduction() || merge_reductions()) {
    }
    number_ranges(g_, kernel_);
  }

 private:
  std::vector<Id> nodes() const { return g_.reachable(kernel_.sink); }
  Id new_range(Id end, RangeKind kind) { return g_.range(end, fresh_--, kind); }

  // The body of a loop over [0, N) runs only if N >= 1, so a condition 0 < N in it holds. A roll contains such conditions.
  void use_iterations(const Facts& facts) {
    if (!asks_about_extents()) return;
    Facts inside = facts;
    for (const Id r : loop_ranges_of(g_, kernel_))
      assume(g_, inside, g_.make(Op::LT, DType::boolean, {g_.index(0), g_.end(r)}));
    Simplifier simplify(g_, inside);
    std::vector<Id> ends = g_.sources(kernel_.sink);
    for (Id& end : ends) {
      std::vector<Id> src = g_.sources(end);
      src[0] = simplify(src[0]);
      end = g_.with_src(end, src);
    }
    kernel_.sink = g_.with_src(kernel_.sink, ends);
  }
  // Whether a comparison, MIN or MAX of index values depends on no range.
  bool asks_about_extents() const {
    std::unordered_set<Id> varying;
    for (const Id id : nodes()) {
      const auto src = g_.src(id);
      if (g_.op(id) == Op::RANGE || std::ranges::any_of(src, [&](Id s) { return varying.contains(s); }))
        varying.insert(id);
      else if ((is_comparison(g_.op(id)) || g_.op(id) == Op::MIN || g_.op(id) == Op::MAX) && g_.dtype(src[0]) == DType::index)
        return true;
    }
    return false;
  }

  void drop_unit_ranges() {
    const std::vector<Id> loops = loop_ranges_of(g_, kernel_);
    RangeChange change;
    for (const Id r : loops) {
      if (!g_.is_index_const(g_.end(r), 1)) continue;
      change.values[r] = g_.index(0);
      change.loops[r] = {};
    }
    if (!loops.empty() && change.loops.empty()) return;
    const Id one = new_range(g_.index(1), RangeKind::loop);
    if (loops.size() == change.loops.size()) change.outermost = one;  // a kernel keeps one range
    rewrite_kernel(g_, kernel_, change);
  }

  // Merges a and b if that pays for the indices that use them.
  bool merge(Id a, Id b) {
    if (!has_plain_end(a) || !has_plain_end(b)) return false;
    const Id end = index_mul(g_, g_.end(a), g_.end(b));
    const Id merged = new_range(end, g_.range_kind(b));
    auto values = RangePair(g_, simplify_, a, b, merged)(index_roots(g_, nodes()));
    if (!values) return false;
    rewrite_kernel(g_, kernel_, {std::move(*values), {{a, {merged}}, {b, {}}}, no_id});
    return true;
  }
  bool has_plain_end(Id range) const {
    return std::ranges::none_of(g_.reachable(g_.end(range)), [&](Id id) { return g_.op(id) == Op::RANGE; });
  }

  std::vector<Id> ranges_of(Id reduce) const {
    std::vector<Id> out;
    for (const Id s : g_.src(reduce))
      if (g_.op(s) == Op::RANGE) out.push_back(s);
    return out;
  }
  // Whether b directly follows a in each REDUCE over one of them.
  bool neighbours(Id a, Id b) const {
    for (const Id id : nodes()) {
      if (g_.op(id) != Op::REDUCE) continue;
      const std::vector<Id> r = ranges_of(id);
      const auto at = std::ranges::find(r, a);
      if ((at == r.end()) != (std::ranges::find(r, b) == r.end())) return false;
      if (at != r.end() && (at + 1 == r.end() || at[1] != b)) return false;
    }
    return true;
  }

  // Merges neighbouring ranges of one REDUCE. The row-major order of its elements stays.
  bool merge_in_reduction() {
    for (const Id id : nodes()) {
      if (g_.op(id) != Op::REDUCE) continue;
      const std::vector<Id> r = ranges_of(id);
      for (std::size_t i = r.size(); i-- > 1;)
        if (neighbours(r[i - 1], r[i]) && merge(r[i - 1], r[i])) return true;
    }
    return false;
  }

  // Makes one REDUCE of a REDUCE of a REDUCE if the order of elements does not matter and the ranges merge.
  bool merge_reductions() {
    for (const Id outer : nodes()) {
      if (g_.op(outer) != Op::REDUCE || !is_orderless(g_.reduce_kind(outer), g_.dtype(outer))) continue;
      const Id inner = g_.data(outer), before = kernel_.sink;
      if (g_.op(inner) != Op::REDUCE || g_.reduce_kind(inner) != g_.reduce_kind(outer) || readers(inner) != 1) continue;
      const std::vector<Id> a = ranges_of(outer), b = ranges_of(inner);
      if (a.size() != 1 || b.size() != 1) continue;
      const Id merged =
          g_.make(Op::REDUCE, g_.dtype(outer), {g_.data(inner), a[0], b[0]}, {g_.reduce_kind(outer), ReduceOrder::striped});
      kernel_.sink = substitute(g_, before, {{outer, merged}});
      if (neighbours(a[0], b[0]) && merge(a[0], b[0])) return true;
      kernel_.sink = before;
    }
    return false;
  }
  std::ptrdiff_t readers(Id node) const {
    const std::vector<Id> all = nodes();
    return std::ranges::count_if(all, [&](Id id) { return std::ranges::find(g_.src(id), node) != g_.src(id).end(); });
  }

  Graph& g_;
  Kernel& kernel_;
  Simplifier& simplify_;
  std::int64_t fresh_ = -1;  // temporary ids; number_ranges() gives the final ones
};

}  // namespace

void simplify_ranges(Graph& g, Schedule& s) {
  const Facts facts = facts_of(s.program);
  for_each_plain_kernel(g, s, [&](Kernel& k, Simplifier& simplify) { KernelRanges(g, k, simplify).run(facts); });
}

}  // namespace kiln::compiler
