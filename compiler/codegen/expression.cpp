#include "compiler/codegen/expression.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

#include "compiler/ir/nth.h"

namespace kiln::compiler {
namespace {

std::int64_t code_of(Op op) {
  if (const auto code = expr_code(op)) return *code;
  throw std::logic_error("codegen: " + std::string(name(op)) + " in an extent expression");
}

std::int64_t symbol_index(std::string_view name, const SymbolIndex& symbols) {
  if (const auto i = symbols.find(name)) return narrow<std::int64_t>(*i);
  throw std::logic_error("codegen: unknown symbol " + std::string(name) + " in an extent expression");
}

// By node: the stack words that its code needs, if the deeper operand of a commutative operation comes first.
std::unordered_map<Id, int> stack_need(const Graph& g, Id expression) {
  std::unordered_map<Id, int> need;
  std::vector<Id> stack{expression};
  while (!stack.empty()) {
    const Id id = stack.back();
    if (g.op(id) == Op::CONST || g.op(id) == Op::SYM) {
      need[id] = 1;
    } else {
      code_of(g.op(id));
      const auto [left, right] = g.operands<2>(id);
      const auto a = need.find(left), b = need.find(right);
      if (a == need.end() || b == need.end()) {
        if (a == need.end()) stack.push_back(left);
        if (b == need.end()) stack.push_back(right);
        continue;
      }
      const auto [low, high] = std::minmax(a->second, b->second);
      need[id] = is_commutative(g.op(id)) ? std::max(high, low + 1) : std::max(a->second, b->second + 1);
    }
    stack.pop_back();
  }
  return need;
}

}  // namespace

std::vector<std::int64_t> postfix(const Graph& g, Id expression, const SymbolIndex& symbols, std::int64_t scale) {
  if (expression == no_id) throw std::logic_error("codegen: missing extent expression");
  std::vector<std::int64_t> code;
  const std::unordered_map<Id, int> need = stack_need(g, expression);
  std::vector<std::pair<Id, bool>> stack{{expression, false}};
  while (!stack.empty()) {
    const auto [id, operands_done] = stack.back();
    stack.pop_back();
    const Op op = g.op(id);
    if (op == Op::CONST) {
      code.insert(code.end(), {KILN_PUSH_CONST, g.value(id)});
    } else if (op == Op::SYM) {
      code.insert(code.end(), {KILN_PUSH_SYM, symbol_index(g.name(id), symbols)});
    } else if (operands_done) {
      code.push_back(code_of(op));
    } else {
      const auto [a, b] = g.operands<2>(id);
      const bool swap = is_commutative(op) && need.at(b) > need.at(a);
      stack.emplace_back(id, true);
      stack.emplace_back(swap ? a : b, false);
      stack.emplace_back(swap ? b : a, false);
    }
  }
  if (scale != 1) code.insert(code.end(), {KILN_PUSH_CONST, scale, KILN_MUL});
  return code;
}

}  // namespace kiln::compiler
