// Index arithmetic with symbols that are declared multiples. For a symbol E with multiple_of 8, the quotients E // 2, E // 4
// and E // 8 are exact, so 2*(E // 2) and E are one value, and so are E + E // 2 and 3*(E // 2).
//
// The unit of E is E // 8. In units, E is 8 units and E // 2 is 4 units, and equal sums have equal terms. The settled form of
// a term has the smallest coefficient: 8 units are E, 12 units are 3*(E // 2), and 3 units are 3*(E // 8).
#pragma once

#include <optional>

#include "compiler/index/poly.h"
#include "compiler/ir/graph.h"

namespace kiln::compiler {

// The same sum in units. The atom of a symbol E with multiple_of m stands for E // m here. nullopt: a coefficient overflowed.
std::optional<Poly> in_units(const Graph& g, const Poly& p);
// From units to the settled form.
Poly from_units(Graph& g, const Poly& units);
// p in settled form; p itself if a coefficient overflowed in units.
Poly settled(Graph& g, const Poly& p);
bool is_settled(const Graph& g, const Poly& p);

}  // namespace kiln::compiler
