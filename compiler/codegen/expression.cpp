#include "compiler/codegen/expression.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace kiln::compiler {
namespace {

void put(std::vector<std::int64_t>& code, ExprCode c) { code.push_back(static_cast<std::int64_t>(c)); }

ExprCode code_of(Op op) {
  switch (op) {
    case Op::ADD: return ExprCode::add;
    case Op::SUB: return ExprCode::sub;
    case Op::MUL: return ExprCode::mul;
    case Op::FLOORDIV: return ExprCode::floordiv;
    case Op::FLOORMOD: return ExprCode::floormod;
    case Op::MIN: return ExprCode::min;
    case Op::MAX: return ExprCode::max;
    default: throw std::logic_error("codegen: " + std::string(name(op)) + " in an extent expression");
  }
}

std::int64_t symbol_index(std::string_view name, std::span<const Symbol> symbols) {
  for (std::size_t i = 0; i < symbols.size(); ++i)
    if (symbols[i].name == name) return static_cast<std::int64_t>(i);
  throw std::logic_error("codegen: unknown symbol " + std::string(name) + " in an extent expression");
}

}  // namespace

std::vector<std::int64_t> postfix(const Graph& g, Id expression, std::span<const Symbol> symbols, std::int64_t scale) {
  if (expression == no_id) throw std::logic_error("codegen: missing extent expression");
  std::vector<std::int64_t> code;
  std::vector<std::pair<Id, bool>> stack{{expression, false}};
  while (!stack.empty()) {
    const auto [id, operands_done] = stack.back();
    stack.pop_back();
    const Op op = g.op(id);
    if (op == Op::CONST) {
      put(code, ExprCode::push_const);
      code.push_back(g.arg(id, 0));
    } else if (op == Op::SYM) {
      put(code, ExprCode::push_sym);
      code.push_back(symbol_index(g.name(id), symbols));
    } else if (operands_done) {
      put(code, code_of(op));
    } else {
      code_of(op);
      stack.emplace_back(id, true);
      stack.emplace_back(g.src(id, 1), false);
      stack.emplace_back(g.src(id, 0), false);
    }
  }
  if (scale != 1) {
    put(code, ExprCode::push_const);
    code.push_back(scale);
    put(code, ExprCode::mul);
  }
  return code;
}

}  // namespace kiln::compiler
