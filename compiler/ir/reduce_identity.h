// What a reduction over nothing gives, and what changes no other value.
#pragma once

#include <cstdint>

#include "compiler/ir/dtype.h"
#include "compiler/ir/op.h"

namespace kiln::compiler {

// Bits as CONST documents, for elements of the type. argmax and argmin: of the best value so far.
std::uint64_t reduce_identity(ReduceKind kind, DType d);

}  // namespace kiln::compiler
