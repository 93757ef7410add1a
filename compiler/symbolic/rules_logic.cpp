#include <algorithm>

#include "compiler/symbolic/rules.h"

namespace kiln::compiler::symbolic {
namespace {

constexpr std::size_t max_clauses = 64;

// The clauses of a left-nested chain, as the chain's rebuild leaves them.
std::vector<Id> clauses_of(const Graph& g, Id n) {
  std::vector<Id> out;
  const Op op = g.op(n);
  for (; g.op(n) == op && out.size() <= max_clauses; n = g.src(n, 0)) out.push_back(g.src(n, 1));
  out.push_back(n);
  return out;
}

// x and not x = false; x or not x = true
Id complement(RewriteContext& c, Id n) {
  if (!is_bool(c.g, n)) return no_id;
  const auto all = clauses_of(c.g, n);
  if (all.size() > max_clauses) return no_id;
  for (Id id : all)
    if (c.g.op(id) == Op::NOT && std::ranges::find(all, c.g.src(id, 0)) != all.end()) return truth(c.g, c.g.op(n) == Op::OR);
  return no_id;
}

struct Limit {
  Id clause;
  Sum variables;
  std::int64_t limit;  // variables < limit
};

std::vector<Limit> limits_of(const Graph& g, std::span<const Id> all) {
  std::vector<Limit> out;
  for (Id id : all) {
    if (g.op(id) != Op::LT || !compares_index(g, id)) continue;
    const auto a = sum_of(g, g.src(id, 0)), b = sum_of(g, g.src(id, 1));
    auto d = a && b ? plus(g, *a, *b, -1) : std::nullopt;
    if (!d || d->empty() || constant_term(*d) < -unbounded || constant_term(*d) > unbounded) continue;
    const std::int64_t k = constant_term(*d);
    if (k != 0) d->pop_back();
    out.push_back({id, *std::move(d), -k});
  }
  return out;
}

// Of x < 3 and x < 5 one is enough; x < 3 and x > 5 never hold together, x < 5 or x > 3 always does.
Id combine_limits(RewriteContext& c, Id n) {
  if (!is_bool(c.g, n)) return no_id;
  const bool all_of = c.g.op(n) == Op::AND;
  const auto all = clauses_of(c.g, n);
  if (all.size() > max_clauses) return no_id;
  const auto limits = limits_of(c.g, all);
  std::vector<Id> dropped;
  for (const Limit& a : limits)
    for (const Limit& b : limits) {
      if (a.clause == b.clause) continue;
      if (a.variables == b.variables && (all_of ? a.limit <= b.limit : a.limit >= b.limit)) dropped.push_back(b.clause);
      const auto negated = scaled(a.variables, -1);
      if (!negated || *negated != b.variables) continue;  // b: variables of a >= 1 - limit of b
      if (all_of && 1 - b.limit > a.limit - 1) return truth(c.g, false);
      if (!all_of && 1 - b.limit <= a.limit) return truth(c.g, true);
    }
  if (dropped.empty()) return no_id;
  Id rest = no_id;
  for (Id id : all)
    if (std::ranges::find(dropped, id) == dropped.end()) rest = rest == no_id ? id : c.g.make(c.g.op(n), DType::boolean, {rest, id});
  return rest;
}

Id not_not(RewriteContext& c, Id n) {
  if (!is_bool(c.g, n)) return no_id;
  const Id a = c.g.src(n, 0);
  if (c.g.is_const(a)) return truth(c.g, c.g.arg(a, 0) == 0);
  return c.g.op(a) == Op::NOT ? c.g.src(a, 0) : no_id;
}

// not (a < b) = b <= a, for index values
Id not_comparison(RewriteContext& c, Id n) {
  const Id a = c.g.src(n, 0);
  if (!is_bool(c.g, n) || !compares_index(c.g, a)) return no_id;
  const Id x = c.g.src(a, 0), y = c.g.src(a, 1);
  switch (c.g.op(a)) {
    case Op::LT: return c.g.make(Op::LE, DType::boolean, {y, x});
    case Op::LE: return c.g.make(Op::LT, DType::boolean, {y, x});
    case Op::EQ: return c.g.make(Op::NE, DType::boolean, {x, y});
    case Op::NE: return c.g.make(Op::EQ, DType::boolean, {x, y});
    default: return no_id;
  }
}

Id xor_constant(RewriteContext& c, Id n) {
  if (!is_bool(c.g, n)) return no_id;
  const Id a = c.g.src(n, 0), b = c.g.src(n, 1);
  if (a == b) return truth(c.g, false);
  for (const auto& [k, x] : {std::pair{a, b}, std::pair{b, a}}) {
    if (is_false(c.g, k)) return x;
    if (is_true(c.g, k)) return c.g.make(Op::NOT, DType::boolean, {x});
  }
  return no_id;
}

constexpr Rule rules[] = {
    {"not-not", Op::NOT, not_not},
    {"not-comparison", Op::NOT, not_comparison},
    {"and-complement", Op::AND, complement},
    {"or-complement", Op::OR, complement},
    {"and-limits", Op::AND, combine_limits},
    {"or-limits", Op::OR, combine_limits},
    {"xor-constant", Op::XOR, xor_constant},
};

}  // namespace

std::span<const Rule> logic_rules() { return rules; }

}  // namespace kiln::compiler::symbolic
