// Graph to steps.
#pragma once

#include <map>
#include <string>

#include "compiler/interp/math.h"
#include "compiler/interp/steps.h"

namespace kiln::compiler {

// Precondition: the graph below `sink` is verified. Operations that have an expansion into basic ones are expanded for rank 0.
StepProgram compile_steps(Graph& g, Id sink, const std::map<std::string, std::int64_t>& symbols, MathEvaluator& math);

}  // namespace kiln::compiler
