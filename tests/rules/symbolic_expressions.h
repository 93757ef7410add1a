// Index and bool expressions with C++ operators, and the leaves that the examples of the rules have in common.
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"

namespace kiln::test {

using namespace compiler;

// An index or bool expression under construction.
struct E {
  Graph* g;
  Id id;
};
inline E index_of(E like, std::int64_t v) { return {like.g, like.g->index(v)}; }
inline E binary(Op op, E a, E b) { return {a.g, a.g->make(op, DType::index, {a.id, b.id})}; }
inline E boolean(Op op, E a, E b) { return {a.g, a.g->make(op, DType::boolean, {a.id, b.id})}; }
#define KILN_OPERATOR(symbol, make, op)                             \
  inline E operator symbol(E a, E b) { return make(Op::op, a, b); } \
  inline E operator symbol(E a, std::int64_t b) { return make(Op::op, a, index_of(a, b)); }
KILN_OPERATOR(+, binary, ADD)
KILN_OPERATOR(-, binary, SUB)
KILN_OPERATOR(*, binary, MUL)
KILN_OPERATOR(/, binary, FLOORDIV)
KILN_OPERATOR(%, binary, FLOORMOD)
KILN_OPERATOR(<, boolean, LT)
KILN_OPERATOR(<=, boolean, LE)
KILN_OPERATOR(==, boolean, EQ)
KILN_OPERATOR(!=, boolean, NE)
#undef KILN_OPERATOR
inline E both(E a, E b) { return boolean(Op::AND, a, b); }
inline E any(E a, E b) { return boolean(Op::OR, a, b); }
inline E no(E a) { return {a.g, a.g->make(Op::NOT, DType::boolean, {a.id})}; }
inline E min(E a, E b) { return binary(Op::MIN, a, b); }
inline E max(E a, E b) { return binary(Op::MAX, a, b); }
inline E where(E c, E a, E b) { return {a.g, a.g->make(Op::WHERE, a.g->dtype(a.id), {c.id, a.id, b.id})}; }

struct Leaves {
  E n, m, k, x, a, b, i, j, yes, invalid;  // SYMs n, m, k (a multiple of 4); RANGEs x:20, a:8, b:4, i:m, j:n
  E operator()(std::int64_t v) const { return index_of(n, v); }
};
inline Leaves leaves(Graph& g) {
  const auto range = [&](Id end, std::int64_t k) { return E{&g, g.make(Op::RANGE, DType::index, {end}, {k, 0})}; };
  const Id n = g.sym("n"), m = g.sym("m");
  return {{&g, n},
          {&g, m},
          {&g, g.sym("k")},
          range(g.index(20), 0),
          range(g.index(8), 1),
          range(g.index(4), 2),
          range(m, 3),
          range(n, 4),
          {&g, g.constant(DType::boolean, 1)},
          {&g, g.make(Op::INVALID, DType::index, std::initializer_list<Id>{})}};
}

inline Facts small_facts() {
  Facts f;
  f.syms["m"].min = 1;
  f.syms["k"].multiple_of = 4;
  return f;
}

}  // namespace kiln::test
