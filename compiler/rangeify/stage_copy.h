// A scalar value of a program of ranges, written once more for other iterations.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {

// INDEX {tensor, i...}: its indices, the gate of the first taken off; no_id: always.
struct GatedIndex {
  std::vector<Id> index;
  Id gate = no_id;
};
GatedIndex gated_index(const Graph& g, Id access);
Id access_of_tensor(Graph& g, Id tensor, GatedIndex at);

class ValueCopies {
 public:
  ValueCopies(Graph& g, const Program& p);

  // `value` with ranges replaced by indices, read only where `gate` holds. RANGEs of reductions that change become new ones;
  // what does not depend on the replaced ranges stays the same node.
  Id make(Id value, const std::unordered_map<Id, Id>& place, Id gate);

 private:
  std::vector<Id> nodes_of(Id value) const;
  std::unordered_set<Id> changed_of(const std::vector<Id>& nodes, const std::unordered_map<Id, Id>& place, bool gated) const;
  Id simple(Id index);

  Graph& g_;
  const Facts facts_;
  Simplifier simplify_;
  std::int64_t next_range_ = 0;
};

}  // namespace kiln::compiler
