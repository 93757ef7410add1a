// ExactIndex: reads integer arithmetic of a fixed width (i32, ...) as index values, as far as no operation can wrap.
//
// Why: a condition on index values can be solved for a range. x + y < c means x < c - y for exact integers, but not for i8
//   (x = y = c = -128). If nothing can wrap, both readings give the same number.
// Example: cast i32(r) + 1, with r < N <= 1000, is the index value r + 1.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/graph.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {

class ExactIndex {
 public:
  ExactIndex(Graph& g, Simplifier& simplify) : g_(g), simplify_(simplify) {}

  // The index value that equals this integer in every evaluation; no_id if none is known. A load, or a result that may wrap,
  // becomes a cast to index. A cast of i64 is clamped to +-2^61: that is outside of every tensor, and sums still fit 64 bits.
  Id operator()(Id value);
  // The same for integer arithmetic without data; no_id if some operation may wrap, or an operand is data.
  Id without_data(Id value);
  // A result of operator() without the clamp that it put around a cast of i64. For values that are compared with an extent
  // before any other use.
  Id uncut(Id index) const;

 private:
  static constexpr std::size_t most_nodes = 256;
  Id lifted(Id id);
  Id form(Op op, std::span<const Id> x, int width);
  Id of_memory(Id id);
  bool fits(Id index, DType d);
  std::vector<Id> inside(Id value) const;

  Graph& g_;
  Simplifier& simplify_;
  std::unordered_map<Id, Id> done_;
  std::unordered_set<Id> of_data_;  // of the values in done_, those whose index values contain data
};

}  // namespace kiln::compiler
