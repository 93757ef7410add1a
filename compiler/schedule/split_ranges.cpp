#include "compiler/schedule/split_ranges.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/index_poly.h"
#include "compiler/schedule/each_kernel.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t few_iterations = 8;       // an outermost loop with fewer is too short for threads
constexpr std::int64_t worth_threads = 1 << 16;  // iterations of the whole range from which threads pay
constexpr std::size_t most_cuts = 6;

// The value of a node as (range // low) % (high // low).
struct SplitFactor {
  Id range, low, high;
};

// range = sum of parts[i] * strides[i], outermost first.
struct Split {
  std::vector<Id> cuts;  // ascending: 1, ..., end
  std::vector<Id> parts, strides;
};

class RangeSplitter {
 public:
  RangeSplitter(Graph& g, Kernel& k, Simplifier& simplify) : g_(g), kernel_(k), simplify_(simplify) {}

  void run() {
    const std::vector<Id> nodes = g_.reachable(kernel_.sink);
    for (const Id id : nodes) find_factor(id);
    if (factors_.empty() && shifted_.empty()) return;
    count_uses(nodes);
    const std::vector<Id> loops = loop_ranges_of(g_, kernel_);
    const bool has_tiles = has_tile_steps(g_, kernel_.sink);
    for (const Id id : nodes) {
      const bool outermost = !loops.empty() && loops[0] == id;
      if (g_.op(id) != Op::RANGE || (has_tiles && (outermost || g_.range_kind(id) != RangeKind::loop))) continue;
      if (has_factors(id) && may_split(id, nodes)) plan(id, outermost);
    }
    if (splits_.empty()) return;
    rewrite(nodes);
    number_ranges(g_, kernel_);
  }

 private:
  void find_factor(Id id) {
    if (g_.op(id) == Op::RANGE) as_factor_[id] = {id, g_.index(1), g_.end(id)};
    if (g_.dtype(id) != DType::index || (g_.op(id) != Op::FLOORDIV && g_.op(id) != Op::FLOORMOD)) return;
    const auto [value, by] = g_.operands<2>(id);
    const auto x = as_factor_.find(value);
    if (x == as_factor_.end() && is_shifted(value, by)) shifted_.push_back(id);
    if (x == as_factor_.end() || !is_divisor(by)) return;
    SplitFactor d = x->second;
    const auto cut = product(d.low, by);
    if (!cut || !quotient(d.high, *cut)) return;
    (g_.op(id) == Op::FLOORDIV ? d.low : d.high) = *cut;
    as_factor_[id] = d;
    factors_.push_back(id);
  }
  // Whether the value is a range plus a constant, and the constant `by` divides the range's end.
  bool is_shifted(Id value, Id by) {
    if (g_.op(value) != Op::ADD) return false;
    const auto [range, offset] = g_.operands<2>(value);
    return g_.op(range) == Op::RANGE && g_.is_const(offset) && index_value(g_, by).value_or(1) > 1 &&
           quotient(g_.end(range), by).has_value();
  }
  Id range_of_shifted(Id division) const { return g_.src(g_.src(division, 0), 0); }
  bool is_divisor(Id id) const {  // a constant above 1, or an expression without ranges and loads
    const auto c = index_value(g_, id);
    if (c) return *c > 1;
    return std::ranges::none_of(g_.reachable(id), [&](Id n) { return g_.op(n) == Op::RANGE || g_.op(n) == Op::LOAD; });
  }

  std::optional<Id> product(Id a, Id b) {
    std::int64_t whole = 0;
    const auto x = index_value(g_, a), y = index_value(g_, b);
    if (x && y && __builtin_mul_overflow(*x, *y, &whole)) return std::nullopt;
    return index_mul(g_, a, b);
  }

