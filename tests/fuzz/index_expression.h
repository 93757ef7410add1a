// Random index expressions with their facts, and an evaluator of them that shares nothing with the compiler's: 128-bit
// integers, a value for every leaf.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"

namespace kiln::test {

using compiler::Graph;
using compiler::Id;
using compiler::Op;

// Symbols with intervals (negative ones and multiples among them), loops with constant, symbolic and empty ends.
class IndexExpressions {
 public:
  IndexExpressions(Graph& g, std::uint64_t seed);

  const compiler::Facts& facts() const { return facts_; }
  const std::vector<Id>& leaves() const { return leaves_; }
  Id next();  // of dtype index, or a condition

 private:
  std::int64_t pick(std::int64_t a, std::int64_t b);
  Id leaf();
  Id value(int size);
  Id condition(int size);
  Id reshaped();
  Id make(Op op, Id a, Id b);
  void add_symbol(const char* name, std::int64_t min, std::int64_t max, std::int64_t multiple);
  void add_range(Id end);

  Graph& g_;
  std::mt19937_64 random_;
  compiler::Facts facts_;
  std::vector<Id> leaves_;  // symbols, then ranges
};

// The nodes under a few roots as a list, evaluated again and again.
class IndexProgram {
 public:
  using Value = __int128;

  IndexProgram(const Graph& g, std::vector<Id> roots);
  const std::vector<Id>& leaves() const { return leaves_; }  // ascending: a range after what its end needs
  const std::vector<Id>& nodes() const { return nodes_; }
  // Values of all nodes, or false where a loop does not happen (a RANGE's value must be below its end) or 128 bits are too few.
  bool run(const std::vector<std::int64_t>& leaf_values);
  Value operator[](Id id) const { return values_[id]; }
  // The end of a range, given what was run last (its end is among the nodes).
  std::int64_t end_of(Id range) const { return static_cast<std::int64_t>(values_[g_.src(range, 0)]); }

 private:
  Value apply(Id id);
  const Graph& g_;
  std::vector<Id> nodes_, leaves_;
  std::vector<Value> values_;  // by id
  bool overflow_ = false;
};

}  // namespace kiln::test
