// `kiln-opt prove`: asks Z3 the claims of compiler/proof/kernel_proof.h for every kernel of some programs.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "compiler/proof/solver.h"

namespace kiln::generator {

// files: graph texts, or folders, of which every .kiln is taken. Prints each claim that is not proven on a line, then the
// totals. Returns whether all are proven. Equal questions are asked once.
bool prove_files(const std::vector<std::string>& files, unsigned jobs, compiler::SolverLimits limits, std::ostream& out);

}  // namespace kiln::generator
