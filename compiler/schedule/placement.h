// Placement: offsets for blocks on a line such that conflicting blocks do not overlap, with a small total.
//
// Example: sizes 4, 8, 4, conflicts 0-1 and 1-2: offsets 0, 4, 0, total 12.
// Algorithm: first fit in several orders, then a local search that moves blocks at the peak forward in the order. The problem
// is dynamic storage allocation, which is NP-hard (Garey and Johnson 1979, SR2).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kiln::compiler {

struct PlacementProblem {
  std::vector<std::int64_t> sizes;
  std::vector<std::vector<std::uint32_t>> conflicts;  // symmetric, ascending
  std::int64_t lower_bound = 0;                       // no placement has a smaller total: the search stops at it
};

struct Placement {
  std::vector<std::int64_t> offsets;
  std::int64_t total = 0;
};

// First fit: each block in this order takes the lowest free offset.
Placement place_in_order(const PlacementProblem& p, std::span<const std::uint32_t> order);

// Limits of a search that does not reach the lower bound. They count work, not time, so that the result is deterministic.
struct SearchLimits {
  std::int64_t effort = 20'000'000;  // blocks examined
  std::int64_t patience = 40;        // orders without progress, times the square of the number of blocks
};
Placement place(const PlacementProblem& p, SearchLimits limits = {});

}  // namespace kiln::compiler
