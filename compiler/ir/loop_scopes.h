// Scopes: finds the loop that each value of a kernel belongs to.
//
// Before: a SINK at P level.
// After: the loops as a tree and, by node, the deepest loop whose RANGE or CARRY the node depends on. A FOR that is an effect
//   belongs to the FOR or SINK that has it as an effect. Any other FOR belongs to the deepest loop that it depends on. The
//   scopes of a node's sources enclose the node's scope.
// Requires: each RANGE belongs to one FOR.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

inline constexpr std::int32_t root_scope = 0;

struct LoopScope {
  Id loop = no_id;  // FOR; no_id for the root
  Id range = no_id;
  std::int32_t parent = -1;
  std::int32_t depth = 0;
  bool certain = false;  // the bounds are constants, and the body runs at least once
};

struct Scopes {
  std::vector<Id> nodes;              // reachable nodes, ascending
  std::vector<LoopScope> loops;       // [0] is the root: the kernel itself
  std::vector<std::int32_t> of;       // by node: its scope; of a FOR: the scope around it; -1: not reachable
  std::vector<std::int32_t> loop_of;  // by node: the loop of a FOR or RANGE; -1: another node
  // By node: whether it depends on a LOAD of the same iteration. Such a value must not move in front of a loop that may have no
  // iteration, because then the memory that it reads may not exist.
  std::vector<bool> reads_memory;

  bool encloses(std::int32_t outer, std::int32_t inner) const;
  // The scope in which code computes a node for a use in scope `use`.
  std::int32_t place(Id node, std::int32_t use) const;
};

Scopes find_scopes(const Graph& g, Id sink);

// The sources of a FOR by name.
struct ForParts {
  Id range, begin, end;
  std::span<const Id> init, yield, effects;
  std::int64_t step;
  bool has_condition;  // the loop ends if carried value 0 is false in all lanes
};
ForParts for_parts(const Graph& g, Id loop);

// Whether the loop is known to have one iteration or none: it begins at a constant and ends at MIN(x, constant).
bool runs_at_most_once(const Graph& g, const ForParts& f);

}  // namespace kiln::compiler
