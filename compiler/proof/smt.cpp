#include "compiler/proof/smt.h"

#include <algorithm>

#include "compiler/proof/smt_terms.h"

namespace kiln::compiler {
namespace {

bool uses(const Graph& g, Id root, Id variable) { return std::ranges::count(g.reachable(root), variable) > 0; }

// Replaces a variable m by e if the guard contains m == e, so that equal divisors become one term.
bool put_equal(Graph& g, Id& guard, Id& lhs, Id& rhs) {
  for (Id c : conjuncts_of(g, guard)) {
    if (g.op(c) != Op::EQ) continue;
    for (const std::size_t side : {0u, 1u}) {
      const Id variable = g.src(c, side), value = g.src(c, 1 - side);
      if (g.op(variable) != Op::SYM || uses(g, value, variable)) continue;
      for (Id* root : {&guard, &lhs, &rhs}) *root = substitute(g, *root, {{variable, value}});
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<Cases> smt_cases(ParsedRule& rule, bool everything) {
  Id guard = rule.guard, lhs = rule.lhs, rhs = rule.rhs;
  while (put_equal(rule.g, guard, lhs, rhs)) {
  }
  SmtTerms probe(rule.g);
  if (!probe.define(guard) || !probe.define(lhs) || !probe.define(rhs)) return std::nullopt;
  auto deciding = probe.deciding();
  if (deciding.empty())  // without divisions, products need the signs of their factors
    for (Id v : rule.variables)
      if (uses(rule.g, guard, v) || uses(rule.g, lhs, v) || uses(rule.g, rhs, v)) deciding.push_back(probe[v]);
  constexpr std::size_t max_deciding = 5;
  if (deciding.empty() || deciding.size() > max_deciding) return std::nullopt;
  const auto pairs = related_quotients(rule.g, {guard, lhs, rhs});
  Cases out = {"(set-logic ALL)\n", 1};
  for (std::size_t i = 0; i < deciding.size(); ++i) out.count *= 3;
  for (std::size_t i = 0; i < out.count; ++i) {
    SmtTerms::Signs signs;
    std::size_t rest = i;
    for (const std::string& t : deciding) {
      signs[t] = static_cast<int>(rest % 3) - 1;
      rest /= 3;
    }
    SmtTerms q(rule.g);
    q.assume(signs);
    for (Id root : {guard, lhs, rhs}) q.define(root);
    q.relate_goal(lhs, rhs);
    if (everything)
      q.relate_everything();
    else
      q.relate_multiples();
    for (const QuotientPair& p : pairs) q.relate_quotients(p);
    out.script += "(push)\n" + q.declarations();
    for (const auto& [t, sign] : signs)
      out.script += std::string("(assert (") + (sign < 0 ? "<" : sign > 0 ? ">" : "=") + " " + t + " 0))\n";
    out.script += "(assert " + q[guard] + ")\n(assert (not (= " + q[lhs] + " " + q[rhs] + ")))\n(check-sat)\n(pop)\n";
  }
  return out;
}

std::optional<std::string> smt_query(ParsedRule& rule, int limit) {
  SmtTerms q(rule.g);
  if (!q.define(rule.guard) || !q.define(rule.lhs) || !q.define(rule.rhs)) return std::nullopt;
  for (Id v : rule.variables)
    if (!q.define(v)) return std::nullopt;
  if (limit == 0) {
    q.relate_multiples();
    for (const QuotientPair& p : related_quotients(rule.g, {rule.guard, rule.lhs, rule.rhs})) q.relate_quotients(p);
  }
  std::string out = "(set-logic ALL)\n" + q.declarations();
  if (limit > 0)
    for (Id v : rule.variables)
      out += "(assert (<= (- " + std::to_string(limit) + ") " + q[v] + " " + std::to_string(limit) + "))\n";
  out += "(assert " + q[rule.guard] + ")\n(assert (not (= " + q[rule.lhs] + " " + q[rule.rhs] + ")))\n(check-sat)\n";
  if (!rule.variables.empty()) {
    out += "(get-value (";
    for (std::size_t i = 0; i < rule.variables.size(); ++i) out += (i == 0 ? "" : " ") + q[rule.variables[i]];
    out += "))\n";
  }
  return out;
}

}  // namespace kiln::compiler
