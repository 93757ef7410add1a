// Index arithmetic outside of kernels: the runtime evaluates it when a call or a loop begins, as postfix code (kiln_expr).
#pragma once

#include <optional>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// Code words of kiln/program.h.
enum class ExprCode : std::int64_t { end, push_const, push_sym, add, sub, mul, floordiv, floormod, min, max };

// Of an operation on two numbers; nullopt: the runtime does not have it.
constexpr std::optional<ExprCode> expr_code(Op op) {
  switch (op) {
    case Op::ADD: return ExprCode::add;
    case Op::SUB: return ExprCode::sub;
    case Op::MUL: return ExprCode::mul;
    case Op::FLOORDIV: return ExprCode::floordiv;
    case Op::FLOORMOD: return ExprCode::floormod;
    case Op::MIN: return ExprCode::min;
    case Op::MAX: return ExprCode::max;
    default: return std::nullopt;
  }
}

// Whether the runtime gives this node the value that the IR does, whatever its operands are. A quotient may not: the IR has 0
// where the divisor is 0, there the runtime has an error. So divisors are constants above 0, or no less than one, as max(N, 1).
inline bool is_run_arithmetic(const Graph& g, Id id) {
  const Op op = g.op(id);
  if (g.dtype(id) != DType::index || !expr_code(op)) return false;
  if (op != Op::FLOORDIV && op != Op::FLOORMOD) return true;
  const auto is_positive = [&](Id d) { return g.is_const(d) && g.arg(d, 0) > 0; };
  const Id d = g.src(id, 1);
  return is_positive(d) || (g.op(d) == Op::MAX && (is_positive(g.src(d, 0)) || is_positive(g.src(d, 1))));
}

}  // namespace kiln::compiler
