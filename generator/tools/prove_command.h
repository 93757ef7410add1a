// `kiln-opt prove`: the claims of compiler/proof/kernel_proof.h for every kernel of some programs, put to Z3.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "compiler/proof/solver.h"

namespace kiln::generator {

// Files of graph text, or folders of which every .kiln is taken. Claims that are not proven, one line each, then the sums. True
// when all are proven. Equal questions are asked once.
bool prove_files(const std::vector<std::string>& files, unsigned jobs, compiler::SolverLimits limits, std::ostream& out);

}  // namespace kiln::generator
