// An evaluator of index expressions that shares no code with the compiler: 128-bit integers, many points at once.
#pragma once

#include <array>
#include <vector>

#include "tests/fuzz/index_expression.h"

namespace kiln::test {

class IndexProgram {
 public:
  static constexpr std::int64_t n_exhaustive = 288;
  static constexpr std::size_t lanes = 72;  // points at once: 64, and 8 corners
  using Value = __int128;
  using Values = std::array<Value, lanes>;

  // Evaluates the roots. A point where one of the `assumptions` (conditions) is false is dead.
  IndexProgram(const Graph& g, const std::vector<Leaf>& leaves, const std::vector<Id>& roots,
               const std::vector<Id>& assumptions);

  // Visits every combination of the used leaves' values, if there are few.
  bool few_points() const { return points_ <= n_exhaustive; }
  std::size_t batches() const { return few_points() ? (static_cast<std::size_t>(points_) + lanes - 1) / lanes : 1; }
  void run_all(std::size_t batch);
  void run_corners_and_random(Random& random);

  const std::vector<Id>& nodes() const { return nodes_; }
  const Values& operator[](Id id) const { return values_[position_[id]]; }
  // False: the point is outside of a loop or of the assumptions, or needs more than 128 bits.
  bool alive(std::size_t lane) const { return alive_[lane]; }

 private:
  void evaluate();
  void apply(Id id, Values& out);
  void put(const Leaf& leaf, std::size_t lane, std::int64_t k) {
    values_[position_[leaf.id]][lane] = leaf.min + k * Value{leaf.step};
  }

  const Graph& g_;
  std::vector<Id> nodes_;
  std::vector<Leaf> leaves_;  // the used leaves
  const std::vector<Id>& assumptions_;
  std::int64_t points_ = 1;
  std::vector<std::uint32_t> position_;  // by id
  std::vector<Values> values_;
  std::array<bool, lanes> alive_;
};

}  // namespace kiln::test
