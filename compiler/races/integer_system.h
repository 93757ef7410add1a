// Linear equations and inequalities over integers, and whether nothing satisfies them.
//
// The Omega test's elimination of equations, then Fourier-Motzkin elimination in which a row is divided by the common factor of
// its coefficients and its constant rounded. Both keep every integer solution; what overflows or grows too large is left out.
#pragma once

#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

namespace kiln::compiler {

class IntegerSystem {
 public:
  struct Row {                                        // a sum of variables with coefficients, and a constant
    std::vector<std::pair<int, std::int64_t>> terms;  // by variable, ascending; no coefficient is 0
    std::int64_t constant = 0;
    auto operator<=>(const Row&) const = default;
  };

  int variable() { return variables_++; }
  void add_zero(Row r) { zero_.push_back(std::move(r)); }
  void add_nonnegative(Row r) { nonnegative_.push_back(std::move(r)); }
  void add_nonzero(Row r) { nonzero_.push_back(std::move(r)); }

  // No values of the variables satisfy all rows. False means "not shown".
  bool is_impossible() const;

 private:
  friend class Elimination;
  int variables_ = 0;
  std::vector<Row> zero_, nonnegative_, nonzero_;
};

// a + times * b; false: overflow.
bool add_row(IntegerSystem::Row& a, const IntegerSystem::Row& b, std::int64_t times);

}  // namespace kiln::compiler
