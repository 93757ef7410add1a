// ValueCopies: copies a scalar value, with index expressions in place of its RANGEs.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {

// The operands of INDEX {tensor, i...}, with the gate taken off the first index.
struct GatedIndex {
  std::vector<Id> index;
  Id gate = no_id;  // bool; no_id: always true
};
GatedIndex gated_index(const Graph& g, Id access);
Id access_of_tensor(Graph& g, Id tensor, GatedIndex at);

class ValueCopies {
 public:
  ValueCopies(Graph& g, const Program& p);

  // A copy of `value`, in which the indices in `place` replace RANGEs, and which loads only where `gate` holds. A REDUCE that
  // changes gets new RANGEs. The copy shares all nodes that do not change.
  // Example: x[r0] * y[r1] with place {r0: i + 1} becomes x[i + 1] * y[r1].
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
