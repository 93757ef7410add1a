// Blocks on a line: offsets such that blocks in conflict do not overlap, with a low total. (Dynamic storage allocation; the
// best answer is NP-hard.) First fit in several orders, then a search that moves blocks at the peak forward in the order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kiln::compiler {

struct PlacementProblem {
  std::vector<std::int64_t> sizes;
  std::vector<std::vector<std::uint32_t>> conflicts;  // symmetric, ascending
  std::int64_t lower_bound = 0;                       // no placement is smaller: the search ends there
};

struct Placement {
  std::vector<std::int64_t> offsets;
  std::int64_t total = 0;
};

// Each block in this order at the lowest offset that is free.
Placement place_in_order(const PlacementProblem& p, std::span<const std::uint32_t> order);

// When a search ends that has not reached the lower bound. Deterministic: no clock.
struct SearchLimits {
  std::int64_t effort = 20'000'000;  // blocks looked at
  std::int64_t patience = 40;        // orders tried in vain for each pair of blocks: few blocks have few orders
};
Placement place(const PlacementProblem& p, SearchLimits limits = {});

}  // namespace kiln::compiler
