#include "compiler/proof/check_rule.h"

#include <algorithm>

#include "compiler/proof/counterexample.h"
#include "compiler/proof/smt.h"

namespace kiln::compiler {
namespace {

constexpr int small = 100;  // largest magnitude in the solver's first search for a counterexample
constexpr int quick = 2;    // seconds; most proofs are found this fast

// Checks a solver's counterexample. The rule is refuted only if the sides really differ at the point.
RuleVerdict at_point(const ParsedRule& r, const Solution& s) {
  if (s.values.size() != r.variables.size()) return {Verdict::unknown, "a counterexample does not fit in 64 bits"};
  if (const auto difference = difference_at(r, s.values)) return {Verdict::refuted, *difference};
  return {Verdict::unknown, "the solver's counterexample is none"};
}

RuleVerdict check_bits(const ParsedRule& rule, SolverLimits limits) {
  const auto query = smt_bits_query(rule);
  if (!query) return {Verdict::unknown, "an operation that cannot be put to the solver"};
  const Answer answer = solve(*query, limits).answer;
  if (answer == Answer::unsat) return {Verdict::proven, {}};
  return {Verdict::unknown,
          answer == Answer::sat ? "the solver says that the sides differ; no point was found" : "the solver gave up"};
}

}  // namespace

std::vector<RuleText> claims_of(const RuleText& rule) {
  std::vector<RuleText> out;
  std::string known = rule.guard;
  for (std::size_t i = 0; i < rule.steps.size(); ++i) {
    out.push_back({rule.name + ".steps[" + std::to_string(i) + "]", rule.steps[i], known, "True", rule.conditions});
    known = known.empty() ? rule.steps[i] : "(" + known + ") and (" + rule.steps[i] + ")";
  }
  out.push_back({rule.name, rule.lhs, known, rule.rhs, rule.conditions});
  return out;
}

RuleVerdict check_claim(const RuleText& claim, SolverLimits limits) {
  ParsedRule rule = parse_rule(claim);
  if (const auto difference = find_difference(rule)) return {Verdict::refuted, *difference};
  const auto general = smt_query(rule);
  if (!general) return check_bits(rule, limits);
  const auto within = [&](int seconds) { return SolverLimits{std::min(limits.seconds, seconds), limits.megabytes}; };
  // Some proofs need the cases and some need the whole question, so the time for each grows in turn.
  Solution all;
  for (int seconds = quick; all.answer == Answer::unknown; seconds *= 4) {
    const auto by_cases = [&](bool everything) {
      const auto cases = smt_cases(rule, everything);
      return cases && first_unsat(cases->script, within(seconds)) == cases->count;
    };
    if (by_cases(false)) return {Verdict::proven, {}};
    all = solve(*general, within(seconds));
    if (all.answer == Answer::unknown && by_cases(true)) return {Verdict::proven, {}};
    if (seconds >= limits.seconds) break;
  }
  if (all.answer == Answer::unsat) return {Verdict::proven, {}};
  if (const Solution near = solve(*smt_query(rule, small), within(quick)); near.answer == Answer::sat)
    return at_point(rule, near);
  if (all.answer == Answer::sat) return at_point(rule, all);
  return {Verdict::unknown, "the solver gave up within " + std::to_string(limits.seconds) + " s"};
}

std::string question_of(const RuleText& claim) {
  ParsedRule rule = parse_rule(claim);
  if (const auto q = smt_query(rule)) return *q;
  return smt_bits_query(rule).value_or("");
}

}  // namespace kiln::compiler
