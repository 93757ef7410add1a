// `kiln-opt prove`: asks Z3 about the claims of compiler/proof/kernel_proof.h for every kernel of some programs.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "compiler/proof/solver.h"

namespace kiln::generator {

// files: graph texts, and folders with files *.kiln. Prints a line for each claim that is not proven, then the totals.
// Returns whether all claims are proven. Equal questions are asked once.
bool prove_files(const std::vector<std::string>& files, unsigned jobs, compiler::SolverLimits limits, std::ostream& out);

}  // namespace kiln::generator
