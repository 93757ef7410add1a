#include "compiler/races/dependence_test.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "compiler/ir/range_ids.h"
#include "compiler/races/linear_problem.h"
#include "compiler/races/solve.h"
#include "compiler/symbolic/find.h"

namespace kiln::compiler {

using namespace symbolic;

namespace {

constexpr int most_rounds = 40, most_choices = 4;
constexpr int most_cases = 50;  // of one problem. Proofs of random kernels need at most 11; a case may take 10 ms.

class DependenceTest {
 public:
  DependenceTest(Graph& g, const Facts& facts) : g_(g), base_(facts) {}

  bool impossible(DependenceProblem m, int depth) {
    if (++cases_ > most_cases) return false;
    for (int round = 0; round < most_rounds; ++round) {
      const Verdict v = advance(m);
      if (v == Verdict::impossible) return true;
      if (v == Verdict::stuck) break;
    }
    return contradicts(m) || (depth > 0 && by_choice(m, depth - 1));
  }

 private:
  enum class Verdict : std::uint8_t { impossible, changed, stuck };

  Facts facts_of(const DependenceProblem& m) const {
    Facts f = base_;
    f.nonnegative = m.holds.nonnegative;
    return f;
  }

  // Simplifies the problem, then makes one step on one equation.
  Verdict advance(DependenceProblem& m) {
    const Facts facts = facts_of(m);
    Simplifier simplify(g_, facts), plain(g_, base_);
    for (Id& z : m.holds.zero) z = simplify(z);
    bool same = true;
    for (auto& [a, b] : m.axes) {
      a = plain(a), b = plain(b);
      const auto is_zero = [&](Id x, Id y) {
        const Id d = simplify(g_.make(Op::SUB, DType::index, {x, y}));
        return d == g_.index(0) || std::ranges::find(m.holds.zero, d) != m.holds.zero.end();
      };
      same = same && (a == b || is_zero(a, b) || is_zero(b, a));
    }
    if (same) return Verdict::impossible;
    for (Id& f : m.holds.nonnegative) {
      f = plain(f);
      if (plain.bounds()(f).max < 0) return Verdict::impossible;
    }
    std::erase(m.holds.zero, g_.index(0));
    for (Id& n : m.holds.nonzero) {
      n = simplify(n);
      if (g_.is_index_const(n, 0)) return Verdict::impossible;
    }
    if (agree(m) || recombine(m, plain.bounds())) return Verdict::changed;
    Equations equations(g_, simplify.bounds(), m);
    if (unclamp(m, equations)) return Verdict::changed;
    for (const bool whole : {true, false})  // splits first: an equation is hard to split after a substitution
      for (std::size_t i = 0; i < m.holds.zero.size(); ++i) {
        const auto sum = sum_of(g_, m.holds.zero[i]);
        if (!sum) continue;
        if (whole && equations.never_zero(*sum)) return Verdict::impossible;
        if (whole && multiple(m, *sum, i)) return Verdict::changed;
        if (const Verdict v = whole ? part(m, equations, *sum, i) : solve(m, equations, *sum, i); v != Verdict::stuck) return v;
      }
    return squeeze(m, equations) ? Verdict::changed : Verdict::stuck;
  }

  // A value that is >= 0 and <= 0 is 0.
  bool squeeze(DependenceProblem& m, Equations& equations) {
    for (std::size_t i = 0; i < m.holds.nonnegative.size(); ++i) {
      const Id f = m.holds.nonnegative[i];
      if (g_.op(f) == Op::CONST || !equations.not_above(f, g_.index(0))) continue;
      m.holds.nonnegative.erase(m.holds.nonnegative.begin() + static_cast<std::ptrdiff_t>(i));
      m.holds.zero.push_back(f);
      return true;
    }
    return false;
  }

  Verdict part(DependenceProblem& m, Equations& equations, const Poly& sum, std::size_t i) {
    const auto parts = equations.parts(sum);
    if (!parts) return Verdict::stuck;
    m.holds.zero.erase(m.holds.zero.begin() + static_cast<std::ptrdiff_t>(i));
    m.holds.zero.insert(m.holds.zero.end(), parts->begin(), parts->end());
    return Verdict::changed;
  }

  // x % n == 0, if x is not a range, becomes x == n * t with a new name t.
  bool multiple(DependenceProblem& m, const Poly& sum, std::size_t i) {
    if (sum.size() != 1 || sum[0].atoms.size() != 1 || g_.op(sum[0].atoms[0]) != Op::FLOORMOD) return false;
    const auto [x, n] = g_.operands<2>(sum[0].atoms[0]);
    const Facts facts = facts_of(m);
    if (g_.op(x) == Op::RANGE || Bounds(g_, facts)(n).min < 1) return false;
    const std::string name = "$times" + std::to_string(number_++);
    base_.syms[name] = {-unbounded, unbounded, 1};
    m.holds.zero[i] = g_.make(Op::SUB, DType::index, {x, g_.make(Op::MUL, DType::index, {n, g_.sym(name)})});
    return true;
  }

