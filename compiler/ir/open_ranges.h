// On which RANGEs each node depends that nothing below it has closed yet. REDUCE, STAGE and END close the RANGEs that they end,
// a KERNEL and a FOR their own. Internal to the verifier.
#pragma once

#include <map>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

class OpenRanges {
 public:
  explicit OpenRanges(const Graph& g) : g_(g), of_(g.size(), 0) { number({}); }

  void visit(Id id);                                                  // once each, sources first
  const std::vector<Id>& of(Id id) const { return *sets_[of_[id]]; }  // ascending

 private:
  std::uint32_t number(std::vector<Id> set);
  std::uint32_t merge(std::uint32_t a, std::uint32_t b);
  std::uint32_t without(std::uint32_t a, std::span<const Id> gone);

  const Graph& g_;
  std::vector<std::uint32_t> of_;
  std::map<std::vector<Id>, std::uint32_t> ids_;
  std::vector<const std::vector<Id>*> sets_;
};

inline bool is_negative(const Graph& g, Id index) { return g.is_const(index) && g.arg(index, 0) < 0; }

// The RANGEs that a node closes: none for most.
std::span<const Id> closed_ranges(const Graph& g, Id id);

}  // namespace kiln::compiler
