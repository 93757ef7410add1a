// Runs Z3 as a child process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kiln::compiler {

struct SolverLimits {
  int seconds = 40;  // of CPU time, so that a busy machine finds the same proofs
  int megabytes = 2048;
};

enum class Answer { unsat, sat, unknown };

struct Solution {
  Answer answer = Answer::unknown;
  std::vector<std::int64_t> values;  // values of get-value, in order, up to the first that does not fit 64 bits
};

// Runs `z3` on a script in SMT-LIB. Throws Diagnostic E-solver if it cannot be started or its answer cannot be read.
Solution solve(const std::string& script, SolverLimits limits);

// The number of first questions of the script to which the answer is unsat.
std::size_t first_unsat(const std::string& script, SolverLimits limits);

}  // namespace kiln::compiler
