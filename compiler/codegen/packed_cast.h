// Casts from f32 to integers of 8 and 16 bits, for vectors of several registers.
//
// Why: instructions that pack two registers into one saturate, so the conversion to 32 bits needs no lower bound. A store then
//   writes whole registers. Truncations of single registers take twice the time, and each has a store of its own.
#pragma once

#include "compiler/codegen/types.h"

namespace kiln::compiler {

// Toward zero, saturating, NaN to 0. cast(round(x)) takes one instruction that rounds to nearest. to: an integer of 8 or 16
// bits. nullptr: the lanes do not fill two registers.
llvm::Value* packed_cast(LlvmBuilder& b, llvm::Value* v, DType to);

}  // namespace kiln::compiler
