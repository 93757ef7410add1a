#include "compiler/lower/interior.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_set>

#include "compiler/index/floor_div.h"
#include "compiler/lower/access.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/rewrite.h"
#include "compiler/symbolic/bounds.h"
#include "compiler/symbolic/linear.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t widest_border = 64;        // iterations, if they run one by one
constexpr std::int64_t widest_low_border = 4096;  // if they have lanes too
constexpr std::int64_t fewest_inside = 8;         // iterations of a row for each one that runs one by one
constexpr std::int64_t short_border = 16;         // iterations that may run one by one although lanes are possible

// The sign of b - a in the interior. 0 counts as positive or negative if the operation has the same result.
enum class Sign { unknown, positive, negative };

// The borders whose conditions are constant in the iterations that values are wanted for.
enum class Known { both, low, high };

class InteriorValues {
 public:
  // border: 0, or the number of iterations of the low border, whose values are wanted in place of the interior's.
  InteriorValues(Graph& g, Id range, const Facts& facts, std::int64_t border = 0, Known known = Known::both)
      : g_(g), range_(range), bounds_(g, facts), border_(border), known_(known) {}

  // Only nodes that depend on the range may change. Other loops must stay the same nodes, which the code of the borders shares.
  Id operator()(Id id, std::span<const Id> x) {
    if (!depends(id)) return no_id;
    const Op op = g_.op(id);
    if (op == Op::LOAD || op == Op::STORE) return access(id, x);
    if (g_.dtype(id) == DType::boolean && (op == Op::AND || op == Op::OR || op == Op::NOT)) return logic(op, x);
    if (op == Op::FLOORMOD && g_.dtype(id) == DType::index) return remainder(x[0], x[1]);
    if (op == Op::WHERE && g_.is_const(x[0]) && g_.lanes(x[0]) == 1) return truth(x[0]) ? x[1] : x[2];
    const bool extremum = (op == Op::MIN || op == Op::MAX) && g_.dtype(id) == DType::index;
    if (!extremum && !(is_comparison(op) && g_.dtype(x[0]) == DType::index)) return no_id;
    if (g_.lanes(id) != 1) return no_id;
    const Sign s = sign(op, x[0], x[1]);
    if (s == Sign::unknown) return no_id;
    if (extremum) return (op == Op::MIN) == (s == Sign::positive) ? x[0] : x[1];
    const bool holds = op == Op::NE || ((op == Op::LT || op == Op::LE) && s == Sign::positive);
    return g_.constant(DType::boolean, holds ? 1 : 0);
  }

  std::int64_t lo = 0, cut = 0;

 private:
  bool depends(Id id) {
    const bool yes = id == range_ || std::ranges::any_of(g_.src(id), [&](Id s) { return over_range_.contains(s); });
    if (yes) over_range_.insert(id);
    return yes;
  }

  bool truth(Id c) const { return g_.value(c) != 0; }

  Id logic(Op op, std::span<const Id> x) {
    if (op == Op::NOT) return g_.is_const(x[0]) ? g_.constant(DType::boolean, truth(x[0]) ? 0 : 1, g_.lanes(x[0])) : no_id;
    for (std::size_t i = 0; i < 2; ++i)
      if (g_.is_const(x[i])) return truth(x[i]) == (op == Op::AND) ? x[1 - i] : x[i];
    return no_id;
  }

  Id access(Id id, std::span<const Id> x) {
    if (x.size() < 4 || !g_.is_const(x[3])) return no_id;
    if (!truth(x[3])) return g_.op(id) == Op::LOAD ? x[2] : no_id;
    const std::vector<Id> ungated(x.begin(), x.begin() + (g_.op(id) == Op::LOAD ? 2 : 3));
    return g_.with_src(id, ungated);
  }

