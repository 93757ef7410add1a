// expand: copies the code of one iteration for several iterations, as vectors where a range becomes lanes.
//
// Before: values and STOREs over RANGEs; inner loops are FORs without effects.
// After: one version of the roots for each copy, in which the copy's value replaces each RANGE: a scalar index, or a vector
//   of lanes. All operands of a node have the same number of lanes. A FOR that depends on a replaced RANGE gets a new RANGE
//   and carries all copies' accumulators, so the copies share loads. A node that all copies have in common exists once.
// Requires: all copies replace the same RANGEs, by values with the same number of lanes. A node that becomes a vector is a
//   scalar before. Bounds of inner loops are the same in all copies and lanes.
// Example: STORE(y, i, MUL(LOAD(x, i), a)), i -> RAMP r of 8 lanes  ->  STORE(y, r, MUL f32x8 (LOAD f32x8 (x, r), BROADCAST a))
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/lower/rewrite.h"

namespace kiln::compiler {

struct Copy {
  std::unordered_map<Id, Id> values;  // RANGE, or another node -> its value in this copy
  Id mask = no_id;                    // bool lanes: vector loads and stores skip the lanes that are false
};

// Which LOCAL arrays exist once for each lane. own: all. shared: only arrays of a replaced loop or a loop inside it. Lanes
// share the others.
enum class Arrays : std::uint8_t { own, shared };

// result[copy][root]
std::vector<std::vector<Id>> expand(Graph& g, RangeIds& loops, std::span<const Id> roots, std::span<const Copy> copies,
                                    Arrays arrays = Arrays::own);

// Whether a value that is already a vector depends on the range. Such a range cannot become lanes.
bool has_vectors_over(const Graph& g, std::span<const Id> roots, Id range);

}  // namespace kiln::compiler
