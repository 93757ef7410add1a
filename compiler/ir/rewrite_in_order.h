// rewrite_in_order: the loop of passes that rebuild a graph node by node.
#pragma once

#include <span>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// Sets done[id] = rewritten(id) for each node of `order`, which has sources before users. Nodes that `rewritten` makes get the
// location of the old node. Returns the last node's result.
template <class Done, class Rule>
auto rewrite_in_order(Graph& g, std::span<const Id> order, Done& done, Rule&& rewritten) {
  for (const Id id : order) {
    const LocScope of_node(g, g.loc(id));
    done[id] = rewritten(id);
  }
  return done[order.back()];
}

}  // namespace kiln::compiler
