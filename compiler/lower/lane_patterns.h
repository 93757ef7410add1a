// lane_patterns: replaces accesses whose lanes have constant offsets by contiguous accesses and shuffles.
//
// Before: LOADs and STOREs at a vector of indices: an index `first` plus an offset that is known for each lane.
// After: if at most two vectors cover all offsets, a LOAD becomes contiguous LOADs of these vectors and a SHUFFLE. A STORE
//   becomes a SHUFFLE and a STORE with a constant mask for each of these vectors. Other accesses stay.
// Requires: no two lanes of a STORE have the same offset.
// Example: LOAD at first + {0, 2, 4, 6}  ->  v = LOAD at first + 0..3, w = LOAD at first + 3..6, SHUFFLE(v, w; 0, 2, 5, 7)
#pragma once

#include <map>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

struct LanePattern {
  Id first;                           // the index of lane 0
  std::vector<std::int64_t> offsets;  // by lane: its distance from `first`
};

// patterns: by vector of indices. Returns the new roots.
std::vector<Id> lane_patterns(Graph& g, std::span<const Id> roots, const std::map<Id, LanePattern>& patterns);

}  // namespace kiln::compiler
