// Division of floats without the divider of the CPU, which takes one vector at a time, but works beside the other units.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/codegen/types.h"
#include "compiler/ir/loop_scopes.h"

namespace kiln::compiler {

// The divisions that take less time as multiply-adds with the reciprocal of the divisor: wide vectors of AVX-512 whose divisor
// does not change in a loop, or is the divisor of several divisions, as the length of a vector is.
class ReciprocalDivisions {
 public:
  ReciprocalDivisions(const Graph& g, const Scopes& scopes, int vector_bits);

  // scope: in which the division is computed.
  bool contains(Id division, std::int32_t scope) const;

 private:
  bool is_long(std::int32_t scope, std::int64_t registers) const;

  const Graph& g_;
  const Scopes& scopes_;
  bool has_wide_vectors_;
  std::vector<bool> divides_several_;  // by node
};

// x / d in each lane, for vectors of f32 and f64, with the bits of the division. Emits a branch; b continues in another block.
llvm::Value* emit_reciprocal_division(LlvmBuilder& b, llvm::Value* x, llvm::Value* d);

// x / d for vectors of integers of up to 16 bits that were cast to f32 or f64, and a constant d: two instructions. nullptr: the
// operands are others, the result would differ from the division for some integer, or the CPU has no fma.
llvm::Value* emit_integer_quotient(LlvmBuilder& b, llvm::Value* x, llvm::Value* d);

}  // namespace kiln::compiler
