// Simplifies the branches of a choice under its condition. Members of RewriteContext.
#include <algorithm>

#include "compiler/symbolic/rewrite_context.h"

namespace kiln::compiler {
namespace {

constexpr std::size_t max_nodes = 64;
constexpr int max_conditions = 2;  // nested; each one is another run over the branch

// The index and bool nodes under a root. Empty if there are too many or if a LOAD is among them: a choice evaluates both
// branches, so its condition must not simplify the gate or the index of a LOAD.
std::vector<Id> nodes_under(const Graph& g, Id root) {
  std::vector<Id> out;
  if (g.op(root) != Op::LOAD) out.push_back(root);
  for (std::size_t at = 0; at < out.size(); ++at)
    for (Id s : g.src(out[at])) {
      if (std::ranges::find(out, s) != out.end()) continue;
      if ((g.dtype(s) != DType::index && g.dtype(s) != DType::boolean) || g.op(s) == Op::LOAD || out.size() == max_nodes)
        return {};
      out.push_back(s);
    }
  return out;
}

bool may_fold(Op op) { return is_elementwise(op) && op != Op::ADD && op != Op::SUB && op != Op::MUL && op != Op::NEG; }

// Whether the branch contains an operation that may fold, and shares a node with the condition.
bool is_worth_it(const Graph& g, Id condition, Id branch) {
  if (g.dtype(branch) != DType::index && g.dtype(branch) != DType::boolean) return false;
  const auto nodes = nodes_under(g, branch);
  if (std::ranges::none_of(nodes, [&](Id id) { return may_fold(g.op(id)); })) return false;
  const auto about = nodes_under(g, condition);
  return std::ranges::any_of(nodes,
                             [&](Id id) { return g.op(id) != Op::CONST && std::ranges::find(about, id) != about.end(); });
}

void assume_not(Graph& g, Facts& facts, Id condition) {
  std::vector<Id> open{condition};
  while (!open.empty()) {
    const Id id = open.back();
    open.pop_back();
    const auto src = g.src(id);
    const auto flipped = [&](Op op, Id a, Id b) { assume(g, facts, g.make(op, DType::boolean, {a, b})); };
    switch (g.op(id)) {
      case Op::OR: open.insert(open.end(), {src[0], src[1]}); break;
      case Op::NOT: assume(g, facts, src[0]); break;
      case Op::LT: flipped(Op::LE, src[1], src[0]); break;
      case Op::LE: flipped(Op::LT, src[1], src[0]); break;
      case Op::NE: flipped(Op::EQ, src[0], src[1]); break;
      default: break;
    }
  }
}

}  // namespace

Id RewriteContext::branch_under(Id condition, bool holds, Id branch) {
  const auto key = std::tuple(condition, holds, branch);
  if (const auto it = branches_.find(key); it != branches_.end()) return it->second;
  Id result = branch;
  if (bounds.facts().conditions < max_conditions && simplified && is_worth_it(g, condition, branch)) {
    Facts facts = bounds.facts();
    ++facts.conditions;
    if (holds)
      assume(g, facts, condition);
    else
      assume_not(g, facts, condition);
    if (facts.syms != bounds.facts().syms || facts.nonnegative.size() != bounds.facts().nonnegative.size())
      result = simplified(facts, branch);
  }
  branches_.emplace(key, result);
  return result;
}

}  // namespace kiln::compiler