  // Collects the nodes of all indices of loads and stores.
  void count_uses(const std::vector<Id>& nodes) {
    std::vector<Id> todo;
    for (const Id id : nodes)
      if (g_.op(id) == Op::LOAD || g_.op(id) == Op::STORE) todo.push_back(g_.src(id, 1));
    while (!todo.empty()) {
      const Id id = todo.back();
      todo.pop_back();
      if (g_.op(id) == Op::LOAD || !in_access_.insert(id).second) continue;
      todo.insert(todo.end(), g_.src(id).begin(), g_.src(id).end());
    }
  }

  bool has_factors(Id range) const {
    return std::ranges::any_of(factors_, [&](Id d) { return as_factor_.at(d).range == range; }) ||
           std::ranges::any_of(shifted_, [&](Id d) { return range_of_shifted(d) == range; });
  }
  bool may_split(Id range, const std::vector<Id>& nodes) const {
    const Id end = g_.end(range);
    if (!g_.src(end).empty() && !is_divisor(end)) return false;
    for (const Id id : nodes) {
      if (g_.op(id) != Op::REDUCE || std::ranges::find(g_.src(id), range) == g_.src(id).end()) continue;
      if (!keeps_result(id)) return false;
    }
    return true;
  }
  // Whether a REDUCE over the factors, in row-major order, gives the same bits.
  bool keeps_result(Id reduce) const {
    const DType d = g_.dtype(reduce);
    switch (g_.reduce_kind(reduce)) {
      case ReduceKind::argmax:
      case ReduceKind::argmin: return false;  // the result is an index
      case ReduceKind::sum:
      case ReduceKind::dot:
      case ReduceKind::prod: return !is_float(d) || g_.reduce_order(reduce) == ReduceOrder::sequential;
      default: return true;
    }
  }

  // a / b; nullopt: b is not known to divide a.
  std::optional<Id> quotient(Id a, Id b) {
    if (a == b) return g_.index(1);
    const Poly p = poly_of(g_, a), by = poly_of(g_, b);
    if (by.size() == 1)
      if (const auto q = divided(p, by[0])) return index_from(g_, *q);
    const auto c = index_value(g_, b);
    if (!c || *c < 1 || !g_.is_index_const(simplify_(index_floormod(g_, a, b)), 0)) return std::nullopt;
    return simplify_(index_floordiv(g_, a, b));
  }
  std::optional<Poly> divided(Poly p, const Monomial& by) const {
    for (Monomial& m : p) {
      if (m.coefficient % by.coefficient != 0) return std::nullopt;
      m.coefficient /= by.coefficient;
      for (const Id atom : by.atoms) {
        const auto at = std::ranges::find(m.atoms, atom);
        if (at == m.atoms.end()) return std::nullopt;
        m.atoms.erase(at);
      }
    }
    return normalise_poly(g_, std::move(p));
  }

  // The cuts of the range's factors. Cuts that more indices use come first; equal ones are in order of appearance.
  std::vector<Id> wanted_cuts(Id range) {
    std::vector<std::pair<Id, int>> cuts;
    const auto count = [&](Id cut, bool used) {
      auto at = std::ranges::find(cuts, cut, &std::pair<Id, int>::first);
      if (at == cuts.end()) at = cuts.insert(cuts.end(), {cut, 0});
      at->second += used ? 1 : 0;
    };
    for (const Id id : factors_) {
      const SplitFactor& d = as_factor_.at(id);
      if (d.range != range) continue;
      const bool used = in_access_.contains(id) || !index_value(g_, g_.src(id, 1));
      count(d.low, used);
      count(d.high, used);
    }
    for (const Id id : shifted_)
      if (range_of_shifted(id) == range) count(g_.src(id, 1), in_access_.contains(id));
    std::erase_if(cuts, [](const auto& c) { return c.second == 0; });
    std::ranges::stable_sort(cuts, [](const auto& a, const auto& b) { return a.second > b.second; });
    std::vector<Id> out;
    for (const auto& c : cuts) out.push_back(c.first);
    return out;
  }

