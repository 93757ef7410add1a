// The reference interpreter: evaluates the unoptimised tensor graph node by node on whole arrays. It shares no code with the
// passes; transcendentals are evaluated from the same expansion that the compiler inlines.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/interp/array.h"
#include "compiler/ir/program.h"

namespace kiln::compiler {

// arguments: one per parameter; an `out` parameter needs its extents only. Returns one array per parameter: the final contents
// of out and inout parameters, empty arrays for `in`. Throws Diagnostic E-argument (count, dtype, rank, size), E-conflict (a
// shared extent has two values) or E-fact (a declared fact does not hold).
std::vector<Array> interpret(Graph& g, const Program& p, std::span<const Array> arguments);

// Values of the program's symbols, bound from the arguments' extents. Same errors.
std::map<std::string, std::int64_t> bind_symbols(const Graph& g, const Program& p, std::span<const Array> arguments);

}  // namespace kiln::compiler
