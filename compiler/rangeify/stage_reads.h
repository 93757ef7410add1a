// Who reads each stage of a program of ranges, and how often: for every INDEX(STAGE, ...) the loops around it.
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

  const std::vector<Id>& of(Id stage) const;  // INDEX nodes, ascending
  // Loops that such a node runs in, outermost first, when those inside that it does not use are left out.
  std::vector<Id> loops(Id read) const;

 private:
  using Nest = std::vector<Id>;
  void hand_on(Id node, const Nest& nest);
  const Nest* nest_with(const Nest& outer, std::span<const Id> inner);

  const Graph& g_;
  std::map<Nest, bool> nests_;        // owns them
  std::vector<const Nest*> nest_of_;  // by node: the deepest of its readers'
  std::unordered_map<Id, std::vector<Id>> reads_;
  const std::vector<Id> none_;
};

// Distinct RANGEs of an expression, not those of loads or reductions inside.
std::vector<Id> ranges_in(const Graph& g, std::span<const Id> roots);

}  // namespace kiln::compiler
