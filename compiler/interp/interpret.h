// The reference interpreter: evaluates the unoptimised tensor graph node by node on whole arrays. It shares no code with the
// passes except differentiate, which runs first. Transcendental operations use the same expansions as the compiler.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/interp/array.h"
#include "compiler/ir/program.h"

namespace kiln::compiler {

// arguments: one for each parameter; an `out` parameter needs only extents. Returns one array for each parameter: the final
// contents of out and inout parameters, and empty arrays for `in`. Throws Diagnostic E-argument (count, dtype, rank, size),
// E-conflict (a shared extent has two values) or E-fact (a declared fact does not hold).
std::vector<Array> interpret(Graph& g, const Program& p, std::span<const Array> arguments);

// The values of the program's symbols, from the arguments' extents. Same errors.
std::map<std::string, std::int64_t> bind_symbols(const Graph& g, const Program& p, std::span<const Array> arguments);

}  // namespace kiln::compiler
