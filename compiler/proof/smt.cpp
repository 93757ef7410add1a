#include "compiler/proof/smt.h"

#include "compiler/proof/smt_terms.h"

namespace kiln::compiler {

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
