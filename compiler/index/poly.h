// Polynomials with integer coefficients: the form in which index arithmetic is simplified and proven. The variables, called
// atoms, are nodes of a graph that are neither sum nor product. The order of atoms is an argument here: `less(a, b)` says
// whether a comes first.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/index/atoms.h"
#include "compiler/index/block_pool.h"

namespace kiln::compiler {

struct Monomial {
  std::int64_t coefficient = 0;
  Atoms atoms;  // in order; empty: the constant term
  bool operator==(const Monomial&) const = default;
};
// Canonical: of higher degree first, the constant last; no zero coefficients, no two monomials with the same atoms. Empty is 0.
using Poly = std::vector<Monomial, PoolAllocator<Monomial>>;

std::optional<std::int64_t> constant_of(const Poly& p);  // the constant, if there is no other term
std::int64_t constant_term(const Poly& p);
Poly constant_sum(std::int64_t c);

// p = factor * atom + rest. square: the atom occurs twice in a term, so that `factor` contains it.
struct SplitAt {
  Poly factor, rest;
  bool square = false;
};
SplitAt split_at(const Poly& p, Id atom);

std::optional<Poly> scale_terms(Poly p, std::int64_t by);  // nullopt: overflow

template <class Less>
int compare_atoms(const Less& less, const Atoms& a, const Atoms& b) {  // < 0: a comes first
  if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) return less(a[i], b[i]) ? -1 : 1;
  return 0;
}

// Sorts and merges terms, and drops zeros. False: overflow, and the polynomial is unusable.
template <class Less>
bool normalise_terms(const Less& less, Poly& p) {
  const auto first = [&](const Monomial& a, const Monomial& b) { return compare_atoms(less, a.atoms, b.atoms) < 0; };
  if (!std::ranges::is_sorted(p, first)) std::ranges::sort(p, first);
  std::size_t n = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (n > 0 && p[n - 1].atoms == p[i].atoms) {
      if (__builtin_add_overflow(p[n - 1].coefficient, p[i].coefficient, &p[n - 1].coefficient)) return false;
    } else {
      if (n > 0 && p[n - 1].coefficient == 0) --n;
      if (n != i) p[n] = std::move(p[i]);
      ++n;
    }
  }
  if (n > 0 && p[n - 1].coefficient == 0) --n;
  p.resize(n);
  return true;
}

// a + times_b * b, for canonical polynomials. nullopt: overflow.
template <class Less>
std::optional<Poly> add_terms(const Less& less, const Poly& a, const Poly& b, std::int64_t times_b = 1) {
  if (times_b == 0) return a;
  Poly p;
  p.reserve(a.size() + b.size());
  auto x = a.begin();
  for (const Monomial& m : b) {
    int order = 1;
    while (x != a.end() && (order = compare_atoms(less, x->atoms, m.atoms)) < 0) p.push_back(*x++);
    std::int64_t k = 0;
    if (__builtin_mul_overflow(m.coefficient, times_b, &k)) return std::nullopt;
    if (x != a.end() && order == 0 && __builtin_add_overflow(k, (x++)->coefficient, &k)) return std::nullopt;
    if (k != 0) p.push_back({k, m.atoms});
  }
  p.insert(p.end(), x, a.end());
  return p;
}

// a * b. nullopt: overflow.
template <class Less>
std::optional<Poly> multiply_terms(const Less& less, const Poly& a, const Poly& b) {
  if (a.size() == 1 && a.front().atoms.empty()) return scale_terms(b, a.front().coefficient);
  if (b.size() == 1 && b.front().atoms.empty()) return scale_terms(a, b.front().coefficient);
  Poly p;
  p.reserve(a.size() * b.size());
  for (const Monomial& x : a)
    for (const Monomial& y : b) {
      Monomial m{0, x.atoms};
      if (__builtin_mul_overflow(x.coefficient, y.coefficient, &m.coefficient)) return std::nullopt;
      m.atoms.append(y.atoms.begin(), y.atoms.end());
      std::ranges::sort(m.atoms, less);
      p.push_back(std::move(m));
    }
  if (!normalise_terms(less, p)) return std::nullopt;
  return p;
}

}  // namespace kiln::compiler
