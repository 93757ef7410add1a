// loop_counts: how often the loops of a kernel run, and how far apart the elements of neighbouring iterations are.
//
// Before: the loops of a kernel at P level (loop_scopes.h).
// After: numbers for each loop. A bound that depends on a loop around it has its average over some iterations of that loop. A
//   symbolic extent counts as typical_extent. A loop that data ends counts as typical_iterations.
// Example: for (b = 0; b < 1000; b += 256) for (i = b; i < min(b + 256, 1000); ++i)  ->  1 entry and 4 turns;
//   4 entries and 1000 turns
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/ir/loop_scopes.h"
#include "compiler/ir/schedule.h"

namespace kiln::compiler {

inline constexpr std::int64_t typical_extent = 1024;
inline constexpr std::int64_t typical_iterations = 64;

// The value of an index expression over symbols. nullopt: it overflows.
std::optional<std::int64_t> typical_value(const Graph& g, Id expression);

struct LoopCount {
  double entries = 0;  // how often the loop begins
  double turns = 0;    // iterations, of all entries together
};

class LoopCounts {
 public:
  LoopCounts(const Graph& g, const LoweredKernel& kernel, const Scopes& scopes);

  const LoopCount& of(std::int32_t loop) const { return counts_[static_cast<std::size_t>(loop)]; }
  // Iterations of one entry, on average.
  double turns_of_entry(std::int32_t loop) const { return of(loop).entries > 0 ? of(loop).turns / of(loop).entries : 0; }
  // The index of an access (its first lane) in the middle iteration of each loop, in elements.
  double index(Id access) const;
  // By how much the index grows from one iteration of the loop to the next.
  double stride(Id access, std::int32_t loop) const;

 private:
  using Values = std::vector<std::optional<std::int64_t>>;  // by node

  void visit(std::int32_t loop, double times);
  void evaluate(std::span<const Id> nodes, Values& values) const;
  void place(std::int32_t loop, bool behind, Values& values) const;
  void find_indices(const LoweredKernel& kernel);

  const Graph& g_;
  const Scopes& scopes_;
  std::int64_t trip_count_ = typical_extent;
  std::vector<LoopCount> counts_;                  // by loop
  std::vector<std::vector<std::int32_t>> inside_;  // by loop: the loops directly in it
  std::vector<std::vector<Id>> bounds_;            // by loop: the nodes of its bounds, ascending
  std::vector<bool> matters_;                      // by loop: bounds of loops inside depend on it
  Values now_;                                     // by node
  // By loop: the values one iteration later, of the nodes in it that have others then.
  std::vector<std::unordered_map<Id, std::optional<std::int64_t>>> next_;
};

}  // namespace kiln::compiler
