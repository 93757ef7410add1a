#include "compiler/races/linear_problem.h"

#include <algorithm>
#include <cstdlib>

#include "compiler/races/dependence_test.h"

namespace kiln::compiler {

using namespace symbolic;

namespace {

Poly sum_of_atom(Id a) { return {{1, {a}}}; }

}  // namespace

int LinearProblem::variable(const Atoms& atoms) {
  Terms key(atoms.begin(), atoms.end());
  const auto [at, is_new] = variables_.try_emplace(key, 0);
  if (is_new) {
    at->second = system_.variable();
    pending_.push_back(std::move(key));
  }
  return at->second;
}

std::optional<IntegerSystem::Row> LinearProblem::row(const Poly& s) {
  Row out;
  for (const Monomial& t : s) {
    if (std::abs(t.coefficient) >= unbounded) return std::nullopt;
    if (t.atoms.empty())
      out.constant = t.coefficient;
    else
      out.terms.emplace_back(variable(t.atoms), t.coefficient);
  }
  std::ranges::sort(out.terms);
  return out;
}

std::optional<IntegerSystem::Row> LinearProblem::row(Id index) {
  const auto s = sum_of(g_, index);
  return s ? row(*s) : std::nullopt;
}

void LinearProblem::add_nonnegative(const std::optional<Poly>& s) {
  if (auto r = s ? row(*s) : std::nullopt) system_.add_nonnegative(*std::move(r));
}

void LinearProblem::add_zero(const std::optional<Poly>& s) {
  if (auto r = s ? row(*s) : std::nullopt) system_.add_zero(*std::move(r));
}

void LinearProblem::define_pending() {
  while (!pending_.empty()) {
    const Terms t = std::move(pending_.back());
    pending_.pop_back();
    define(t, variables_.at(t));
  }
  for (const auto& [factors, variable] : variables_)
    if (factors.size() == 2) define_product(factors[0], factors[1]);
}

void LinearProblem::define(const Terms& factors, int variable) {
  Interval i = bounds_(factors[0]);
  for (std::size_t k = 1; k < factors.size(); ++k) i = mul(i, bounds_(factors[k]));
  if (i.min > -unbounded) system_.add_nonnegative({{{variable, 1}}, -i.min});
  if (i.max < unbounded) system_.add_nonnegative({{{variable, -1}}, i.max});
  if (variables_.size() > most_variables) return;
  if (factors.size() == 1) define_value(factors[0]);
}

void LinearProblem::define_value(Id value) {
  const Poly one = sum_of_atom(value);
  switch (g_.op(value)) {
    case Op::RANGE: {
      const auto end = sum_of(g_, g_.end(value));
      const auto last = end ? plus(g_, *end, constant_sum(1), -1) : std::nullopt;
      if (last) add_nonnegative(plus(g_, *last, one, -1));
      return;
    }
    case Op::SYM: {
      const std::int64_t step = bounds_.facts().of(g_.name(value)).multiple_of;
      if (step > 1) system_.add_zero({{{variables_.at({value}), 1}, {system_.variable(), -step}}, 0});
      return;
    }
    case Op::MIN:
    case Op::MAX:
      for (const Id side : g_.operands<2>(value))
        if (const auto s = sum_of(g_, side))
          add_nonnegative(g_.op(value) == Op::MIN ? plus(g_, *s, one, -1) : plus(g_, one, *s, -1));
      return;
    case Op::FLOORDIV:
    case Op::FLOORMOD: define_division(value); return;
    default: return;
  }
}

// Adds x == d*q + r and 0 <= r < d, if d >= 1.
void LinearProblem::define_division(Id value) {
  const auto [x, d] = g_.operands<2>(value);
  const auto dividend = sum_of(g_, x), divisor = sum_of(g_, d);
  if (!dividend || !divisor || bounds_(d).min < 1) return;
  const auto product = times(g_, *divisor, sum_of_atom(g_.make(Op::FLOORDIV, DType::index, {x, d})));
  const auto rest = product ? plus(g_, *dividend, *product, -1) : std::nullopt;
  if (!rest) return;
  if (g_.op(value) == Op::FLOORMOD) return add_zero(plus(g_, *rest, sum_of_atom(value), -1));
  add_nonnegative(rest);
  const auto last = plus(g_, *divisor, constant_sum(1), -1);
  if (last) add_nonnegative(plus(g_, *last, *rest, -1));
}

// McCormick's inequalities: (a - low_a) * (b - low_b) >= 0, and the same for upper bounds. The end of a range counts as a
// bound. A row is added only if all its products are variables already.
void LinearProblem::define_product(Id a, Id b) {
  const auto ends = [&](Id x) {
    std::vector<Poly> out;  // sums that are >= 0
    const Interval i = bounds_(x);
    const Poly one = sum_of_atom(x);
    if (i.min > -unbounded)
      if (auto s = plus(g_, one, constant_sum(i.min), -1)) out.push_back(*std::move(s));
    if (g_.op(x) == Op::RANGE) {
      const auto end = sum_of(g_, g_.end(x));
      const auto last = end ? plus(g_, *end, constant_sum(1), -1) : std::nullopt;
      auto s = last ? plus(g_, *last, one, -1) : std::nullopt;
      if (s) out.push_back(*std::move(s));
    }
    return out;
  };
  const auto is_known = [&](const Monomial& t) {
    return t.atoms.empty() || variables_.contains(Terms(t.atoms.begin(), t.atoms.end()));
  };
  if (a == b)  // a*a + a >= 0 and a*a - a >= 0 for integers
    for (const std::int64_t sign : {1, -1}) add_nonnegative(Poly{{1, {a, a}}, {sign, {a}}});
  for (const Poly& s : ends(a))
    for (const Poly& t : ends(b))
      if (const auto product = times(g_, s, t); product && std::ranges::all_of(*product, is_known)) add_nonnegative(product);
}

bool LinearProblem::some_axis_differs(const IntegerSystem& same) const {
  return std::ranges::any_of(apart_, [&](const Row& r) {
    IntegerSystem one = same;
    one.add_nonzero(r);
    return !one.is_impossible();
  });
}

bool LinearProblem::is_impossible() {
  for (const Id z : m_.holds.zero)
    if (auto r = row(z)) system_.add_zero(*std::move(r));
  for (const Id f : m_.holds.nonnegative)
    if (auto r = row(f)) system_.add_nonnegative(*std::move(r));
  for (const Id n : m_.holds.nonzero)
    if (auto r = row(n)) system_.add_nonzero(*std::move(r));
  for (const Multiple& x : m_.holds.multiples)
    if (auto r = row(x.value)) {
      r->terms.emplace_back(system_.variable(), -x.modulus);
      system_.add_zero(*std::move(r));
    }
  for (const auto& [a, b] : m_.axes) {
    const auto x = sum_of(g_, a), y = sum_of(g_, b);
    const auto d = x && y ? plus(g_, *x, *y, -1) : std::nullopt;
    auto r = d ? row(*d) : std::nullopt;
    if (!r) return false;
    apart_.push_back(*std::move(r));
  }
  define_pending();
  return !some_axis_differs(system_);
}

}  // namespace kiln::compiler
