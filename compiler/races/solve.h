// What one equation, sum == 0, says of the ranges in it.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "compiler/symbolic/linear.h"
#include "compiler/symbolic/prover.h"

namespace kiln::compiler {

struct Meeting;

class Equations {
 public:
  Equations(Graph& g, Bounds& bounds, const Meeting& m);

  bool never_zero(const symbolic::Sum& s);
  // Equations that hold together exactly where this one does, and are simpler.
  std::optional<std::vector<Id>> parts(const symbolic::Sum& s);
  // a <= b, also as one condition of the Meeting says with little else.
  bool not_above(Id a, Id b);
  // A range and what it must be.
  std::optional<std::pair<Id, Id>> solution(const symbolic::Sum& s);

 private:
  std::optional<std::vector<Id>> without_factor(const symbolic::Sum& s);
  std::optional<std::vector<Id>> mixed_radix(const symbolic::Sum& s);
  std::optional<std::vector<Id>> digits(const symbolic::Sum& s, const symbolic::Term& size);
  std::optional<std::vector<Id>> inverted(const symbolic::Sum& s);
  std::optional<std::pair<Id, Id>> solved_for(const symbolic::Sum& s, std::size_t term);
  bool contains(Id root, Id range) const;
  int rank(Id range) const;

  Graph& g_;
  Bounds& bounds_;
  const Meeting& m_;
  symbolic::Prover prover_;
};

}  // namespace kiln::compiler
