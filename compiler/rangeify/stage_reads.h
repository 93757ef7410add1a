// StageReads: the reads of each STAGE in a graph with RANGEs, and the loops around each read.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/rangeify/staging.h"

namespace kiln::compiler {

class StageReads {
 public:
  StageReads(const Graph& g, const Program& p);

  const std::vector<Id>& of(Id stage) const;  // INDEX nodes that read the stage, ascending
  // The loops around a read, outermost first. Inner loops that the read can be hoisted out of are left out. Exception: the
  // outermost loop with more than one iteration is in the list, because threads share its iterations.
  std::vector<Id> loops(Id read) const;
  // Whether it can be hoisted out of a loop.
  bool is_hoisted(Id read) const { return loops(read).size() < nest_of_[read]->size(); }

 private:
  using Nest = std::vector<Id>;
  void hand_on(Id node, const Nest& nest);
  const Nest* nest_with(const Nest& outer, std::span<const Id> inner);

  const Graph& g_;
  std::map<Nest, bool> nests_;        // all nests; their addresses are stable
  std::vector<const Nest*> nest_of_;  // by node: the deepest nest of its readers
  std::unordered_map<Id, std::vector<Id>> reads_;
  const std::vector<Id> none_;
};

// The distinct RANGEs of an expression, ascending. RANGEs that occur only under tensors that it loads from do not count.
std::vector<Id> ranges_in(const Graph& g, std::span<const Id> roots);

}  // namespace kiln::compiler
