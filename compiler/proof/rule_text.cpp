#include "compiler/proof/rule_text.h"

#include <set>

#include "compiler/ir/diagnostic.h"
#include "compiler/symbolic/infix.h"

namespace kiln::compiler {
namespace {

// The names that some text uses as a condition. Other uses, such as `p == q`, do not show the type.
std::set<std::string, std::less<>> condition_names(const RuleText& text) {
  std::set<std::string, std::less<>> out(text.conditions.begin(), text.conditions.end());
  Graph g;
  const Resolve note = [&](std::string_view name, bool condition) {
    if (condition) out.emplace(name);
    return condition ? g.make(Op::NE, DType::boolean, {g.sym(name), g.index(0)}) : g.sym(name);
  };
  for (const auto& [field, s] : {std::pair("lhs", &text.lhs), {"guard", &text.guard}, {"rhs", &text.rhs}})
    if (!s->empty()) parse_infix(g, *s, note, text.name + "." + field);
  return out;
}

}  // namespace

ParsedRule parse_rule(const RuleText& text) {
  ParsedRule r;
  const auto conditions = condition_names(text);
  r.conditions.assign(conditions.begin(), conditions.end());
  std::set<Id> seen;
  const Resolve resolve = [&](std::string_view name, bool) {
    const Id s = r.g.sym(name);
    if (seen.insert(s).second) r.variables.push_back(s);
    return conditions.contains(name) ? r.g.make(Op::NE, DType::boolean, {s, r.g.index(0)}) : s;
  };
  r.lhs = parse_infix(r.g, text.lhs, resolve, text.name + ".lhs");
  r.rhs = parse_infix(r.g, text.rhs, resolve, text.name + ".rhs");
  r.guard = text.guard.empty() ? r.g.constant(DType::boolean, 1) : parse_infix(r.g, text.guard, resolve, text.name + ".guard");
  if (r.g.dtype(r.lhs) != r.g.dtype(r.rhs))
    throw Diagnostic("E-rulesfile", text.name, "expected lhs and rhs both integers or both conditions");
  if (r.g.dtype(r.guard) != DType::boolean) throw Diagnostic("E-rulesfile", text.name + ".guard", "expected a condition");
  return r;
}

std::vector<Id> conjuncts_of(const Graph& g, Id guard) {
  std::vector<Id> out, open{guard};
  while (!open.empty()) {
    const Id id = open.back();
    open.pop_back();
    if (g.op(id) == Op::AND && g.dtype(id) == DType::boolean) {
      const auto [first, second] = g.operands<2>(id);
      open.insert(open.end(), {second, first});
    } else if (!g.is_const(id)) {
      out.push_back(id);
    }
  }
  return out;
}

}  // namespace kiln::compiler
