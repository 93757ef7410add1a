// IntegerSystem: linear equations, inequalities and disequalities over integers, and a proof that they have no solution.
//
// Algorithm: equations are eliminated as in the Omega test (Pugh, 1991). Inequalities are eliminated by Fourier-Motzkin, with
// integer tightening: each row is divided by the gcd of its coefficients, and its constant is rounded down. Each disequality is
// split into < and >. All steps keep every integer solution, so a proof is always right. The proof is not complete: rows that
// overflow are dropped, and a system that grows too large is given up.
// Example: 2*x - 2*y == 1 has no solution, because the gcd 2 does not divide 1.
#pragma once

#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

namespace kiln::compiler {

class IntegerSystem {
 public:
  struct Row {                                        // sum of coefficient * variable, plus a constant
    std::vector<std::pair<int, std::int64_t>> terms;  // {variable, coefficient}, variables ascending, no coefficient 0
    std::int64_t constant = 0;
    auto operator<=>(const Row&) const = default;
  };

  int variable() { return variables_++; }  // a new one
  void add_zero(Row r) { zero_.push_back(std::move(r)); }
  void add_nonnegative(Row r) { nonnegative_.push_back(std::move(r)); }
  void add_nonzero(Row r) { nonzero_.push_back(std::move(r)); }

  // True: no values of the variables satisfy all rows. False: not shown.
  bool is_impossible() const;

 private:
  friend class Elimination;
  int variables_ = 0;
  std::vector<Row> zero_, nonnegative_, nonzero_;
};

// Adds times * b to a. False: overflow, and a is unchanged.
bool add_row(IntegerSystem::Row& a, const IntegerSystem::Row& b, std::int64_t times);

}  // namespace kiln::compiler
