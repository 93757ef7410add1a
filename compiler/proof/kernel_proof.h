// kernel_claims: states the memory safety of a kernel as questions for Z3.
//
// Before: a kernel of the schedule.
// After: claims that must hold. For each access: it stays inside its buffer. For each pair of accesses: iterations that may
//   run in any order do not store to one element.
// Assumptions: the facts of the symbols hold. A load happens if the loops of its own index have an iteration, even if a loop
//   around the load is empty. Loaded indices may be any integer.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/schedule.h"
#include "compiler/proof/solver.h"

namespace kiln::compiler {

struct Claim {
  std::string text;    // "k0 load of buffer 2 at i*W + j inside"
  std::string script;  // satisfiable if the claim is false
  std::string linear;  // the same question with opaque products; if it is unsatisfiable, so is `script`
};

// The claims: each load and store is inside its buffer. Two iterations of a store, and two stores to one buffer, access
// different elements. A stored element is loaded only by the iteration that stores it. Adds nodes to the graph. Throws
// Diagnostic E-prove for an index that has no form for the solver.
std::vector<Claim> kernel_claims(Graph& g, const Schedule& s, const Kernel& k);

}  // namespace kiln::compiler
