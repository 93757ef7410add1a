// The texts of a rule as small programs that can be matched against nodes, evaluated on bounds, and instantiated.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/nth.h"
#include "compiler/symbolic/rewrite_engine.h"

namespace kiln::compiler::symbolic {

struct TemplateNode {
  Op op;                            // SYM: the variable with number `value`; CONST: the constant `value`
  bool condition;                   // dtype bool, else index
  std::uint8_t count;               // number of sources
  std::array<std::uint8_t, 3> src;  // indices in the template
  std::int64_t value;
};
using Template = std::vector<TemplateNode>;  // sources first, the root last

struct RuleVariable {
  std::string name;
  bool condition;
};

struct CompiledRule {
  const Rule* rule;
  std::vector<RuleVariable> variables;
  Template lhs, rhs;
  std::vector<Template> guard;  // the conjuncts
  unsigned orders;              // number of operand orders of lhs's commutative operations; 1 for a rule with `find`
  std::array<Op, 2> operands;   // operations of the operands of lhs's root; SYM: any operation
  bool filtered;                // whether `operands` can reject a node: no `find`, two operands, one of them an operation
};

// The variables in order of first appearance in lhs, guard, rhs.
std::vector<RuleVariable> variables_of(const Rule& rule);
CompiledRule compile(const Rule& rule);

// Rules in order of trial, and an index of the rules that can match a root operation. A rule whose lhs is a variable is tried
// at every node.
class RuleSet {
 public:
  explicit RuleSet(std::span<const std::span<const Rule>> families);
  std::span<const std::uint16_t> at(Op op, DType d) const { return nth(by_root_, op)[kind(d)]; }
  std::vector<CompiledRule> rules;

 private:
  static constexpr std::size_t n_kinds = 3;
  static std::size_t kind(DType d) { return d == DType::index ? 0 : d == DType::boolean ? 1 : 2; }
  std::array<std::array<std::vector<std::uint16_t>, n_kinds>, op_count> by_root_;
};

// A quick test by the operations of the operands. False: the rule does not match. It rejects most rules that do not match.
inline bool may_match(const Graph& g, const CompiledRule& r, Id node) {
  if (!r.filtered) return true;
  const auto [first, second] = g.operands<2>(node);
  const Op a = g.op(first), b = g.op(second);
  const auto fits = [](Op wanted, Op op) { return wanted == Op::SYM || wanted == op; };
  return (fits(r.operands[0], a) && fits(r.operands[1], b)) ||
         (is_commutative(g.op(node)) && fits(r.operands[0], b) && fits(r.operands[1], a));
}

// order: in [0, orders), the operand order to try.
bool match(const Graph& g, const Template& lhs, unsigned order, Id node, Match& m);
Id instantiate(Graph& g, const Template& t, const Match& m);
// Makes a node; folds constants.
Id make_folded(Graph& g, Op op, bool condition, std::span<const Id> src);

}  // namespace kiln::compiler::symbolic
