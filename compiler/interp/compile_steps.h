// Translates a graph into the steps that the interpreter runs.
#pragma once

#include <map>
#include <string>

#include "compiler/interp/math.h"
#include "compiler/interp/steps.h"

namespace kiln::compiler {

// Requires: the graph below `sink` is verified. Transcendental operations of rank 0 are expanded into basic operations.
StepProgram compile_steps(Graph& g, Id sink, const std::map<std::string, std::int64_t>& symbols, MathEvaluator& math);

}  // namespace kiln::compiler
