// lane_patterns: lanes at places that are the same for every vector, but not in a row -> vectors in a row and shuffles.
//
// before: LOAD and STORE at a vector of indices, which are `first` and known offsets from it. after: of few vectors' span:
// LOADs of all between the least and the greatest place, and a SHUFFLE of them; a SHUFFLE of the value for each vector, and
// STOREs under constant masks. Other accesses stay. precondition: no two lanes of a STORE are at one place.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

struct LanePattern {
  Id first;                           // of lane 0
  std::vector<std::int64_t> offsets;  // by lane
};

// patterns: by the vector of indices. Returns the roots.
std::vector<Id> lane_patterns(Graph& g, std::span<const Id> roots, const std::map<Id, LanePattern>& patterns);

}  // namespace kiln::compiler
