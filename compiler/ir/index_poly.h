// Canonical form of tensor-level index arithmetic: equal polynomials are one node.
//
// A canonical expression is a left-nested ADD of monomials: higher degrees first, the constant last. A monomial is a
// left-nested MUL of atoms in structural order, then its coefficient if that is not 1. Atoms are SYM, and FLOORDIV,
// FLOORMOD, MIN and MAX of canonical expressions. Sums with quotients of a symbol that is a declared multiple are settled
// (index_multiples.h).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/index/poly.h"
#include "compiler/ir/graph.h"

namespace kiln::compiler {

// The polynomial of a canonical expression. An expression in another form is one atom.
Poly poly_of(const Graph& g, Id id);
Id index_from(Graph& g, const Poly& p);
Poly normalise_poly(const Graph& g, Poly p);  // sorts, merges equal monomials, drops zeros
Poly scale_poly(const Graph& g, Poly p, std::int64_t by);
Poly add_poly(const Graph& g, const Poly& a, const Poly& b);
Poly mul_poly(const Graph& g, const Poly& a, const Poly& b);
bool index_atom_less(const Graph& g, Id a, Id b);  // structural order of atoms

// Overflow of a coefficient throws Diagnostic E-overflow with the graph's current location.
Id index_add(Graph& g, Id a, Id b);
Id index_sub(Graph& g, Id a, Id b);
Id index_mul(Graph& g, Id a, Id b);
Id index_floordiv(Graph& g, Id a, Id b);  // by 0 gives 0
Id index_floormod(Graph& g, Id a, Id b);  // by 0 gives 0
Id index_min(Graph& g, Id a, Id b);
Id index_max(Graph& g, Id a, Id b);
Id index_product(Graph& g, std::span<const Id> factors);

Id index_canonical(Graph& g, Id id);  // the same value in canonical form; linear time

std::optional<std::int64_t> index_value(const Graph& g, Id id);  // the value of a constant, else nullopt

// "2*H*W + N - 1", "((N + 1) // 2)", "max(N, M)". nullopt: the text would not read back to this node, because it is not
// canonical, or is too long for one line.
std::optional<std::string> index_text(const Graph& g, Id id, std::size_t max_length = 200);
std::string index_text_or_id(const Graph& g, Id id);  // for messages: "%12" if there is no text

// "12:5" of file "a.cpp" as "a.cpp:12:5"; empty without a location.
std::string where(const Graph& g, SourceLoc loc);
// "kernels.cpp:12", without the folder, so that the text does not depend on the build folder. Empty without a location.
std::string file_and_line(const Graph& g, SourceLoc loc);

}  // namespace kiln::compiler
