// Bits that are the same in every value, and what and, or, xor make of them.
#pragma once

#include "compiler/symbolic/known.h"

namespace kiln::compiler::symbolic {

Known bitwise(Op op, const Known& a, const Known& b);  // AND, OR, XOR of index values, as 64-bit two's complement

}  // namespace kiln::compiler::symbolic