  // Solves equation i and substitutes the solution. An equation that sets a range to another range comes first.
  Verdict solve(DependenceProblem& m, Equations& equations, const Poly& sum, std::size_t i) {
    const auto found = equations.solution(sum);
    if (!found) return Verdict::stuck;
    const bool is_range = g_.op(found->second) == Op::RANGE;
    for (std::size_t j = i + 1; !is_range && j < m.holds.zero.size(); ++j) {
      const auto other = sum_of(g_, m.holds.zero[j]);
      const auto better = other ? equations.solution(*other) : std::nullopt;
      if (better && g_.op(better->second) == Op::RANGE) return solve(m, equations, *other, j);
    }
    m.holds.zero.erase(m.holds.zero.begin() + static_cast<std::ptrdiff_t>(i));
    set(m, found->first, found->second);
    return Verdict::changed;
  }

  // Replaces a minimum or maximum by one of its sides, if a proof decides which side it is.
  bool unclamp(DependenceProblem& m, Equations& equations) {
    for (const Id id : g_.reachable(m.holds.zero)) {
      const Op op = g_.op(id);
      if (op != Op::MIN && op != Op::MAX) continue;
      const auto sides = g_.operands<2>(id);
      for (const std::size_t low : {0u, 1u})
        if (equations.not_above(sides[low], sides[1 - low])) {
          const Id known = sides[op == Op::MIN ? low : 1 - low];
          replace(m, {{id, known}});
          return true;
        }
    }
    return false;
  }

  // From a % d == b % d and c*(a // d) - c*(b // d) + rest == 0 follows c*a - c*b + d*rest == 0, which replaces the second
  // equation without loss. For s(k / 10, k % 10) the result is that the values of k are equal.
  bool recombine(DependenceProblem& m, Bounds& bounds) {
    for (const Id same : m.holds.zero) {
      const auto remainders = sum_of(g_, same);
      if (!remainders || remainders->size() != 2) continue;
      const Monomial &first = remainders->front(), &second = remainders->back();
      const auto is_remainder = [&](const Monomial& t) { return t.atoms.size() == 1 && g_.op(t.atoms[0]) == Op::FLOORMOD; };
      if (!is_remainder(first) || !is_remainder(second) || first.coefficient != -second.coefficient) continue;
      const auto [a, d] = g_.operands<2>(first.atoms[0]);
      const auto [b, other_d] = g_.operands<2>(second.atoms[0]);
      if (d != other_d || bounds(d).min < 1) continue;
      for (Id& equation : m.holds.zero)
        if (const Id whole = without_quotients(equation, a, b, d); whole != no_id) {
          equation = whole;
          return true;
        }
    }
    return false;
  }

  // c*a - c*b + d*rest of an equation c*(a // d) - c*(b // d) + rest == 0; no_id if it has another form.
  Id without_quotients(Id equation, Id a, Id b, Id d) {
    const auto make = [&](Op op, Id x, Id y) { return g_.make(op, DType::index, {x, y}); };
    const auto sum = sum_of(g_, equation);
    if (!sum) return no_id;
    const SplitAt of_a = split_at(*sum, make(Op::FLOORDIV, a, d)), of_b = split_at(of_a.rest, make(Op::FLOORDIV, b, d));
    const auto c = constant_of(of_a.factor), minus_c = constant_of(of_b.factor);
    if (!c || !minus_c || *c == 0 || *c != -*minus_c) return no_id;
    const Id difference = make(Op::SUB, a, b), scaled_rest = make(Op::MUL, d, index_from(g_, of_b.rest));
    return make(Op::ADD, make(Op::MUL, difference, g_.index(*c)), scaled_rest);
  }

  // Gives both names of a shared value one name, once the work items agree on all axes that it depends on.
  bool agree(DependenceProblem& m) {
    std::unordered_map<Id, Id> map;
    std::erase_if(m.shared, [&](const DependenceProblem::SharedValue& t) {
      if (std::ranges::any_of(t.axes, [&](std::size_t a) { return m.axes[a].first != m.axes[a].second; })) return false;
      map[t.second] = t.first;
      return true;
    });
    if (map.empty()) return false;
    replace(m, map);
    return true;
  }

