// The initial value and the accumulator type of reductions.
#pragma once

#include <cstdint>

#include "compiler/ir/dtype.h"
#include "compiler/ir/op.h"

namespace kiln::compiler {

// Bits in the form of CONST in op.h, for elements of type d. argmax and argmin: the initial best value.
std::uint64_t reduce_identity(ReduceKind kind, DType d);

// The accumulator type for elements of type d: f32 for f16 and bf16, over all axes, so that the result rounds once.
constexpr DType accumulation_dtype(DType d) { return d == DType::f16 || d == DType::bf16 ? DType::f32 : d; }

}  // namespace kiln::compiler
