// Scans in the order that docs/reference/numbers.md defines. They are the reference for every schedule.
#pragma once

#include "compiler/interp/array.h"
#include "compiler/ir/op.h"

namespace kiln::compiler {

Array scan_axis(ReduceKind kind, const Array& x, std::size_t axis, bool exclusive, bool reversed);

}  // namespace kiln::compiler
