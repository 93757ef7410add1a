// LinearProblem: writes a dependence problem (DependenceProblem) as linear rows over integers and asks IntegerSystem for a
// contradiction.
//
// An index value that is not a sum becomes a variable, and so does each product of these values. Rows state the facts about
// each variable: its bounds, x == d*q + r and 0 <= r < d for divisions, both sides of minima and maxima, ends of ranges,
// multiples. Products get the inequalities of McCormick (1976): a product of two values that are >= 0 is >= 0.
// Example: for a product i*N with 0 <= i and N >= 1, the row of i*(N - 1) >= 0 is i*N - i >= 0.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "compiler/races/integer_system.h"
#include "compiler/symbolic/linear.h"

namespace kiln::compiler {

struct DependenceProblem;

class LinearProblem {
 public:
  // bounds: their facts include the conditions of the problem.
  LinearProblem(Graph& g, Bounds& bounds, const DependenceProblem& m) : g_(g), bounds_(bounds), m_(m) {}

  // True: no values satisfy the problem, except at work items that agree on all axes. False: not shown.
  bool is_impossible();

 private:
  using Row = IntegerSystem::Row;
  using Terms = std::vector<Id>;  // the factors of a product; a single value is its own only factor

  std::optional<Row> row(const Poly& s);
  std::optional<Row> row(Id index);
  int variable(const Atoms& atoms);
  void add_nonnegative(const std::optional<Poly>& s);
  void add_zero(const std::optional<Poly>& s);
  void define_pending();
  void define(const Terms& factors, int variable);
  void define_value(Id value);
  void define_division(Id value);
  void define_product(Id a, Id b);
  bool some_axis_differs(const IntegerSystem& same) const;

  static constexpr std::size_t most_variables = 150;
  Graph& g_;
  Bounds& bounds_;
  const DependenceProblem& m_;
  IntegerSystem system_;
  std::map<Terms, int> variables_;
  std::vector<Terms> pending_;  // variables without rows so far
  std::vector<Row> apart_;      // by axis: the distance of the two work items
};

}  // namespace kiln::compiler
