#include "compiler/proof/mutate.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "compiler/proof/check_rule.h"
#include "compiler/proof/counterexample.h"
#include "compiler/proof/evaluate.h"
#include "compiler/proof/rule_notes.h"
#include "compiler/symbolic/infix.h"

namespace kiln::compiler {
namespace {

// Whether the node is a condition variable: a comparison of its symbol with 0. Such symbols have no other comparisons.
bool is_variable(const Graph& g, Id id) {
  if (g.op(id) != Op::NE) return false;
  const auto [symbol, zero] = g.operands<2>(id);
  return g.op(symbol) == Op::SYM && g.is_index_const(zero, 0);
}

std::vector<Id> mutations(Graph& g, Id conjunct) {
  std::vector<Id> out = {g.constant(DType::boolean, 1), g.make(Op::NOT, DType::boolean, {conjunct})};
  const Op op = g.op(conjunct);
  if (!is_comparison(op) || is_variable(g, conjunct)) return out;
  const auto [a, b] = g.operands<2>(conjunct);
  if (op == Op::LT || op == Op::LE) out.push_back(g.make(op, DType::boolean, {b, a}));
  for (const std::int64_t by : {1, -1})
    out.push_back(g.make(op, DType::boolean, {a, g.make(Op::ADD, DType::index, {b, g.index(by)})}));
  return out;
}

RuleText with_guard(const RuleText& rule, const std::string& guard) {
  return {rule.name, rule.lhs, guard, rule.rhs, parse_rule(rule).conditions};
}

// The first of the points at which the guard has the value `wanted`; empty: none.
std::string point_where(const RuleText& text, const std::vector<std::string>& points, bool wanted) {
  if (points.empty()) return {};
  const ParsedRule rule = parse_rule({text.name, "True", text.guard, "True", text.conditions});
  Evaluator value(rule.g, rule.variables, std::array{rule.guard});
  for (const std::string& p : points) {
    value.at(point_of(rule, p));
    if (value.is_true(rule.guard) == wanted) return p;
  }
  return {};
}

}  // namespace

std::vector<std::string> mutated_guards(const RuleText& rule) {
  ParsedRule r = parse_rule(rule);
  const auto conjuncts = conjuncts_of(r.g, r.guard);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < conjuncts.size(); ++i)
    for (Id mutation : mutations(r.g, conjuncts[i])) {
      Id guard = no_id;
      for (std::size_t j = 0; j < conjuncts.size(); ++j) {
        const Id c = i == j ? mutation : conjuncts[j];
        guard = guard == no_id ? c : r.g.make(Op::AND, DType::boolean, {guard, c});
      }
      out.push_back(write_infix(r.g, guard));
    }
  return out;
}

Mutant judge_mutant(const RuleText& rule, const std::string& guard, SolverLimits limits) {
  const RuleText text = with_guard(rule, guard);
  const RuleNotes notes = notes_of(rule.name);
  if (const auto p = point_where(text, parts_of(notes.fires), false); !p.empty()) return {guard, Fate::not_firing, p};
  if (const auto p = point_where(text, parts_of(notes.rests), true); !p.empty()) return {guard, Fate::not_resting, p};
  if (const auto difference = find_difference(parse_rule(text))) return {guard, Fate::refuted, *difference};
  const RuleVerdict same = check_claim({rule.name, rule.guard, "", guard, text.conditions}, limits);
  if (same.verdict == Verdict::proven) return {guard, Fate::equivalent, {}};
  const RuleVerdict v = check_claim(text, limits);
  if (v.verdict == Verdict::refuted) return {guard, Fate::refuted, v.detail};
  return {guard, Fate::survived,
          "the rule is " + std::string(v.verdict == Verdict::proven ? "right" : "unknown") +
              " with this guard too; guards at " + same.detail};
}

std::string check_points(const RuleText& rule) {
  const RuleNotes notes = notes_of(rule.name);
  try {
    const auto fires = parts_of(notes.fires), rests = parts_of(notes.rests);
    if (const auto p = point_where(rule, fires, false); !p.empty()) return "expected the guard to hold at " + p;
    if (const auto p = point_where(rule, rests, true); !p.empty()) return "expected the guard not to hold at " + p;
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return {};
}

}  // namespace kiln::compiler
