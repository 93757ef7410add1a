#include "compiler/races/solve.h"

#include <algorithm>
#include <numeric>

#include "compiler/races/dependence_test.h"
#include "compiler/symbolic/find.h"

namespace kiln::compiler {

using namespace symbolic;

namespace {

std::vector<Id> context_of(const DependenceProblem& m) {
  std::vector<Id> out = m.holds.zero;
  for (const auto& [a, b] : m.axes) out.push_back(a), out.push_back(b);
  return out;
}

std::int64_t common_factor(const Poly& s) {
  std::int64_t c = 0;
  for (const Monomial& t : s) c = std::gcd(c, t.coefficient);
  return c;
}

}  // namespace

Equations::Equations(Graph& g, Bounds& bounds, const DependenceProblem& m)
    : g_(g), bounds_(bounds), m_(m), prover_(g, bounds, context_of(m)) {}

bool Equations::never_zero(const Poly& s) {
  if (const auto c = constant_of(s)) return *c != 0;
  const Interval i = interval_of(bounds_, s);
  if (i.min > 0 || i.max < 0) return true;
  std::int64_t common = 0;
  for (const Monomial& t : s)
    if (!t.atoms.empty()) common = std::gcd(common, t.coefficient);
  if (common > 1 && constant_term(s) % common != 0) return true;
  const Congruence r = bounds_.residue(index_from(g_, s));
  if (r.stride > 1 && r.offset % r.stride != 0) return true;
  const auto negated = scaled(s, -1);
  return prover_.gt0(s) || (negated && prover_.gt0(*negated));
}

bool Equations::not_above(Id a, Id b) {
  const auto x = sum_of(g_, a), y = sum_of(g_, b);
  const auto d = x && y ? plus(g_, *y, *x, -1) : std::nullopt;
  if (!d) return false;
  return prover_.ge0(*d) || std::ranges::any_of(bounds_.relations(), [&](const Poly& fact) {
           const auto rest = plus(g_, *d, fact, -1);
           return rest && prover_.ge0(*rest);
         });
}

std::optional<std::vector<Id>> Equations::parts(const Poly& s) {
  if (const std::int64_t c = common_factor(s); c > 1) return std::vector{index_from(g_, exactly_divided(s, c))};
  if (auto x = without_factor(s)) return x;
  if (auto x = inverted(s)) return x;
  return mixed_radix(s);
}

// a * rest == 0 with a > 0 means rest == 0.
std::optional<std::vector<Id>> Equations::without_factor(const Poly& s) {
  for (const Id a : s.front().atoms) {
    if (bounds_(a).min < 1 ||
        !std::ranges::all_of(s, [&](const Monomial& t) { return std::ranges::find(t.atoms, a) != t.atoms.end(); }))
      continue;
    Poly rest = s;
    for (Monomial& t : rest) erase(t.atoms, a);
    if (normalise(g_, rest)) return std::vector{index_from(g_, rest)};
  }
  return std::nullopt;
}

// size * high + low == 0 with |low| < size means high == 0 and low == 0 (delinearisation).
std::optional<std::vector<Id>> Equations::mixed_radix(const Poly& s) {
  for (const Monomial& t : s) {
    Monomial size{std::abs(t.coefficient), {}};
    if (auto x = delinearised(s, size)) return x;
    for (const Id a : t.atoms)
      if (g_.op(a) != Op::RANGE) size = with(g_, size, a);
    if (size.atoms.empty()) continue;
    if (auto x = delinearised(s, size)) return x;
  }
  return std::nullopt;
}

std::optional<std::vector<Id>> Equations::delinearised(const Poly& s, const Monomial& size) {
  if (is_one(size)) return std::nullopt;
  Poly high, low;
  for (const Monomial& u : s) {
    Monomial q;
    if (divide_term(g_, u, size, q))
      high.push_back(q);
    else
      low.push_back(u);
  }
  if (high.empty() || low.empty() || !normalise(g_, high)) return std::nullopt;
  const Poly whole{size};
  const auto below = plus(g_, whole, low, -1), above = plus(g_, whole, low);
  if (!below || !above || !prover_.gt0(*below) || !prover_.gt0(*above)) return std::nullopt;
  return std::vector{index_from(g_, high), index_from(g_, low)};
}

// f(a) - f(b) == 0 means a - b == 0 for an injective f: xor with one value, or % n if |a - b| < n.
std::optional<std::vector<Id>> Equations::inverted(const Poly& s) {
  if (s.size() != 2 || s[0].atoms.size() != 1 || s[1].atoms.size() != 1 || s[0].coefficient != -s[1].coefficient)
    return std::nullopt;
  const Id x = s[0].atoms[0], y = s[1].atoms[0];
  const Op op = g_.op(x);
  if (op != g_.op(y) || (op != Op::XOR && op != Op::FLOORMOD)) return std::nullopt;
  const auto of_x = g_.operands<2>(x), of_y = g_.operands<2>(y);
  const auto apart = [&](Id a, Id b) { return g_.make(Op::SUB, DType::index, {a, b}); };
  if (op == Op::XOR)
    for (const std::size_t i : {0u, 1u})
      for (const std::size_t j : {0u, 1u})
        if (of_x[i] == of_y[j]) return std::vector{apart(of_x[1 - i], of_y[1 - j])};
  if (op == Op::XOR || of_x[1] != of_y[1]) return std::nullopt;
  const auto d = sum_of(g_, apart(of_x[0], of_y[0])), n = sum_of(g_, of_x[1]);
  const auto below = d && n ? plus(g_, *n, *d, -1) : std::nullopt, above = d && n ? plus(g_, *n, *d) : std::nullopt;
  if (!below || !above || !prover_.gt0(*below) || !prover_.gt0(*above)) return std::nullopt;
  return std::vector{index_from(g_, *d)};
}

bool Equations::contains(Id root, Id range) const { return std::ranges::binary_search(g_.reachable(root), range); }

// Order of preference: axes of the second work item, axes of the first one, loops.
int Equations::rank(Id range) const {
  for (const auto& [a, b] : m_.axes) {
    if (range == b) return 0;
    if (range == a) return 1;
  }
  return 2;
}

// Solves the sum for a term +-range or +-(range ^ x).
std::optional<std::pair<Id, Id>> Equations::solved_for(const Poly& s, std::size_t term) {
  const Monomial& t = s[term];
  if (t.atoms.size() != 1 || std::abs(t.coefficient) != 1) return std::nullopt;
  Poly rest = s;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(term));
  const auto negated = t.coefficient > 0 ? scaled(rest, -1) : std::optional(rest);
  if (!negated) return std::nullopt;
  const Id value = index_from(g_, *negated), atom = t.atoms[0];
  if (g_.op(atom) == Op::RANGE && !contains(value, atom)) return std::pair(atom, value);
  if (g_.op(atom) != Op::XOR) return std::nullopt;
  const auto sides = g_.operands<2>(atom);
  for (const std::size_t i : {0u, 1u}) {
    const Id range = sides[i], with = sides[1 - i];
    if (g_.op(range) == Op::RANGE && !contains(with, range) && !contains(value, range))
      return std::pair(range, g_.make(Op::XOR, DType::index, {value, with}));
  }
  return std::nullopt;
}

std::optional<std::pair<Id, Id>> Equations::solution(const Poly& s) {
  std::optional<std::pair<Id, Id>> best;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const auto found = solved_for(s, i);
    if (!found) continue;
    const int now = rank(found->first);
    if (!best || now < rank(best->first)) best = found;
  }
  return best;
}

}  // namespace kiln::compiler
