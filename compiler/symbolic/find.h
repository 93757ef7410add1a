// Helpers for the `find` functions of rules.
#pragma once

#include <algorithm>
#include <numeric>

#include "compiler/symbolic/rules.h"

namespace kiln::compiler::symbolic {

// The operands of an index division as sums. by: the divisor if it is a constant of at least 2, else 0.
struct Division {
  const Sum* x = nullptr;
  const Sum* d = nullptr;
  std::int64_t by = 0;
  explicit operator bool() const { return x != nullptr; }
};
inline Division division(RewriteContext& c, Id n) {
  if (!is_index(c.g, n)) return {};
  const Sum* d = c.sum(c.g.src(n, 1));
  if (d == nullptr || d->empty()) return {};
  const Sum* x = c.sum(c.g.src(n, 0));
  if (x == nullptr) return {};
  const std::int64_t k = constant_of(*d).value_or(0);
  return {x, d, k >= 2 && k <= unbounded ? k : 0};
}

// q = a / b for monomials; false: b does not divide a.
bool divide_term(const Graph& g, const Term& a, const Term& b, Term& q);

// The greatest monomial that divides `with` and every term of s.
Term common(const Graph& g, const Sum& s, Term with);
inline bool is_one(const Term& t) { return t.coefficient == 1 && t.atoms.empty(); }
Sum divided_by(const Graph& g, const Sum& s, const Term& by);

// The term with one atom less, or with one more.
Term without(Term t, Id atom);
Term with(const Graph& g, Term t, Id atom);

// Whether every term of part is a term of s.
inline bool contains(const Sum& s, const Sum& part) {
  return std::ranges::all_of(part, [&](const Term& p) { return std::ranges::find(s, p) != s.end(); });
}
inline bool divides(std::int64_t c, const Sum& s) {
  return c != 0 && std::ranges::all_of(s, [&](const Term& t) { return t.coefficient % c == 0; });
}
inline Sum exactly_divided(Sum s, std::int64_t by) {
  for (Term& t : s) t.coefficient /= by;
  return s;
}

}  // namespace kiln::compiler::symbolic
