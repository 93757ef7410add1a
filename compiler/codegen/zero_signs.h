// Minima and maxima of floats whose users give the same numbers for both zeros.
//
// Before: in a MIN or MAX, -0 is below +0, which costs an instruction of the machine, because its own extremum of two zeros
//   is the second operand.
// After: where no user can tell a zero from the other, the result may be either. A user cannot: it adds a constant that is
//   not 0, multiplies and adds such a constant, compares, casts to an integer or bool, or takes the absolute value. Or its
//   own result changes only from one zero to the other, and its own users cannot tell.
// Requires: each node has a larger number than its sources.
// Example: max(x, y) - 0.1  ->  either zero of max(+0, -0) gives -0.1
//
// The machine's extremum also returns its second operand if either is a NaN, so one test of the first operand suffices. Extrema
// that test the same operand share the test. So tested() takes the operand that an outer loop computes, else the one that more
// such extrema have, else the one with the smaller number.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/loop_scopes.h"

namespace kiln::compiler {

class ZeroSigns {
 public:
  ZeroSigns(const Graph& g, const Scopes& scopes);

  // Whether the sign of a zero that the node, a float, gives matters.
  bool matters(Id node) const { return !unseen_[node]; }
  // The operand of a MIN or MAX that is tested for NaN: 0 or 1.
  std::size_t tested(Id extremum) const;

 private:
  // Whether the result of the user is the same for both zeros of the operand.
  bool hides(Id user, std::size_t operand) const;

  const Graph& g_;
  const Scopes& scopes_;
  std::vector<bool> unseen_;  // by node: no user sees the sign of its zeros
  std::vector<int> extrema_;  // by node: the MINs and MAXs of any zero that have it as an operand
};

}  // namespace kiln::compiler
