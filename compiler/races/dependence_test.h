// is_impossible: a dependence test. It shows that two work items touch the same element only if they are one work item.
//
// Before: a DependenceProblem, the system that would hold if two work items touched one element: their indices are equal on
//   each axis of the memory, and the conditions of both accesses hold.
// After: true if no values satisfy the system, except values where both work items agree on all axes. False: not shown.
// Algorithm: each equation is refuted (by its bounds, by the GCD test, by its congruence), or split by delinearisation (Maslov,
//   1992: s*x + y == 0 with |y| < s means x == 0 and y == 0), or solved for a range, which is then substituted everywhere. When
//   no step is left, the linear rows go to the Omega test (integer_system.h). At last, cases are split: on conditions,
//   alternatives, wraps, sides of minima, p = m*q + r, and the order of the work items (direction <, = or >).
// Example: y(2*i) and y(2*i + 1). 2*i - 2*i' - 1 == 0 has no solution, because the gcd 2 does not divide 1.
// Cost: bounded by the numbers of rounds, of nested splits, of cases and of rows.
#pragma once

#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/races/index_forms.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

struct DependenceProblem {
  // The two names of a value that depends on these axes only: equal if the work items agree on the axes.
  struct SharedValue {
    Id first, second;
    std::vector<std::size_t> axes;
  };
  Conditions holds;
  std::vector<std::pair<Id, Id>> axes;  // by axis of the kernel: the indices of both work items
  std::vector<SharedValue> shared;
};

bool is_impossible(Graph& g, const Facts& facts, DependenceProblem m);

}  // namespace kiln::compiler
