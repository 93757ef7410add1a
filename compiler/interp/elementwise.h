// Computes one elementwise operation on arrays, element by element, by the rules of docs/reference/numbers.md.
#pragma once

#include <cstddef>
#include <span>

#include "compiler/ir/dtype.h"
#include "compiler/ir/op.h"

namespace kiln::compiler {

struct Operand {
  const std::byte* data;
  bool scalar;  // true: one element that all results use
};

// out[i] = op(operands[i]...). type: dtype of the operands (for WHERE, of the branches). result: dtype of the node. Not for
// operations that expand_math defines. DType::index computes as i64.
void apply_elementwise(Op op, DType result, DType type, std::span<const Operand> operands, std::byte* out, std::size_t n);

}  // namespace kiln::compiler
