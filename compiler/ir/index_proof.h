// The search behind index_bounds.h for a proof that a polynomial is >= 0.
//
// A polynomial is >= 0 if it has no negative term after each atom is replaced by itself plus its least value. Otherwise the
// search replaces one atom at a time (a quotient, remainder, minimum, maximum, or a symbol with a greatest value) by the end of
// its range for which the polynomial is smallest.
//
// All polynomials here are in units (index_multiples.h): the atom of a symbol E with multiple_of m stands for E // m.
#pragma once

#include <map>

#include "compiler/ir/index_bounds.h"
#include "compiler/ir/index_poly.h"

namespace kiln::compiler {

class IndexProof {
 public:
  IndexProof(const Graph& g, std::span<const SymbolFacts> facts) : g_(g), facts_(facts) {}

  // False: not proven. A polynomial whose coefficients exceed 64 bits is not proven.
  bool nonnegative(const Poly& p);

 private:
  bool ge0(const Poly& p, int depth);
  bool starts_at_0(const Poly& p);
  bool replaced(Id atom, const Poly& factor, const Poly& rest, bool lower, int depth);
  bool replaced_quotient(Id atom, const Poly& factor, const Poly& rest, bool lower, int depth);
  bool replaced_remainder(Id atom, const Poly& factor, const Poly& rest, int depth);
  bool proven_with(const Poly& factor, const Poly& value, const Poly& rest, std::int64_t scale, int depth);
  std::optional<Poly> shifted(const Poly& p);
  std::optional<std::int64_t> least(Id atom);
  std::optional<std::int64_t> derived_least(Id atom);
  std::optional<std::int64_t> least(const Poly& p);
  const SymbolFacts& facts_of(Id symbol) const;
  Poly source(Id atom, std::size_t i) const;

  const Graph& g_;
  std::span<const SymbolFacts> facts_;
  std::map<Id, std::optional<std::int64_t>> least_;  // by atom; never iterated
  int budget_ = 0;                                   // number of polynomials that the search may still try
  int nesting_ = 0;                                  // depth of atoms inside atoms
};

}  // namespace kiln::compiler
