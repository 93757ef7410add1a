// Index arithmetic outside of kernels. The runtime evaluates it as postfix code (kiln_expr) when a call or a loop begins.
#pragma once

#include <algorithm>
#include <optional>

#include "compiler/ir/graph.h"
#include "kiln/program.h"

namespace kiln::compiler {

// The code word of an operation on two numbers; nullopt: the runtime does not have it.
constexpr std::optional<std::int64_t> expr_code(Op op) {
  switch (op) {
    case Op::ADD: return KILN_ADD;
    case Op::SUB: return KILN_SUB;
    case Op::MUL: return KILN_MUL;
    case Op::FLOORDIV: return KILN_FLOORDIV;
    case Op::FLOORMOD: return KILN_FLOORMOD;
    case Op::MIN: return KILN_MIN;
    case Op::MAX: return KILN_MAX;
    default: return std::nullopt;
  }
}

// Whether the runtime computes the same value as the IR for all operands. Division by 0 gives 0 in the IR and an error in the
// runtime, so a divisor must be a positive constant, or a MAX with a positive constant as operand, as in max(N, 1).
inline bool is_run_arithmetic(const Graph& g, Id id) {
  const Op op = g.op(id);
  if (g.dtype(id) != DType::index || !expr_code(op)) return false;
  if (op != Op::FLOORDIV && op != Op::FLOORMOD) return true;
  const auto is_positive = [&](Id d) { return g.is_const(d) && g.value(d) > 0; };
  const auto [numerator, divisor] = g.operands<2>(id);
  return is_positive(divisor) || (g.op(divisor) == Op::MAX && std::ranges::any_of(g.src(divisor), is_positive));
}

}  // namespace kiln::compiler
