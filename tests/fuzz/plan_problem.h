// The task graph and the memory plan of a compiled program, checked by what shares nothing with the passes that made them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "compiler/ir/program.h"
#include "kiln/program.h"

namespace kiln::compiler::testing {

// Do kernels that touch the same buffer stand in the order that the program's meaning needs? Text of the first that do not,
// else "".
std::string order_problem(const Graph& g, const Schedule& s);

// Does the object's description say what the schedule says; do temporaries begin at multiples of 64, lie within the bytes that
// the caller is told, and share none of them unless all kernels that use one end before any begins that uses the other? With
// loops: is what a kernel reads there, whatever number of turns they make?
std::string plan_problem(const Graph& g, const Schedule& s, const kiln_program_desc& d, std::span<const std::int64_t> symbols);

}  // namespace kiln::compiler::testing
