// Rules for conditions. r is the rest of a conjunction or disjunction.
#include "compiler/symbolic/find.h"

namespace kiln::compiler::symbolic {
namespace {

constexpr std::size_t max_clauses = 64;

// The clauses of a left-nested chain, which is the form that rebuild_logic makes. Empty: too many.
std::vector<Id> clauses_of(const Graph& g, Id n) {
  std::vector<Id> out;
  const Op op = g.op(n);
  while (g.op(n) == op) {
    if (out.size() == max_clauses) return {};
    const auto [rest, clause] = g.operands<2>(n);
    out.push_back(clause);
    n = rest;
  }
  out.push_back(n);
  return out;
}

Id without_clauses(RewriteContext& c, Id n, std::span<const Id> all, Id a, Id b) {
  Id rest = no_id;
  for (Id id : all) {
    if (id == a || id == b) continue;
    rest = rest == no_id ? id : c.g.make(c.g.op(n), DType::boolean, {rest, id});
  }
  return rest == no_id ? truth(c.g, c.g.op(n) == Op::AND) : rest;
}

bool find_complement(RewriteContext& c, Id n, Match& m) {
  if (!is_bool(c.g, n)) return false;
  const auto all = clauses_of(c.g, n);
  for (Id id : all) {
    if (c.g.op(id) != Op::NOT) continue;
    const Id p = c.g.operand(id);
    if (std::ranges::find(all, p) != all.end()) return m.bind({p, without_clauses(c, n, all, id, p)});
  }
  return false;
}

struct ClauseLimit {
  Id clause;
  Poly variables;
  std::int64_t limit;  // variables < limit
};

std::vector<ClauseLimit> limits_of(RewriteContext& c, std::span<const Id> all) {
  std::vector<ClauseLimit> out;
  for (Id id : all) {
    if (c.g.op(id) != Op::LT || !compares_index(c.g, id)) continue;
    const auto [left, right] = c.g.operands<2>(id);
    const Poly *a = c.sum(left), *b = c.sum(right);
    auto d = a != nullptr && b != nullptr ? plus(c.g, *a, *b, -1) : std::nullopt;
    if (!d || d->empty() || constant_term(*d) < -unbounded || constant_term(*d) > unbounded) continue;
    const std::int64_t k = constant_term(*d);
    if (k != 0) d->pop_back();
    out.push_back({id, *std::move(d), -k});
  }
  return out;
}

// Finds two limits of one value: x < a and x < b.
bool find_same(RewriteContext& c, Id n, Match& m) {
  if (!is_bool(c.g, n)) return false;
  const auto all = clauses_of(c.g, n);
  const auto limits = limits_of(c, all);
  const bool tighter = c.g.op(n) == Op::AND;
  for (const ClauseLimit& p : limits)
    for (const ClauseLimit& q : limits) {
      if (p.clause == q.clause || p.variables != q.variables || (tighter ? p.limit > q.limit : p.limit < q.limit)) continue;
      return m.bind(
          {c.node(p.variables), c.g.index(p.limit), c.g.index(q.limit), without_clauses(c, n, all, p.clause, q.clause)});
    }
  return false;
}

// Finds an upper and a lower limit of one value: x < a and b < x.
bool find_opposite(RewriteContext& c, Id n, Match& m) {
  if (!is_bool(c.g, n)) return false;
  const auto all = clauses_of(c.g, n);
  const auto limits = limits_of(c, all);
  for (const ClauseLimit& p : limits)
    for (const ClauseLimit& q : limits) {
      const auto negated = scaled(p.variables, -1);
      if (!negated || *negated != q.variables || (c.g.op(n) == Op::AND ? p.limit > 1 - q.limit : p.limit <= -q.limit)) continue;
      return m.bind(
          {c.node(p.variables), c.g.index(p.limit), c.g.index(-q.limit), without_clauses(c, n, all, p.clause, q.clause)});
    }
  return false;
}

// Finds a clause that becomes simpler if all other clauses hold (in a disjunction: do not hold).
bool find_given(RewriteContext& c, Id n, Match& m) {
  constexpr std::size_t most = 8;  // each clause is another run
  if (!is_bool(c.g, n)) return false;
  const auto all = clauses_of(c.g, n);
  if (all.size() > most) return false;
  for (Id q : all) {
    const Id p = without_clauses(c, n, all, q, q), u = c.branch_under(p, c.g.op(n) == Op::AND, q);
    if (u != q) return m.bind({p, q, u});
  }
  return false;
}

constexpr Rule logic_table[] = {
    {"not-true", "not True", "", "False"},
    {"not-false", "not False", "", "True"},
    {"not-not", "not not p", "", "p"},
    {"not-lt", "not a < b", "", "b <= a"},
    {"not-le", "not a <= b", "", "b < a"},
    {"not-eq", "not a == b", "", "a != b"},
    {"not-ne", "not a != b", "", "a == b"},
    {"and-complement", "p and not p and r", "", "False", find_complement},
    {"or-complement", "p or not p or r", "", "True", find_complement},
    {"and-limits", "x < a and x < b and r", "a <= b", "x < a and r", find_same},
    {"or-limits", "x < a or x < b or r", "b <= a", "x < a or r", find_same},
    {"and-empty", "x < a and b < x and r", "a <= b + 1", "False", find_opposite},
    {"or-all", "x < a or b < x or r", "b < a", "True", find_opposite},
    {"and-given", "p and q", "not p or q == u", "p and u", find_given},
    {"or-given", "p or q", "p or q == u", "p or u", find_given},
    {"xor-false", "p ^ False", "", "not not p"},
    {"xor-true", "p ^ True", "", "not p"},
    {"xor-same-condition", "p ^ p", "", "p and not p"},
    {"xor-not", "p ^ (not p)", "", "True"},
};

}  // namespace

std::span<const Rule> logic_rules() { return logic_table; }

}  // namespace kiln::compiler::symbolic
