// What a reduction starts with, and the type that it accumulates in.
#pragma once

#include <cstdint>

#include "compiler/ir/dtype.h"
#include "compiler/ir/op.h"

namespace kiln::compiler {

// Bits as CONST documents, for elements of the type. argmax and argmin: of the best value so far.
std::uint64_t reduce_identity(ReduceKind kind, DType d);

// What elements of the type accumulate in: f32 for f16 and bf16, over all axes, so that the result rounds once.
constexpr DType accumulation_dtype(DType d) { return d == DType::f16 || d == DType::bf16 ? DType::f32 : d; }

}  // namespace kiln::compiler
