// loop_accesses: tests whether iterations of a loop that follow each other may become lanes of one vector.
//
// In a vector all lanes load before any lane stores. This gives the values of the loop if no lane needs what another lane of
// the same vector stores, and no two lanes store to the same element. With elements as distances from the stored one:
//   - A load at the distance 0, or behind (read before it is overwritten), or a whole vector or more ahead may be in a vector.
//   - A distance that only the call knows is a condition for the vectors.
//   - A load of one element in all iterations may be in a vector until an iteration stores to that element. A vector may end
//     with that iteration, because it loads before it stores. The next vector may begin behind it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

struct LoopAccesses {
  std::string why;                 // why the iterations cannot become lanes; empty: they can
  std::vector<Id> conditions;      // that must hold, of values outside of the loop
  std::vector<Id> gates;           // of accesses, the same in all iterations; they must hold too
  std::vector<Id> last;            // an iteration with this number must be the last one of its vector
  int widest = 0, operations = 0;  // bytes of the widest value; operations of one iteration
};

// nullopt: the FOR is not one that this pass is about, because it carries values, has loops with effects inside, or does not
// store. vector_bytes: of a register.
std::optional<LoopAccesses> loop_accesses(Graph& g, Id loop, int vector_bytes);

}  // namespace kiln::compiler
