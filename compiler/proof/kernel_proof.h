// What a kernel must never do, put to Z3: leave a buffer, or store to one element twice.
//
// before: a kernel as the schedule has it. after: claims with verdicts. The facts of the symbols hold; a load happens wherever
// the loops of its own index do, even when a loop around it is empty; loaded indices may be any integer.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/proof/solver.h"

namespace kiln::compiler {

struct Claim {
  std::string text;    // "k0 load of buffer 2 at i*W + j inside"
  std::string script;  // satisfiable where the claim is false
  std::string linear;  // the same with opaque products: when it is unsatisfiable, so is the script
};

// Each load and store is inside its buffer; two iterations of a store, and two stores to one buffer, touch different elements;
// an element that is stored is loaded by its own iteration only. Adds nodes to the graph. Throws Diagnostic E-prove for an
// index that cannot be put to the solver.
std::vector<Claim> kernel_claims(Graph& g, const Schedule& s, const Kernel& k);

}  // namespace kiln::compiler
