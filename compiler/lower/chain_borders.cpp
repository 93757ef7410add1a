#include "compiler/lower/chain_borders.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/scopes.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/lane_extremes.h"
#include "compiler/lower/loop_copies.h"
#include "compiler/symbolic/linear.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

constexpr std::size_t most_nodes = 400;        // of a body, which is copied up to four times
constexpr int most_loops = 16;                 // in one kernel
constexpr std::int64_t fewest_iterations = 8;  // of a loop that is worth a cut

// A condition that has one value before iteration `first`, and the other value from iteration `last` on.
struct Border {
  Id condition, first, last;
  bool begins;  // the value before `first`
};

class Borders {
 public:
  Borders(Graph& g, const Facts& facts, Id loop) : g_(g), extremes_(g, facts), range_(loop_parts(g, loop).range) {
    varying_.insert(range_);
    for (const Id id : g.reachable(loop_parts(g, loop).yield))
      if (std::ranges::any_of(g.src(id), [&](Id s) { return varying_.contains(s); })) {
        varying_.insert(id);
        nodes_.push_back(id);
      }
  }

  std::vector<Border> find() {
    if (nodes_.size() > most_nodes || std::ranges::any_of(nodes_, [&](Id id) { return g_.op(id) == Op::FOR; })) return {};
    std::vector<Border> out;
    for (const Id id : std::vector<Id>(nodes_))
      if (g_.op(id) == Op::LT || g_.op(id) == Op::LE)
        if (const auto b = border(id)) out.push_back(*b);
    return out;
  }

 private:
  std::optional<Border> border(Id condition) {
    const auto [a, b] = g_.operands<2>(condition);
    const auto from = extremes_.positions(a), to = from ? extremes_.positions(b) : std::nullopt;
    if (!to) return std::nullopt;
    const auto all = distance(to->least, from->greatest), some = distance(to->greatest, from->least);
    if (!all || !some || all->sign != some->sign) return std::nullopt;
    const Id margin = g_.index(g_.op(condition) == Op::LT ? 1 : 0), one = g_.index(1);
    // The condition holds in all lanes if sign * range + all >= margin, and in none if sign * range + some < margin.
    if (all->sign < 0) {
      const Id first = add_index(g_, sub_index(g_, all->rest, margin), one);
      const Id last = add_index(g_, sub_index(g_, some->rest, margin), one);
      return Border{condition, first, last, true};
    }
    const Id first = sub_index(g_, margin, some->rest), last = sub_index(g_, margin, all->rest);
    return Border{condition, first, last, false};
  }

  struct Distance {
    std::int64_t sign;
    Id rest;
  };

  // x - y as sign * range + rest.
  std::optional<Distance> distance(Id x, Id y) {
    const auto above = symbolic::sum_of(g_, x), below = symbolic::sum_of(g_, y);
    auto d = above && below ? symbolic::plus(g_, *above, *below, -1) : std::nullopt;
    if (!d) return std::nullopt;
    const auto own = std::ranges::find_if(*d, [&](const Monomial& t) { return t.atoms == std::vector<Id>{range_}; });
    if (own == d->end() || (own->coefficient != 1 && own->coefficient != -1)) return std::nullopt;
    const std::int64_t sign = own->coefficient;
    d->erase(own);
    for (const Monomial& t : *d) {
      const std::vector<Id> below_atoms = g_.reachable(t.atoms);
      if (std::ranges::find(below_atoms, range_) != below_atoms.end()) return std::nullopt;
    }
    const Id rest = index_from(g_, *d);
    return Distance{sign, rest};
  }

  Graph& g_;
  LaneExtremes extremes_;
  const Id range_;
  std::unordered_set<Id> varying_;
  std::vector<Id> nodes_;
};

class ChainCutter {
 public:
  ChainCutter(Graph& g, RangeIds& loops, const Facts& facts) : g_(g), loops_(loops), facts_(facts), simplified_(g, facts) {}

  // The FORs that take the place of the loop; no_id: none do.
  Id cut(Id loop) {
    if (!may_cut(loop)) return no_id;
    const std::vector<Border> borders = Borders(g_, facts_, loop).find();
    std::vector<Border> rising, falling;
    for (const Border& b : borders) (b.begins ? falling : rising).push_back(b);
    if (borders.empty()) return no_id;
    if (rising.empty()) return cut_at(loop, falling);
    const Id last = cut_at(loop, rising);
    if (falling.empty()) return last;
    const std::vector<Border> left = Borders(g_, facts_, last).find();
    return left.empty() ? last : cut_at(last, left);
  }

 private:
  bool may_cut(Id loop) const {
    const LoopParts l = loop_parts(g_, loop);
    if (l.conditional || l.init.empty() || l.step != 1 || g_.src(loop).size() != 3 + 2 * l.init.size()) return false;
    return !g_.is_const(l.begin) || !g_.is_const(l.end) || g_.value(l.end) - g_.value(l.begin) >= fewest_iterations;
  }

  // Three FORs: all conditions have their first value, any, their last one. Returns the last FOR.
  Id cut_at(Id loop, const std::vector<Border>& borders) {
    const LoopParts l = loop_parts(g_, loop);
    const Id begin = l.begin, end = l.end;
    std::vector<Id> init(l.init.begin(), l.init.end());
    Id low = no_id, high = no_id;
    std::unordered_map<Id, Id> before, behind;
    for (const Border& b : borders) {
      low = low == no_id ? b.first : index_binary(g_, Op::MIN, low, b.first);
      high = high == no_id ? b.last : index_binary(g_, Op::MAX, high, b.last);
      before[b.condition] = g_.constant(DType::boolean, b.begins ? 1 : 0, g_.lanes(b.condition));
      behind[b.condition] = g_.constant(DType::boolean, b.begins ? 0 : 1, g_.lanes(b.condition));
    }
    const Id first = inside(low, begin, end), last = inside(high, first, end);
    const Id a = part_of_loop(g_, loops_, loop, begin, first, init, before);
    const Id b = part_of_loop(g_, loops_, loop, first, last, results_of(g_, a), {});
    return part_of_loop(g_, loops_, loop, last, end, results_of(g_, b), behind);
  }

  Id inside(Id bound, Id low, Id high) {
    const Id above = index_binary(g_, Op::MAX, bound, low);
    return simplified_(index_binary(g_, Op::MAX, index_binary(g_, Op::MIN, above, high), low));
  }

  Graph& g_;
  RangeIds& loops_;
  const Facts& facts_;
  Simplifier simplified_;
};

}  // namespace

Id chain_borders(Graph& g, RangeIds& loops, Id sink, const Facts& facts) {
  ChainCutter cutter(g, loops, facts);
  int cut = 0;
  return rewrite(g, sink, [&](Id id, std::span<const Id> x) -> Id {
    if (g.op(id) != Op::FOR || cut == most_loops) return no_id;
    const Id same = g.with_src(id, std::vector<Id>(x.begin(), x.end()));
    const Id made = cutter.cut(same);
    if (made == no_id) return same;
    ++cut;
    return made;
  });
}

}  // namespace kiln::compiler