  // d = b - a = c * range + rest. A condition of the low border has a small rest. A condition of the high border has a rest of
  // plus or minus the extent plus something small.
  Sign sign(Op op, Id a, Id b) {
    const auto sa = symbolic::sum_of(g_, a), sb = symbolic::sum_of(g_, b), extent = symbolic::sum_of(g_, g_.end(range_));
    if (!sa || !sb || !extent) return Sign::unknown;
    const auto difference = symbolic::plus(g_, *sb, *sa, -1);
    if (!difference) return Sign::unknown;
    std::int64_t positive = op == Op::LE || op == Op::MIN || op == Op::MAX ? 0 : 1;   // d >= positive: sign "positive"
    std::int64_t negative = op == Op::LT || op == Op::MIN || op == Op::MAX ? 0 : -1;  // d <= negative: sign "negative"
    const auto d = without_quotient(*difference, positive, negative);
    if (!d) return Sign::unknown;
    std::int64_t c = 0;
    Poly rest;
    for (const Monomial& t : *d) {
      if (t.atoms == std::vector<Id>{range_})
        c = t.coefficient;
      else if (uses_range(t))
        return Sign::unknown;
      else
        rest.push_back(t);
    }
    if (c == 0) return Sign::unknown;
    const Interval near_low = interval(rest);
    if (border_ > 0) return sign_in_border(c, near_low, positive, negative);
    const Sign behind = c > 0 ? Sign::positive : Sign::negative, before = c > 0 ? Sign::negative : Sign::positive;
    const std::int64_t low = near(c > 0 ? near_low.min : near_low.max);
    const std::int64_t first = c > 0 ? ceil_div(positive - low, c) : ceil_div(low - negative, -c);
    const auto beyond = symbolic::plus(g_, rest, *extent, c);
    const auto in_low = [&] { return known_ == Known::high ? Sign::unknown : behind; };
    const auto in_high = [&] { return known_ == Known::low ? Sign::unknown : before; };
    if (!beyond) return raise(lo, low, first) ? in_low() : Sign::unknown;
    const Interval near_high = interval(*beyond);
    const std::int64_t high = near(c > 0 ? near_high.max : near_high.min);
    const std::int64_t last = c > 0 ? ceil_div(high - negative, c) - 1 : ceil_div(positive - high, -c) - 1;
    // In a range of constant extent the end may be nearer than the begin. The high border has no lanes, so it should be short.
    if (last < first && last <= short_border && raise(cut, high, last)) return in_high();
    if (raise(lo, low, first)) return in_low();
    return raise(cut, high, last) ? in_high() : Sign::unknown;
  }
  // d with e in place of e // n, and its limits times n, if the range is in d in one such quotient only: e // n >= b holds if
  // e >= n * b, and e // n <= b if e <= n * b + n - 1.
  std::optional<Poly> without_quotient(const Poly& d, std::int64_t& positive, std::int64_t& negative) const {
    const auto over_range = [&](const Monomial& t) { return uses_range(t); };
    const auto at = std::ranges::find_if(d, over_range);
    if (at == d.end() || at->atoms.size() != 1 || g_.op(at->atoms[0]) != Op::FLOORDIV) return d;
    const Id quotient = at->atoms[0], divisor = g_.src(quotient, 1);
    const std::int64_t sign = at->coefficient, most = std::int64_t{1} << 31;
    if (std::ranges::count_if(d, over_range) != 1 || (sign != 1 && sign != -1)) return std::nullopt;
    if (!g_.is_const(divisor) || g_.value(divisor) < 1 || g_.value(divisor) > most) return std::nullopt;
    const std::int64_t n = g_.value(divisor);
    const auto others = symbolic::plus(g_, d, Poly{*at}, -1), e = symbolic::sum_of(g_, g_.src(quotient, 0));
    const auto scaled = others ? symbolic::scaled(*others, n) : std::nullopt;
    if (!scaled || !e) return std::nullopt;
    positive = positive * n - (sign < 0 ? n - 1 : 0);
    negative = negative * n + (sign > 0 ? n - 1 : 0);
    return symbolic::plus(g_, *scaled, *e, sign);
  }
  // Bounds of the sum. n * (e // n) is e - e % n, so that it may cancel against other terms: e - 2 * (e // 2) is 0 or 1.
  Interval interval(const Poly& p) {
    const Interval all = symbolic::interval_of(bounds_, p);
    Interval rests{0, 0};
    std::optional<Poly> sum = p;
    for (const Monomial& t : p) {
      const Id q = t.atoms.size() == 1 ? t.atoms[0] : no_id;
      if (q == no_id || g_.op(q) != Op::FLOORDIV || !g_.is_const(g_.src(q, 1))) continue;
      const std::int64_t n = g_.value(g_.src(q, 1));
      const auto divided = n > 0 && t.coefficient % n == 0 ? symbolic::sum_of(g_, g_.src(q, 0)) : std::nullopt;
      if (sum && divided) sum = symbolic::plus(g_, *sum, Poly{t}, -1);
      if (sum && divided) sum = symbolic::plus(g_, *sum, *divided, t.coefficient / n);
      if (divided) rests = add(rests, mul({0, n - 1}, {-(t.coefficient / n), -(t.coefficient / n)}));
    }
    if (!sum) return all;
    const Interval other = add(symbolic::interval_of(bounds_, *sum), rests);
    return {std::max(all.min, other.min), std::min(all.max, other.max)};
  }

