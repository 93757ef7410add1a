// expand: scalar code of one loop iteration -> several copies of it, on vectors where a range became lanes.
//
// before: values and STOREs over RANGEs, inner reductions as pure FORs. after: one version of the roots per copy, each RANGE
// replaced by that copy's value (a scalar index, or a vector of lanes). A FOR that depends on a replaced range gets a RANGE of
// its own and carries the accumulators of all copies, so the copies share its loads. What no copy changes stays the same node.
// precondition: all copies replace the same ranges, by values of equal lanes; nothing that becomes a vector was one before; the
// bounds of inner loops depend on no range that differs between copies. postcondition: operands have equal lanes.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/lower/rewrite.h"

namespace kiln::compiler {

struct Copy {
  std::unordered_map<Id, Id> values;  // RANGE -> index value; also of other nodes
  Id mask = no_id;                    // bool lanes: where false, vector loads and stores do not touch memory
};

// Whether each lane has its own LOCALs, or only those of loops inside.
enum class Arrays : std::uint8_t { own, shared };

// result[copy][root]
std::vector<std::vector<Id>> expand(Graph& g, LoopIds& loops, std::span<const Id> roots, std::span<const Copy> copies,
                                    Arrays arrays = Arrays::own);

// Whether a value that is already a vector depends on the range: then the range cannot become lanes.
bool has_vectors_over(const Graph& g, std::span<const Id> roots, Id range);

}  // namespace kiln::compiler
