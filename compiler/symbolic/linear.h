// The polynomials of nodes: the canonical form of index arithmetic. An atom is a node that is not a sum or product: SYM, RANGE,
// FLOORDIV, FLOORMOD, MIN, MAX, WHERE, LOAD... index_poly.h describes a polynomial as nodes. Here the order of atoms is:
// SYMs by name, RANGEs by number, others by hash. A coefficient of -2^63 counts as overflow, because it has no negation.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "compiler/index/poly.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/index_poly.h"
#include "compiler/symbolic/bounds.h"

namespace kiln::compiler::symbolic {

inline bool is_index_const(const Graph& g, Id id) {
  return g.op(id) == Op::CONST && g.dtype(id) == DType::index && g.lanes(id) == 1;
}
inline std::optional<std::int64_t> index_constant(const Graph& g, Id id) {
  if (!is_index_const(g, id)) return std::nullopt;
  return g.value(id);
}
bool atom_less(const Graph& g, Id a, Id b);

// Whether the node is ADD, SUB, NEG, or MUL with a constant.
inline bool is_linear(const Graph& g, Id id) {
  if (g.dtype(id) != DType::index || g.lanes(id) != 1) return false;
  switch (g.op(id)) {
    case Op::ADD:
    case Op::SUB:
    case Op::NEG: return true;
    case Op::MUL: {
      const auto [a, b] = g.operands<2>(id);
      return is_index_const(g, a) || is_index_const(g, b);
    }
    default: return false;
  }
}
// Splits root into sum(coefficient * leaf) + constant, where no leaf is linear. Visits each shared node once. False: overflow.
struct Linear {
  std::vector<std::pair<Id, std::int64_t>, PoolAllocator<std::pair<Id, std::int64_t>>> leaves;
  std::int64_t constant = 0;
};
bool collect(const Graph& g, Id root, Linear& out);

// The factors of a MUL and of the MULs below it; a factor may occur several times. False: more than 64.
bool factors_of(const Graph& g, Id root, Atoms& out);

// Sorts and merges terms, and drops zeros. False: a coefficient overflows, and the sum is unusable.
bool normalise(const Graph& g, Poly& s);

// The sum of a node; nullopt: overflow. Products of sums are multiplied out if the result has at most 64 terms.
std::optional<Poly> sum_of(const Graph& g, Id id);

std::optional<Poly> plus(const Graph& g, const Poly& a, const Poly& b, std::int64_t times_b = 1);
std::optional<Poly> times(const Graph& g, const Poly& a, const Poly& b);
std::optional<Poly> scaled(Poly a, std::int64_t by);

Interval interval_of(Bounds& b, const Monomial& t, std::int64_t coefficient);  // interval of coefficient * atoms
inline Interval interval_of(Bounds& b, const Monomial& t) { return interval_of(b, t, t.coefficient); }
Interval interval_of(Bounds& b, const Poly& s);

}  // namespace kiln::compiler::symbolic
