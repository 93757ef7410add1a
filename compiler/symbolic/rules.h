// The rule families of simplify(), in order of trial, and the chains it rewrites as a whole.
#pragma once

#include <span>

#include "compiler/symbolic/linear.h"
#include "compiler/symbolic/rewrite.h"

namespace kiln::compiler::symbolic {

std::span<const Rule> algebra_rules();          // sums, products, min, max, where
std::span<const Rule> divmod_rules();           // floor division and remainder by constants
std::span<const Rule> divmod_symbolic_rules();  // by anything, through proofs
std::span<const Rule> compare_rules();          // comparisons of index values
std::span<const Rule> logic_rules();            // and, or, not, xor

std::span<const Chain> simplify_chains();       // index sums; conjunctions; disjunctions

inline Id truth(Graph& g, bool v) { return g.constant(DType::boolean, v ? 1 : 0); }
inline bool is_index(const Graph& g, Id id) { return g.dtype(id) == DType::index && g.lanes(id) == 1; }
inline bool is_bool(const Graph& g, Id id) { return g.dtype(id) == DType::boolean && g.lanes(id) == 1; }
inline bool is_true(const Graph& g, Id id) { return is_bool(g, id) && g.is_const(id) && g.arg(id, 0) != 0; }
inline bool is_false(const Graph& g, Id id) { return is_bool(g, id) && g.is_const(id) && g.arg(id, 0) == 0; }
// A comparison whose operands are index values.
inline bool compares_index(const Graph& g, Id id) {
  return is_comparison(g.op(id)) && g.lanes(id) == 1 && g.dtype(g.src(id, 0)) == DType::index;
}
inline Id make(Graph& g, Op op, Id a, Id b) { return g.make(op, DType::index, {a, b}); }

}  // namespace kiln::compiler::symbolic
