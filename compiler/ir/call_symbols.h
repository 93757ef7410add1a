// How a call's arguments give a program's symbols their values. First an axis whose whole extent is the symbol gives it, in
// the order of parameters; then an axis whose extent is linear in the one symbol that is still open (3*N, 2*N + 1, N + M with
// M known). The runtime's entry check (runtime/src/check.c) and the interpreter follow this order too.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/program.h"

namespace kiln::compiler {

// Limits of the runtime: KILN_MAX_ARGS, KILN_MAX_SYMBOLS, KILN_MAX_NUMBERS and KILN_MAX_BUFFERS (of a kernel).
inline constexpr std::size_t max_arguments = 256, max_extents = 64, max_numbers = 960, max_buffers = 1024;

// The factor k of an extent k*symbol + rest, where neither k nor rest depends on the symbol; nullopt in any other form.
std::optional<Poly> slope_in(const Graph& g, Id extent, Id symbol);

// The only symbol under the extent that `known` does not have, or no_id.
Id open_symbol(const Graph& g, Id extent, const std::vector<Id>& known);

// The symbols that every call gives: whole extents, then extents with a slope that the facts prove not to be 0.
std::vector<Id> given_symbols(const Graph& g, const Program& p);

// Every extent that the program declares is given by some argument (E-symbol), and a call can have as many arguments and
// symbols as the program has (E-limit).
void check_call(const Graph& g, const Program& p);
// The run can keep as many numbers, and each kernel as many buffers, as the schedule has (E-limit).
void check_run(const Graph& g, const Schedule& s);

}  // namespace kiln::compiler
