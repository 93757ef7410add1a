// group_accesses: what the positions of a group touch between two barriers, position by position.
//
// Positions become lanes where those of one vector do not meet: no element that one of them writes is touched by another. Every
// index is evaluated at every position, in every turn of the loops around and inside; what neither is known nor differs between
// positions (symbols, numbers of groups) must be the same term of all accesses to the memory. Conservative: not independent
// also where it cannot be told, or would take too long.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

struct GroupAccesses {
  bool independent = false;
  // Indices of accesses that grow by the same amount from each lane to the next, in all vectors: by that.
  std::unordered_map<Id, std::int64_t> strides;
  // Where lanes are from the first one, of indices that do not go up or down by 1: where that is the same in all whole vectors.
  std::unordered_map<Id, std::vector<std::int64_t>> patterns;
};

// loop: a FOR over the positions, `size` at most, K level. Vectors begin at multiples of `lanes`.
GroupAccesses group_accesses(Graph& g, Id sink, Id loop, int lanes, std::int64_t size, const Facts& facts);

}  // namespace kiln::compiler
