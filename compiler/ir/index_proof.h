// The proof search behind index_bounds.h. A polynomial is >= 0 when it has no negative term once every atom starts at 0.
// Otherwise one atom at a time (a quotient, a remainder, a minimum, a maximum, a symbol with a greatest value) is replaced by
// the end of its range that makes the polynomial smallest.
#pragma once

#include <map>

#include "compiler/ir/index_bounds.h"
#include "compiler/ir/index_poly.h"

namespace kiln::compiler {

class IndexProof {
 public:
  IndexProof(const Graph& g, std::span<const SymbolFacts> facts) : g_(g), facts_(facts) {}

  // False: not proven. An overflow of 64 bits proves nothing.
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
  Poly source(Id atom, std::size_t i) const { return poly_of(g_, g_.src(atom, i)); }

  const Graph& g_;
  std::span<const SymbolFacts> facts_;
  std::map<Id, std::optional<std::int64_t>> least_;  // looked up only
  int budget_ = 0;                                   // polynomials still to be tried
  int nesting_ = 0;                                  // of atoms in atoms
};

}  // namespace kiln::compiler
