// A value for each of some nodes. A table over one kernel of a large program is as small as the kernel.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

template <class T>
class NodeTable {
 public:
  // nodes: ascending, and alive as long as the table.
  NodeTable(std::span<const Id> nodes, T initial) {
    const std::size_t ids = nodes.empty() ? 0 : nodes.back() + std::size_t{1};
    const bool by_id = ids <= most_ids_per_node * nodes.size();
    if (!by_id) nodes_ = nodes;
    values_.assign(by_id ? ids : nodes.size(), initial);
  }
  // For all nodes of a graph of this size.
  NodeTable(std::size_t size, T initial) : values_(size, initial) {}

  // Requires: id is one of the nodes.
  T& operator[](Id id) { return values_[place(id)]; }
  const T& operator[](Id id) const { return values_[place(id)]; }

 private:
  static constexpr std::size_t most_ids_per_node = 16;  // an array with more gaps is slower than a search

  std::size_t place(Id id) const {
    return nodes_.empty() ? id : static_cast<std::size_t>(std::ranges::lower_bound(nodes_, id) - nodes_.begin());
  }

  std::span<const Id> nodes_;  // empty: the place of a value is the id
  std::vector<T> values_;
};

}  // namespace kiln::compiler
