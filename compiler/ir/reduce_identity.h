// The initial value, the accumulator type and the order of reductions.
#pragma once

#include <cstdint>

#include "compiler/ir/dtype.h"
#include "compiler/ir/op.h"

namespace kiln::compiler {

// Bits in the form of CONST in op.h, for elements of type d. argmax and argmin: the initial best value.
std::uint64_t reduce_identity(ReduceKind kind, DType d);

// The accumulator type for elements of type d: f32 for f16 and bf16, over all axes, so that the result rounds once.
constexpr DType accumulation_dtype(DType d) { return d == DType::f16 || d == DType::bf16 ? DType::f32 : d; }

// Whether the order of elements of type d does not matter for the result's bits.
constexpr bool is_orderless(ReduceKind kind, DType d) {
  const bool is_comparison =
      kind == ReduceKind::max || kind == ReduceKind::min || kind == ReduceKind::any || kind == ReduceKind::all;
  return is_comparison || ((kind == ReduceKind::sum || kind == ReduceKind::prod) && !is_float(d));
}

}  // namespace kiln::compiler
