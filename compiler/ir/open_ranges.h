// The open RANGEs of each node: the RANGEs that the node depends on, except RANGEs that the node itself or a node under it
// closes. REDUCE, STAGE and END close the RANGEs among their sources. KERNEL and FOR close the RANGEs that they own.
#pragma once

#include <map>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/node_table.h"

namespace kiln::compiler {

class OpenRanges {
 public:
  explicit OpenRanges(const Graph& g) : g_(g), of_(g.size(), 0) { number({}); }
  // For these nodes, ascending.
  OpenRanges(const Graph& g, std::span<const Id> nodes) : g_(g), of_(nodes, 0) { number({}); }

  // Call it once for each node, sources first. `around` is the RANGE of a loop that has the node as an effect, so that the node
  // depends on it too.
  void visit(Id id, Id around = no_id);
  const std::vector<Id>& of(Id id) const { return *sets_[of_[id]]; }  // ascending

 private:
  std::uint32_t number(std::vector<Id> set);
  std::uint32_t merge(std::uint32_t a, std::uint32_t b);
  std::uint32_t without(std::uint32_t a, std::span<const Id> gone);

  const Graph& g_;
  NodeTable<std::uint32_t> of_;
  std::map<std::vector<Id>, std::uint32_t> ids_;
  std::vector<const std::vector<Id>*> sets_;
};

inline bool is_negative(const Graph& g, Id index) { return g.is_const(index) && g.value(index) < 0; }

// The RANGEs that a node closes. Most nodes close none.
std::span<const Id> closed_ranges(const Graph& g, Id id);

}  // namespace kiln::compiler