  // The bound. A bound that is far away is limited to a value that raise() still refuses.
  static std::int64_t near(std::int64_t bound) { return std::clamp(bound, -2 * widest_low_border, 2 * widest_low_border); }

  Sign sign_in_border(std::int64_t c, Interval rest, std::int64_t positive, std::int64_t negative) const {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(c, border_ - 1, &reach)) return Sign::unknown;
    const Interval all = add(rest, {std::min<std::int64_t>(reach, 0), std::max<std::int64_t>(reach, 0)});
    return all.min >= positive ? Sign::positive : all.max <= negative ? Sign::negative : Sign::unknown;
  }

  // a - k * n for the k with which it is within 0 .. n - 1 in the interior. a is range + rest.
  Id remainder(Id a, Id n) {
    if (border_ > 0 || known_ != Known::both) return no_id;
    const auto sum = symbolic::sum_of(g_, a), divisor = symbolic::sum_of(g_, n), extent = symbolic::sum_of(g_, g_.end(range_));
    if (!sum || !divisor || !extent) return no_id;
    std::optional<Poly> best;  // of the fewest iterations at the borders: r + 63 of 64 is r - 1 behind the first one
    std::int64_t before = widest_border, behind = widest_border;
    for (const std::int64_t k : {0, 1, -1}) {
      const auto value = symbolic::plus(g_, *sum, *divisor, -k);
      const auto rest = value ? without_range(*value) : std::nullopt;
      const auto beyond = rest ? symbolic::plus(g_, *rest, *extent) : std::nullopt;
      const auto excess = beyond ? symbolic::plus(g_, *beyond, *divisor, -1) : std::nullopt;
      if (!excess) continue;
      const std::int64_t low = interval(*rest).min, high = interval(*excess).max;
      if (-low >= widest_border || high >= widest_border) continue;
      const std::int64_t first = std::max<std::int64_t>(0, -low), last = std::max<std::int64_t>(0, high);
      if (best && first + last >= before + behind) continue;
      best = value;
      before = first;
      behind = last;
    }
    if (!best) return no_id;
    lo = std::max(lo, before);
    cut = std::max(cut, behind);
    return index_from(g_, *best);
  }

  // s - range; nullopt: s is not range plus something that is the same in all iterations.
  std::optional<Poly> without_range(const Poly& s) const {
    Poly rest;
    std::int64_t c = 0;
    for (const Monomial& t : s) {
      if (t.atoms == std::vector<Id>{range_})
        c = t.coefficient;
      else if (uses_range(t))
        return std::nullopt;
      else
        rest.push_back(t);
    }
    return c == 1 ? std::optional(rest) : std::nullopt;
  }

  bool uses_range(const Monomial& t) const {
    const std::vector<Id> nodes = g_.reachable(t.atoms);
    return std::ranges::find(nodes, range_) != nodes.end();
  }

  bool raise(std::int64_t& border, std::int64_t known, std::int64_t wanted) {
    const std::int64_t widest = &border == &lo ? widest_low_border : widest_border;
    if (known <= -widest || known >= widest || wanted > widest) return false;
    border = std::max(border, wanted);
    return true;
  }

  Graph& g_;
  Id range_;
  Bounds bounds_;
  std::int64_t border_;
  Known known_;
  std::unordered_set<Id> over_range_;
};

std::vector<Id> rewritten(Graph& g, Id all, InteriorValues& values) {
  return g.sources(rewrite(g, all, [&](Id id, std::span<const Id> x) { return values(id, x); }));
}

bool has_linear_indices(const Graph& g, std::span<const Id> stores, Id range) {
  return std::ranges::all_of(g.reachable(stores), [&](Id id) {
    return (g.op(id) != Op::LOAD && g.op(id) != Op::STORE) || index_stride(g, index_of(g, id), range).has_value();
  });
}