  void plan(Id range, bool outermost) {
    Split s{{g_.index(1), g_.end(range)}, {}, {}};
    for (const Id cut : wanted_cuts(range)) {
      if (s.cuts.size() >= most_cuts || std::ranges::find(s.cuts, cut) != s.cuts.end()) continue;
      auto at = s.cuts.begin() + 1;  // after all cuts that divide it
      while (at != s.cuts.end() && quotient(cut, *at)) ++at;
      if (std::all_of(s.cuts.begin(), at, [&](Id c) { return quotient(cut, c).has_value(); }) &&
          std::all_of(at, s.cuts.end(), [&](Id c) { return quotient(c, cut).has_value(); }))
        s.cuts.insert(at, cut);
    }
    if (s.cuts.size() < 3 || (outermost && starves_threads(s))) return;
    for (std::size_t i = s.cuts.size() - 1; i-- > 0;) {
      const Id end = *quotient(s.cuts[i + 1], s.cuts[i]);
      s.parts.push_back(g_.range(end, fresh_--, g_.range_kind(range)));
      s.strides.push_back(s.cuts[i]);
    }
    splits_.emplace(range, std::move(s));
  }
  // Whether a split leaves too few iterations for threads. Only constant ends count: a division by a constant is a
  // multiplication, but a division by a symbol costs more than threads gain.
  bool starves_threads(const Split& s) {
    const auto outer = index_value(g_, *quotient(s.cuts.back(), s.cuts[s.cuts.size() - 2]));
    const auto all = index_value(g_, s.cuts.back());
    return outer && *outer < few_iterations && all && *all > worth_threads;
  }

  // (range // low) % (high // low) as a sum over the factors between two cuts.
  Id parts_between(const Split& s, Id low, Id high) {
    Id sum = g_.index(0);
    for (std::size_t i = 0; i < s.parts.size(); ++i) {
      const Id top = s.cuts[s.parts.size() - i];
      const bool inside = quotient(s.strides[i], low) && (high == s.cuts.back() || quotient(high, top));
      if (inside) sum = index_add(g_, sum, index_mul(g_, s.parts[i], *quotient(s.strides[i], low)));
    }
    return sum;
  }

  void rewrite(const std::vector<Id>& nodes) {
    RangeChange change;
    for (const Id id : nodes)
      if (const auto d = as_factor_.find(id); d != as_factor_.end() && is_cut(d->second))
        change.values[id] = parts_between(splits_.at(d->second.range), d->second.low, d->second.high);
    for (const auto& [range, split] : splits_) change.loops[range] = split.parts;
    rewrite_kernel(g_, kernel_, change);
    simplify_uses(g_, kernel_, simplify_);
  }
  bool is_cut(const SplitFactor& d) const {
    const auto s = splits_.find(d.range);
    if (s == splits_.end()) return false;
    const auto& cuts = s->second.cuts;
    return std::ranges::find(cuts, d.low) != cuts.end() && std::ranges::find(cuts, d.high) != cuts.end();
  }
  Graph& g_;
  Kernel& kernel_;
  Simplifier& simplify_;
  std::unordered_map<Id, SplitFactor> as_factor_;  // by node
  std::vector<Id> factors_;                        // FLOORDIV and FLOORMOD nodes with a SplitFactor, ascending
  std::vector<Id> shifted_;               // FLOORDIV and FLOORMOD nodes of a RANGE plus a constant: simplified after the split
  std::unordered_set<Id> in_access_;      // nodes of indices of loads and stores
  std::unordered_map<Id, Split> splits_;  // by RANGE
  std::int64_t fresh_ = -1;               // temporary ids; number_ranges() gives the final ones
};

}  // namespace

void split_ranges(Graph& g, Schedule& s) {
  const LocScope restored(g);
  const Facts facts = facts_of(s.program);
  Simplifier simplify(g, facts);
  for (Kernel& k : s.kernels)
    if (!k.is_explicit) RangeSplitter(g, k, simplify).run();
}

}  // namespace kiln::compiler
