// Tools that rewrite one kernel. Their cost depends on the size of the kernel, not of the graph, which holds all kernels.
#pragma once

#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/range_ids.h"

namespace kiln::compiler {

// Rebuilds `root`, sources before users. rule(node, rebuilt sources) returns the new node, or no_id for the same node with
// these sources.
template <class Rule>
Id rewrite(Graph& g, Id root, Rule&& rule) {
  std::unordered_map<Id, Id> done;
  std::vector<Id> sources;
  for (const Id id : g.reachable(root)) {
    sources.clear();
    for (const Id s : g.src(id)) sources.push_back(done.at(s));
    const LocScope of_node(g, g.loc(id));
    const Id made = rule(id, std::span<const Id>(sources));
    done[id] = made == no_id ? g.with_src(id, sources) : made;
  }
  return done.at(root);
}

// The RANGE, the nodes that depend on it, and the RANGEs of inner loops that depend on it. nodes: ascending.
std::unordered_set<Id> depends_on_range(const Graph& g, std::span<const Id> nodes, Id range);

// For each RANGE, the nodes that depend on it, ascending: the RANGE, and the nodes inside the loop over it. nodes: ascending,
// with all their sources. One call visits the kernel once. A depends_on_range for each loop would visit it once for each loop.
std::unordered_map<Id, std::vector<Id>> nodes_by_range(const Graph& g, std::span<const Id> nodes);

// The FOR that has this RANGE.
Id loop_of(const Graph& g, Id sink, Id range);

}  // namespace kiln::compiler
