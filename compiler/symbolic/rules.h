// The rules of simplify() by family, in order of trial, and the chains that it rewrites as a whole.
#pragma once

#include <span>

#include "compiler/symbolic/linear.h"
#include "compiler/symbolic/rewrite_engine.h"

namespace kiln::compiler::symbolic {

std::span<const Rule> algebra_rules();  // known values, min, max, abs, division toward zero
std::span<const Rule> where_rules();
std::span<const Rule> divmod_rules();    // floor division and remainder
std::span<const Rule> sum_rules();       // related terms of a sum
std::span<const Rule> compare_rules();   // comparisons of index values
std::span<const Rule> bit_rules();       // shifts, and, or, xor of index values
std::span<const Rule> logic_rules();     // and, or, not, xor of conditions
std::span<const Rule> concrete_rules();  // not in simplify(): for code on integers of a fixed width

std::span<const std::span<const Rule>> simplify_families();
std::span<const Chain> simplify_chains();  // index sums; products; conjunctions; disjunctions
std::span<const Rule> all_rules();         // of every family

inline Id truth(Graph& g, bool v) { return g.constant(DType::boolean, v ? 1 : 0); }
inline bool is_index(const Graph& g, Id id) { return g.dtype(id) == DType::index && g.lanes(id) == 1; }
// Whether the node is a gated index. Its bounds hold only where the gate is true, so a constant must not replace it.
inline bool is_gated(const Graph& g, Id id) {
  if (g.op(id) != Op::WHERE) return false;
  const auto [condition, yes, no] = g.operands<3>(id);
  return g.op(yes) == Op::INVALID || g.op(no) == Op::INVALID;
}
inline bool is_bool(const Graph& g, Id id) { return g.dtype(id) == DType::boolean && g.lanes(id) == 1; }
inline bool is_true(const Graph& g, Id id) { return is_bool(g, id) && g.is_const(id) && g.value(id) != 0; }
inline bool is_false(const Graph& g, Id id) { return is_bool(g, id) && g.is_const(id) && g.value(id) == 0; }
// Whether the node is a comparison of index values.
inline bool compares_index(const Graph& g, Id id) {
  return is_comparison(g.op(id)) && g.lanes(id) == 1 && g.dtype(g.src(id, 0)) == DType::index;
}

}  // namespace kiln::compiler::symbolic
