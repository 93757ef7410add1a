// Scopes: to which loop each value of a kernel belongs.
//
// before: a P-level SINK. after: the loops as a tree and, per node, the deepest loop whose RANGE or CARRY it depends on.
// An effectful FOR belongs to the FOR (or SINK) that lists it; a pure one to the deepest loop it depends on.
// precondition: each RANGE is the induction variable of one FOR. postcondition: a node's sources have scopes that enclose its
// own.
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
  bool certain = false;  // bounds are constants and the body runs at least once
};

struct Scopes {
  std::vector<Id> nodes;              // reachable, ascending
  std::vector<LoopScope> loops;       // [0] is the root: the kernel itself
  std::vector<std::int32_t> of;       // by node id; for a FOR: the scope that contains it; -1 when not reachable
  std::vector<std::int32_t> loop_of;  // by node id: loop whose FOR or RANGE the node is, or -1
  // By node id: depends on a LOAD of the same iteration. Such a value must not move above a loop that may run zero times,
  // because the memory it reads may not exist then.
  std::vector<bool> reads_memory;

  bool encloses(std::int32_t outer, std::int32_t inner) const;
  // Where to compute a node that is wanted in scope `use`.
  std::int32_t place(Id node, std::int32_t use) const;
};

Scopes find_scopes(const Graph& g, Id sink);

// Sources of a FOR by role.
struct ForParts {
  Id range, begin, end;
  std::span<const Id> init, yield, effects;
  std::int64_t step;
  bool has_condition;  // carried value 0: ends when it is false in all lanes
};
ForParts for_parts(const Graph& g, Id loop);

}  // namespace kiln::compiler