// Whether the range is in the index only in sums with what does not depend on it, and in remainders and limits by constants of
// itself plus a constant.
bool is_known_index(const Graph& g, Id index, const std::unordered_set<Id>& over_range, bool alone) {
  if (!over_range.contains(index)) return !alone || g.is_const(index);
  const Op op = g.op(index);
  if (op == Op::RANGE) return true;
  const bool is_limit = op == Op::FLOORMOD || op == Op::FLOORDIV || op == Op::MIN || op == Op::MAX;
  if (!is_limit && op != Op::ADD && op != Op::SUB) return false;
  return std::ranges::all_of(g.src(index), [&](Id s) { return is_known_index(g, s, over_range, alone || is_limit); });
}

bool has_known_indices(const Graph& g, std::span<const Id> stores, Id range) {
  const std::vector<Id> nodes = g.reachable(stores);
  const std::unordered_set<Id> over_range = depends_on_range(g, nodes, range);
  return std::ranges::all_of(nodes, [&](Id id) {
    if (g.op(id) != Op::LOAD && g.op(id) != Op::STORE) return true;
    return index_stride(g, index_of(g, id), range) || is_known_index(g, index_of(g, id), over_range, false);
  });
}

}  // namespace

std::optional<Interior> find_interior(Graph& g, std::span<const Id> stores, Id range, int lanes, const Facts& facts) {
  const Id extent = g.end(range);
  const Id all = g.make(Op::SINK, DType::none, stores);
  InteriorValues search(g, range, facts);
  std::vector<Id> found = rewritten(g, all, search);
  if (std::ranges::equal(found, g.src(all))) return std::nullopt;
  Interior out{.stores = std::move(found),
               .lo = search.lo,
               .cut = search.cut,
               .low = {},
               .left = {},
               .right = {},
               .is_linear = has_linear_indices(g, stores, range)};
  out.is_known = out.is_linear || (g.is_const(extent) && has_known_indices(g, stores, range));
  if (out.lo > 1 && out.lo >= lanes) {
    InteriorValues low(g, range, facts, out.lo);
    out.low = rewritten(g, all, low);
  }
  const std::int64_t one_by_one = (out.low.empty() ? out.lo : 0) + out.cut;
  if (one_by_one > 2 * widest_border) return std::nullopt;
  if (!g.is_const(extent)) {
    if (!out.is_linear || !out.low.empty()) return out;
    InteriorValues left(g, range, facts, 0, Known::high), right(g, range, facts, 0, Known::low);
    out.left = rewritten(g, all, left);
    out.right = rewritten(g, all, right);
    return out;
  }
  // A row of several vectors whose indices are not linear at its borders would load lane by lane.
  if (!out.is_linear && g.value(extent) > lanes && fewest_inside * one_by_one <= g.value(extent)) return out;
  // Of a short range, an interior of one vector pays if it has an iteration of the borders at most for each vector.
  const bool is_cheap = !out.low.empty() || (out.lo + out.cut) * lanes <= g.value(extent);
  if (g.value(extent) < out.lo + out.cut + (is_cheap ? 1 : 2) * lanes) return std::nullopt;
  return out;
}

bool walked_as_one(const Graph& g, std::span<const Id> stores, Id outer, Id inner) {
  const Id extent = g.end(inner);
  if (!g.is_const(extent)) return false;
  const auto affine = [&](Id index) {
    const auto of_outer = index_stride(g, index, outer), of_inner = index_stride(g, index, inner);
    return of_outer && of_inner && *of_outer == *of_inner * g.value(extent);
  };
  for (const Id id : g.reachable(stores)) {
    const Op op = g.op(id);
    if (op == Op::FOR) return false;
    if (g.dtype(id) == DType::index) continue;
    const bool access = op == Op::LOAD || op == Op::STORE;
    for (std::size_t i = 0; i < g.src(id).size(); ++i) {
      const Id s = g.src(id, i);
      if (g.dtype(s) != DType::index) continue;
      const bool fine = access && i == 1 ? affine(s) : index_stride(g, s, outer) == 0 && index_stride(g, s, inner) == 0;
      if (!fine) return false;
    }
  }
  return true;
}

}  // namespace kiln::compiler
