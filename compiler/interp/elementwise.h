// One elementwise operation over arrays, element by element, in the exact semantics of docs/reference/numbers.md.
#pragma once

#include <cstddef>
#include <span>

#include "compiler/ir/dtype.h"
#include "compiler/ir/op.h"

namespace kiln::compiler {

struct Operand {
  const std::byte* data;
  bool scalar;  // one element for all
};

// out[i] = op(operands[i]...). `type` is the operands' dtype (of the branches for WHERE), `result` the node's. Not for the
// operations that expand_math defines. DType::index computes as i64.
void apply_elementwise(Op op, DType result, DType type, std::span<const Operand> operands, std::byte* out, std::size_t n);

}  // namespace kiln::compiler
