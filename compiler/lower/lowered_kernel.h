// What lowering hands to code generation: one kernel at P level.
#pragma once

#include "compiler/ir/graph.h"

namespace kiln::compiler {

struct LoweredKernel {
  Id sink = no_id;        // SINK(STORE or FOR ...); the outermost loop runs SYM("$begin")..SYM("$end")
  Id trip_count = no_id;  // iterations of the outermost loop, index expression over the program's symbols
  Id work = no_id;        // rough cost of the whole kernel in scalar operations, index expression
  int alignment = 1;      // chunk bounds are multiples of this
  bool parallel = false;  // false: the loop must run in one call
};

}  // namespace kiln::compiler