  void replace(DependenceProblem& m, const std::unordered_map<Id, Id>& map) {
    m.holds.for_each([&](Id& id) { id = substitute(g_, id, map); });
    for (auto& [a, b] : m.axes) a = substitute(g_, a, map), b = substitute(g_, b, map);
  }

  // Substitutes `value` for a range of a loop or kernel, and adds that the value is inside the range.
  void set(DependenceProblem& m, Id range, Id value) {
    const Id end = g_.end(range);
    replace(m, {{range, value}});
    m.holds.nonnegative.push_back(value);
    m.holds.nonnegative.push_back(less(value, end));
  }
  // b - a - 1, which is >= 0 if a < b.
  Id less(Id a, Id b) { return g_.make(Op::SUB, DType::index, {g_.make(Op::SUB, DType::index, {b, a}), g_.index(1)}); }

  bool contradicts(const DependenceProblem& m) {
    const Facts facts = facts_of(m);
    Bounds bounds(g_, facts);
    return LinearProblem(g_, bounds, m).is_impossible();
  }

  bool by_choice(const DependenceProblem& m, int depth) {
    return by_condition(m, depth) || by_alternative(m, depth) || by_split(m, depth) || by_wrap_count(m, depth) ||
           by_wrap(m, depth) || by_side(m, depth) || by_order(m, depth);
  }

  std::vector<Id> nodes_of(const DependenceProblem& m) const {
    std::vector<Id> roots;
    Conditions(m.holds).for_each([&](Id id) { roots.push_back(id); });
    return g_.reachable(roots);
  }

  // Splits on the condition of a WHERE: it holds, or it does not.
  bool by_condition(const DependenceProblem& m, int depth) {
    const std::vector<Id> nodes = nodes_of(m);
    const auto first = std::ranges::find(nodes, Op::WHERE, [&](Id id) { return g_.op(id); });
    if (first == nodes.end()) return false;
    const Id condition = g_.condition(*first);
    for (const bool holds : {true, false}) {
      std::unordered_map<Id, Id> map;
      for (const Id id : nodes)
        if (g_.op(id) == Op::WHERE && g_.condition(id) == condition) map[id] = g_.src(id, holds ? 1 : 2);
      DependenceProblem one = m;
      replace(one, map);
      IndexForms(g_, base_, [](Id) { return no_id; }).add(one.holds, condition, holds);
      if (!impossible(std::move(one), depth)) return false;
    }
    return true;
  }

  // Splits an alternative `a or b`: a holds, or b holds and a does not.
  bool by_alternative(DependenceProblem m, int depth) {
    if (m.holds.either.empty()) return false;
    Id any = m.holds.either.back();
    m.holds.either.pop_back();
    bool holds = true;
    for (; g_.op(any) == Op::NOT; any = g_.operand(any)) holds = !holds;
    IndexForms forms(g_, base_, [](Id) { return no_id; });
    if (g_.op(any) != (holds ? Op::OR : Op::AND)) {
      forms.add(m.holds, any, holds);
      return impossible(std::move(m), depth);
    }
    const auto [first, second] = g_.operands<2>(any);
    DependenceProblem other = m;
    forms.add(m.holds, first, holds);
    forms.add(other.holds, first, !holds);
    forms.add(other.holds, second, holds);
    return impossible(std::move(m), depth) && impossible(std::move(other), depth);
  }

  // Replaces each range p that occurs as p // m or p % m by m*q + r, with new ranges q and r. All these p share one m.
  bool by_split(const DependenceProblem& m, int depth) {
    Id divisor = no_id;
    std::vector<Id> split;
    const Facts facts = facts_of(m);
    Bounds bounds(g_, facts);
    for (const Id id : nodes_of(m)) {
      if (g_.op(id) != Op::FLOORMOD && g_.op(id) != Op::FLOORDIV) continue;
      const auto [x, n] = g_.operands<2>(id);
      if (g_.op(x) != Op::RANGE) continue;
      if (divisor == no_id && bounds(n).min >= 1) divisor = n;
      if (n == divisor && std::ranges::find(split, x) == split.end()) split.push_back(x);
    }
    if (split.empty()) return false;
    DependenceProblem divided = m;
    for (const Id range : split) {
      const Id q = fresh(quotients(g_.end(range), divisor)), r = fresh(divisor);
      set(divided, range, g_.make(Op::ADD, DType::index, {g_.make(Op::MUL, DType::index, {q, divisor}), r}));
    }
    return impossible(std::move(divided), depth);
  }

