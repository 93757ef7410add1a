// Equations: refutes, splits or solves one equation, sum == 0, of a dependence problem.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "compiler/symbolic/linear.h"
#include "compiler/symbolic/prover.h"

namespace kiln::compiler {

struct DependenceProblem;

class Equations {
 public:
  Equations(Graph& g, Bounds& bounds, const DependenceProblem& m);

  // Whether the sum is never 0, by its bounds, the gcd of its coefficients (GCD test), its congruence or a proof of its sign.
  bool never_zero(const Poly& s);
  // Simpler equations that together are equivalent to this one: s*x + y == 0 with |y| < s gives x == 0 and y == 0.
  std::optional<std::vector<Id>> parts(const Poly& s);
  // Whether a <= b, by a proof that may use one condition of the DependenceProblem.
  bool not_above(Id a, Id b);
  // A range of the equation, and the value that it must have.
  std::optional<std::pair<Id, Id>> solution(const Poly& s);

 private:
  std::optional<std::vector<Id>> without_factor(const Poly& s);
  std::optional<std::vector<Id>> mixed_radix(const Poly& s);
  std::optional<std::vector<Id>> delinearised(const Poly& s, const Monomial& size);
  std::optional<std::vector<Id>> inverted(const Poly& s);
  std::optional<std::pair<Id, Id>> solved_for(const Poly& s, std::size_t term);
  bool contains(Id root, Id range) const;
  int rank(Id range) const;

  Graph& g_;
  Bounds& bounds_;
  const DependenceProblem& m_;
  symbolic::Prover prover_;
};

}  // namespace kiln::compiler
