#include "tests/grad/expression_text.h"

#include "compiler/ir/literal.h"

namespace kiln::compiler::testing {

std::string expression_text(const Graph& g, Id id, Id y) {
  if (id == y) return "y";
  const Op op = g.op(id);
  const auto part = [&](std::size_t i) { return expression_text(g, g.src(id, i), y); };
  const auto infix = [&](const char* symbol) { return "(" + part(0) + " " + symbol + " " + part(1) + ")"; };
  switch (op) {
    case Op::CONST: return literal_text(g.dtype(id), static_cast<std::uint64_t>(g.value(id)));
    case Op::PARAM: return std::string(g.name(id));
    case Op::ADD: return infix("+");
    case Op::SUB: return infix("-");
    case Op::MUL: return infix("*");
    case Op::FDIV: return infix("/");
    case Op::LT: return infix("<");
    case Op::LE: return infix("<=");
    case Op::EQ: return infix("==");
    case Op::AND: return infix("and");
    case Op::NEG: return "-" + part(0);
    default: break;
  }
  std::string out(name(op));
  if (op == Op::CAST) out += "<" + std::string(name(g.dtype(id))) + ">";
  for (std::size_t i = 0; i < g.src(id).size(); ++i) out += (i == 0 ? "(" : ", ") + part(i);
  return out + ")";
}

}  // namespace kiln::compiler::testing
