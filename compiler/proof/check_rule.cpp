#include "compiler/proof/check_rule.h"

#include <algorithm>

#include "compiler/proof/evaluate.h"
#include "compiler/proof/smt.h"

namespace kiln::compiler {
namespace {

constexpr int small = 100;  // magnitude in which a counterexample is looked for first
constexpr int quick = 2;    // seconds

std::string decimal(__int128 v) {
  std::string s;
  const bool negative = v < 0;
  do {
    const int digit = static_cast<int>(v % 10);
    s += static_cast<char>('0' + (digit < 0 ? -digit : digit));
    v /= 10;
  } while (v != 0);
  if (negative) s += '-';
  std::ranges::reverse(s);
  return s;
}

// The solver's point, evaluated here: only a real difference refutes.
RuleVerdict at_point(const ParsedRule& r, const Solution& s) {
  if (s.values.size() != r.variables.size()) return {Verdict::unknown, "a counterexample does not fit in 64 bits"};
  Point p;
  std::string where;
  for (std::size_t i = 0; i < s.values.size(); ++i) {
    p[r.variables[i]] = s.values[i];
    where += (i == 0 ? "" : ", ") + std::string(r.g.name(r.variables[i])) + " = " + std::to_string(s.values[i]);
  }
  const auto guard = evaluate_exactly(r.g, r.guard, p), a = evaluate_exactly(r.g, r.lhs, p),
             b = evaluate_exactly(r.g, r.rhs, p);
  if (!guard || !a || !b || *guard == 0 || *a == *b) return {Verdict::unknown, "the solver's counterexample is none: " + where};
  return {Verdict::refuted, where + ": lhs is " + decimal(*a) + ", rhs is " + decimal(*b)};
}

}  // namespace

RuleVerdict check_rule(const RuleText& text, SolverLimits limits) {
  ParsedRule rule = parse_rule(text);
  const auto bounded = smt_query(rule, small), general = smt_query(rule);
  if (!bounded || !general) return {Verdict::unknown, "an operation that cannot be put to the solver"};
  // Most rules are proven at once; a wrong one is refuted soonest among small integers.
  const auto within = [&](int seconds) { return SolverLimits{std::min(limits.seconds, seconds), limits.megabytes}; };
  if (solve(*general, within(quick)).answer == Answer::unsat) return {Verdict::proven, {}};
  if (const Solution near = solve(*bounded, within(5)); near.answer == Answer::sat) return at_point(rule, near);
  const Solution all = solve(*general, limits);
  if (all.answer == Answer::unsat) return {Verdict::proven, {}};
  if (all.answer == Answer::sat) return at_point(rule, all);
  return {Verdict::unknown, "the solver gave up within " + std::to_string(limits.seconds) + " s"};
}

}  // namespace kiln::compiler
