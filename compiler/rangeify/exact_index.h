// Integers of a width, read as index values: where nothing can wrap, arithmetic on positions is the same number either way, and
// then conditions on it can be solved. x + y < c says x < c - y of exact integers, but not of i8 (x = y = c = -128).
#pragma once

#include <optional>
#include <span>
#include <unordered_map>

#include "compiler/ir/graph.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {

class ExactIndex {
 public:
  ExactIndex(Graph& g, Simplifier& simplify) : g_(g), simplify_(simplify) {}

  // The index value that equals this integer whenever it is computed; no_id when none is known. What is read from memory is
  // taken as it is: it gets no arithmetic, and i64 is cut to +-2^61, beyond every position.
  Id operator()(Id value);
  // Without the cut: for a value that is compared with an extent before anything else is done with it.
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
};

}  // namespace kiln::compiler
