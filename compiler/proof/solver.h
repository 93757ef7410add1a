// Z3 as a child process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kiln::compiler {

struct SolverLimits {
  int seconds = 40;  // of the clock: a busy machine needs many times what a quiet one does
  int megabytes = 2048;
};

enum class Answer { unsat, sat, unknown };

struct Solution {
  Answer answer = Answer::unknown;
  std::vector<std::int64_t> values;  // of get-value, in order; fewer when one does not fit
};

// Runs `z3` on a script in SMT-LIB. Throws Diagnostic E-solver when it cannot be started or its answer cannot be read.
Solution solve(const std::string& script, SolverLimits limits);

// Whether all `count` questions of the script are answered with unsat.
bool all_unsat(const std::string& script, std::size_t count, SolverLimits limits);

}  // namespace kiln::compiler
