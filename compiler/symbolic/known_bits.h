// Derives facts of AND, OR and XOR from bits that are the same in all values of an operand.
#pragma once

#include "compiler/symbolic/known.h"

namespace kiln::compiler::symbolic {

Known bitwise(Op op, const Known& a, const Known& b);  // op: AND, OR or XOR of index values, as 64-bit two's complement

}  // namespace kiln::compiler::symbolic
