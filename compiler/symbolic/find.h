// Helpers for the `find` functions of rules.
#pragma once

#include <algorithm>
#include <numeric>

#include "compiler/symbolic/rules.h"

namespace kiln::compiler::symbolic {

// The operands of an index division as sums. by: the divisor if it is a constant of at least 2, else 0.
struct Division {
  const Poly* x = nullptr;
  const Poly* d = nullptr;
  std::int64_t by = 0;
  Id divisor = no_id;  // the node of d
  explicit operator bool() const { return x != nullptr; }
};
inline Division division(RewriteContext& c, Id n) {
  if (!is_index(c.g, n)) return {};
  const auto [numerator, divisor] = c.g.operands<2>(n);
  const Poly* d = c.sum(divisor);
  if (d == nullptr || d->empty()) return {};
  const Poly* x = c.sum(numerator);
  if (x == nullptr) return {};
  const std::int64_t k = constant_of(*d).value_or(0);
  return {x, d, k >= 2 && k <= unbounded ? k : 0, divisor};
}

// Whether the node is a WHERE that is no gated index.
inline bool is_plain_choice(const Graph& g, Id id) { return g.op(id) == Op::WHERE && !is_gated(g, id); }

// q = a / b for monomials; false: b does not divide a.
bool divide_term(const Graph& g, const Monomial& a, const Monomial& b, Monomial& q);

// The greatest monomial that divides `with` and every term of s.
Monomial common(const Graph& g, const Poly& s, Monomial with);
inline bool is_one(const Monomial& t) { return t.coefficient == 1 && t.atoms.empty(); }
Poly divided_by(const Graph& g, const Poly& s, const Monomial& by);

// The term with one atom less, or with one more.
Monomial without(Monomial t, Id atom);
Monomial with(const Graph& g, Monomial t, Id atom);

// Whether every term of part is a term of s.
inline bool contains(const Poly& s, const Poly& part) {
  return std::ranges::all_of(part, [&](const Monomial& p) { return std::ranges::find(s, p) != s.end(); });
}
inline bool divides(std::int64_t c, const Poly& s) {
  return c != 0 && std::ranges::all_of(s, [&](const Monomial& t) { return t.coefficient % c == 0; });
}
inline Poly exactly_divided(Poly s, std::int64_t by) {
  for (Monomial& t : s) t.coefficient /= by;
  return s;
}

}  // namespace kiln::compiler::symbolic
