// operation_cost: the costs of operations, for three estimates.
//
// The unit is one addition. A kind of operation has one row in the table of operation_cost.cpp, and each estimate has one
// column.
#pragma once

#include "compiler/ir/op.h"

namespace kiln::compiler {

struct OperationCost {
  int recompute;  // when its value is computed again and not loaded from a buffer (rangeify/staging,
                  // schedule/row_clusters)
  int lane;       // on one register, when plans for lanes are compared (lower/lane_cost)
  int work;       // in the work of a kernel, which decides about threads (lower/estimate_work)
};

OperationCost operation_cost(Op op);

}  // namespace kiln::compiler
