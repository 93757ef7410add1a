// The arguments of a call give the program's symbols their values. Axes whose extent is one symbol, such as N, come first,
// in the order of parameters. Then come axes whose extent is linear in the only unknown symbol: 3*N, 2*N + 1, N + M with M
// known. The runtime's entry check (runtime/src/check.c) and the interpreter follow this order too.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/program.h"
#include "compiler/ir/schedule.h"

namespace kiln::compiler {

// The factor k of an extent k*symbol + rest, where neither k nor rest depends on the symbol; nullopt in any other form.
std::optional<Poly> slope_in(const Graph& g, Id extent, Id symbol);

// The only symbol of the extent that is not in `known`; no_id: there is none, or several.
Id open_symbol(const Graph& g, Id extent, const std::vector<Id>& known);

// The symbols that every call determines: whole extents, then extents whose slope is proven not to be 0.
std::vector<Id> given_symbols(const Graph& g, const Program& p);

// Throws E-symbol if no argument determines a declared symbol, E-limit if the program has more arguments or symbols than a call
// can have.
void check_call(const Graph& g, const Program& p);
// Throws E-limit if the schedule has more symbols that are no extents, or a kernel more buffers, than the runtime can keep.
void check_run(const Graph& g, const Schedule& s);

}  // namespace kiln::compiler