  // Splits on the number of wraps of a result that wraps a few times at most.
  bool by_wrap_count(const DependenceProblem& m, int depth) {
    constexpr std::int64_t most = 3;
    Bounds bounds(g_, base_);
    for (const Id id : nodes_of(m)) {
      if (g_.op(id) != Op::SYM || !g_.name(id).starts_with(wraps_prefix)) continue;
      const Interval wraps = bounds(id);
      if (wraps.max - wraps.min > most) continue;
      for (std::int64_t n = wraps.min; n <= wraps.max; ++n) {
        DependenceProblem one = m;
        replace(one, {{id, g_.index(n)}});
        if (!impossible(std::move(one), depth)) return false;
      }
      return true;
    }
    return false;
  }

  // Splits on x % n with -n <= x < 2*n: x is inside 0 .. n - 1, below it, or above it.
  bool by_wrap(const DependenceProblem& m, int depth) {
    const Facts facts = facts_of(m);
    Bounds bounds(g_, facts);
    Equations equations(g_, bounds, m);
    for (const Id id : nodes_of(m)) {
      if (g_.op(id) != Op::FLOORMOD) continue;
      const auto [x, n] = g_.operands<2>(id);
      const Id up = g_.make(Op::ADD, DType::index, {x, n}), down = g_.make(Op::SUB, DType::index, {x, n});
      const Id zero = g_.index(0);
      if (bounds(n).min < 1 || !equations.not_above(zero, up) || !equations.not_above(zero, less(down, n))) continue;
      const std::pair<Id, std::vector<Id>> sides[] = {{x, {x, less(x, n)}}, {up, {less(x, g_.index(0))}}, {down, {down}}};
      return std::ranges::all_of(sides, [&](const auto& side) {
        DependenceProblem one = m;
        replace(one, {{id, side.first}});
        one.holds.nonnegative.insert(one.holds.nonnegative.end(), side.second.begin(), side.second.end());
        return impossible(std::move(one), depth);
      });
    }
    return false;
  }

  // Splits on the side that a minimum or maximum equals. The case of equal sides belongs to the side with a range in it. In the
  // other case the inequality is then strict, which often leaves a single index, at the border.
  bool by_side(const DependenceProblem& m, int depth) {
    const std::vector<Id> nodes = nodes_of(m);
    const auto first = std::ranges::find_if(nodes, [&](Id id) { return g_.op(id) == Op::MIN || g_.op(id) == Op::MAX; });
    if (first == nodes.end()) return false;
    const bool is_min = g_.op(*first) == Op::MIN;
    auto [a, b] = g_.operands<2>(*first);
    if (std::ranges::none_of(g_.reachable(a), [&](Id id) { return g_.op(id) == Op::RANGE; })) std::swap(a, b);
    for (const bool is_a : {true, false}) {
      DependenceProblem one = m;
      replace(one, {{*first, is_a ? a : b}});
      const Id low = is_a == is_min ? a : b, high = is_a == is_min ? b : a;
      one.holds.nonnegative.push_back(is_a ? g_.make(Op::SUB, DType::index, {high, low}) : less(low, high));
      if (!impossible(std::move(one), depth)) return false;
    }
    return true;
  }

  // The number of quotients of 0 .. n - 1 by d: ceil(n / d).
  Id quotients(Id n, Id d) {
    const Id last = g_.make(Op::SUB, DType::index, {g_.make(Op::ADD, DType::index, {n, d}), g_.index(1)});
    return Simplifier(g_, base_)(g_.make(Op::FLOORDIV, DType::index, {last, d}));
  }

  // Splits on the order of the work items on one axis: equal, or either one first.
  bool by_order(const DependenceProblem& m, int depth) {
    for (const auto& [a, b] : m.axes) {
      if (a == b || g_.op(a) != Op::RANGE || g_.op(b) != Op::RANGE) continue;
      DependenceProblem same = m;
      set(same, b, a);
      if (!impossible(std::move(same), depth)) return false;
      for (const auto& [low, high] : {std::pair(a, b), std::pair(b, a)}) {
        DependenceProblem apart = m;
        const Id above = g_.make(Op::ADD, DType::index, {low, fresh(g_.end(high))});
        set(apart, high, g_.make(Op::ADD, DType::index, {above, g_.index(1)}));
        if (!impossible(std::move(apart), depth)) return false;
      }
      return true;
    }
    return false;
  }

  Id fresh(Id end) { return g_.range(end, fresh_range + number_++, RangeKind::loop); }

  static constexpr std::int64_t fresh_range = 3 * program_range_limit;  // above the ranges of both work items
  Graph& g_;
  Facts base_;
  std::int64_t number_ = 0;
  int cases_ = 0;
};

}  // namespace

bool is_impossible(Graph& g, const Facts& facts, DependenceProblem m) {
  return DependenceTest(g, facts).impossible(std::move(m), most_choices);
}

}  // namespace kiln::compiler
