#include "compiler/races/example.h"

#include <algorithm>
#include <array>
#include <vector>

#include "compiler/ir/nth.h"
#include "compiler/races/index_forms.h"
#include "compiler/symbolic/samples.h"

namespace kiln::compiler {
namespace {

using symbolic::Samples;

constexpr int choices = 7;
constexpr std::int64_t most_trials = 400'000;
constexpr int most_candidates = 1000;

// Enumerates values of all variables like an odometer. SYMs and names (data) have small values, RANGEs values near an end.
class Trials {
 public:
  Trials(const Graph& g, const Facts& facts, const DependenceProblem& m) : g_(g), facts_(facts), m_(m) {
    std::vector<Id> roots;
    Conditions(m.holds).for_each([&](Id id) { roots.push_back(id); });
    for (const auto& [a, b] : m.axes) roots.push_back(a), roots.push_back(b);
    nodes_ = g.reachable(roots);
    values_.resize(g.size());
    for (const Id id : nodes_)
      if (g.op(id) == Op::SYM || g.op(id) == Op::RANGE) variables_.push_back(id);
    choices_.assign(variables_.size(), 0);
    for (std::size_t i = 0; i < variables_.size(); ++i) order_.push_back(i);
    std::ranges::sort(order_, [&](std::size_t i, std::size_t k) { return comes_before(variables_[i], variables_[k]); });
  }

  std::optional<ProblemValues> found(const std::function<bool(const ProblemValues&)>& is_real) {
    int candidates = 0;
    for (std::int64_t trial = 0; trial < most_trials; ++trial) {
      if (holds()) {
        ProblemValues v = values();
        if (is_real(v)) return v;
        if (++candidates == most_candidates) break;
      }
      if (!next()) break;
    }
    return std::nullopt;
  }

 private:
  // Extents and data by name, then ranges by number, so the order does not depend on the order in which nodes were made.
  bool comes_before(Id a, Id b) const {
    const bool range_a = g_.op(a) == Op::RANGE, range_b = g_.op(b) == Op::RANGE;
    if (range_a != range_b) return range_b;
    return range_a ? g_.range_number(a) < g_.range_number(b) : g_.name(a) < g_.name(b);
  }

  ProblemValues values() const {
    ProblemValues out;
    for (const Id v : variables_) out[v] = (*this)[v];
    for (const auto& [a, b] : m_.axes) out[a] = (*this)[a], out[b] = (*this)[b];
    return out;
  }
  std::int64_t operator[](Id id) const { return values_[id].value[0]; }

  // The next combination. The last variable (an inner loop, or the second work item) changes most often.
  bool next() {
    for (std::size_t k = order_.size(); k-- > 0;) {
      int& choice = choices_[order_[k]];
      if (++choice < choices) return true;
      choice = 0;
    }
    return false;
  }

  bool holds() {
    std::size_t variable = 0;
    for (const Id id : nodes_) {
      if (variable < variables_.size() && variables_[variable] == id) {
        if (!choose(id, choices_[variable++])) return false;
        continue;
      }
      const auto src = g_.src(id);
      const auto source = [&](std::size_t s) -> const Samples::Values& { return values_[src[std::min(s, src.size() - 1)]]; };
      values_[id] = g_.op(id) == Op::CONST ? Samples::constant(g_.value(id))
                    : src.empty()          ? Samples::Values{}
                                           : Samples::computed(g_.op(id), source(0), source(1), source(2));
    }
    const auto is = [&](Id id, auto f) { return (values_[id].known & 1) != 0 && f(values_[id].value[0]); };
    const auto is_zero = [](std::int64_t v) { return v == 0; };
    const auto is_set = [](std::int64_t v) { return v != 0; };
    return std::ranges::all_of(m_.holds.zero, [&](Id z) { return is(z, is_zero); }) &&
           std::ranges::all_of(m_.holds.nonzero, [&](Id n) { return is(n, is_set); }) &&
           std::ranges::all_of(m_.holds.either, [&](Id c) { return is(c, is_set); }) &&
           std::ranges::all_of(m_.holds.nonnegative, [&](Id f) { return is(f, [](std::int64_t v) { return v >= 0; }); }) &&
           std::ranges::all_of(
               m_.holds.multiples,
               [&](const Multiple& x) { return is(x.value, [&](std::int64_t v) { return v % x.modulus == 0; }); }) &&
           std::ranges::any_of(m_.axes, [&](const auto& a) { return (*this)[a.first] != (*this)[a.second]; }) &&
           std::ranges::all_of(m_.shared, [&](const DependenceProblem::SharedValue& t) { return agrees(t); });
  }

  bool agrees(const DependenceProblem::SharedValue& t) const {
    return (*this)[t.first] == (*this)[t.second] ||
           std::ranges::any_of(t.axes, [&](std::size_t a) { return (*this)[m_.axes[a].first] != (*this)[m_.axes[a].second]; });
  }

  bool choose(Id id, int choice) {
    std::int64_t first = 0, last = 0;
    if (g_.op(id) == Op::RANGE) {
      const Samples::Values& end = values_[g_.end(id)];
      if ((end.known & 1) == 0) return false;
      last = end.value[0] - 1;
    } else if (g_.name(id).starts_with(wraps_prefix)) {
      if (choice > 0) return false;  // arithmetic wraps at large values only
    } else {
      const SymFact f = facts_.of(g_.name(id));
      if (f.multiple_of > 1) {
        values_[id] = Samples::constant(f.multiple_of * (choice + 1));
        return f.multiple_of * (choice + 1) >= f.min && f.multiple_of * (choice + 1) <= f.max;
      }
      first = std::max<std::int64_t>(f.min, g_.name(id).starts_with("$") ? 0 : 2), last = std::max(first, f.max);
      if (f.max < first) first = last = f.max;
    }
    if (g_.op(id) != Op::RANGE) last = std::min(last, first + 100);
    const std::array<std::int64_t, choices> near = {first, first + 1, first + 2, last, last - 1, first + 5, first + 3};
    const std::int64_t v = nth(near, choice);
    if (v < first || v > last || std::ranges::find(near.begin(), near.begin() + choice, v) != near.begin() + choice)
      return false;
    values_[id] = Samples::constant(v);
    return true;
  }

  const Graph& g_;
  const Facts& facts_;
  const DependenceProblem& m_;
  std::vector<Id> nodes_, variables_;
  std::vector<int> choices_;             // by variable: number of its choice
  std::vector<std::size_t> order_;       // indices of variables; the last one changes most often
  std::vector<Samples::Values> values_;  // by node: its value in this combination
};

}  // namespace

std::optional<ProblemValues> example_of(const Graph& g, const Facts& facts, const DependenceProblem& m,
                                        const std::function<bool(const ProblemValues&)>& is_real) {
  return Trials(g, facts, m).found(is_real);
}

}  // namespace kiln::compiler
