// workgroup_accesses: tests whether the work items of a workgroup may become lanes in one barrier interval.
//
// Work items may share a vector if no element that one lane writes is accessed by another lane of the same vector. The test
// evaluates each index in every work item of the workgroup, in every iteration of the loops around and inside. An operand may
// have no known value (a symbol, the number of the workgroup) if it is the same for all work items. All accesses to one memory
// must then contain the same term of these operands, because equal terms cancel when two indices are compared. The test is
// conservative: it answers "not independent" if it cannot decide or would take too long.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

struct WorkgroupAccesses {
  bool independent = false;
  // By index: the distance from each lane to the next, such as 2. Only indices for which this distance is the same for all
  // lanes of all vectors, and not 0.
  std::unordered_map<Id, std::int64_t> strides;
  // By index: the offset of each lane from the first lane, such as 0, 2, 1, 3. Only indices whose offsets are the same in all
  // whole vectors. Exception: lanes that go up or down by 1 are in `strides` alone.
  std::unordered_map<Id, std::vector<std::int64_t>> patterns;
};

// loop: a FOR over at most `size` work items, at K level. Vectors begin at multiples of `lanes`.
WorkgroupAccesses workgroup_accesses(Graph& g, Id sink, Id loop, int lanes, std::int64_t size, const Facts& facts);

}  // namespace kiln::compiler
