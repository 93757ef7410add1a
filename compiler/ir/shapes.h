// The shape of every tensor-level node: its extents as index nodes. Each shape is derived once and kept.
#pragma once

#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/nth.h"

namespace kiln::compiler {

class Shapes {
 public:
  explicit Shapes(Graph& g) : graph_(g) {}

  // The extents of `id`; rank = size(). Index values, SYM, constants, STORE and SINK have no extents.
  // Requires well-formed nodes (builder.h, verify.h). May create index nodes (the sum of extents of a CONCAT).
  // The span is valid until the next call.
  std::span<const Id> operator()(Id id);
  std::vector<Id> of(Id id);
  int rank(Id id) { return count_of((*this)(id)); }

 private:
  struct Entry {
    static constexpr std::uint32_t unknown = 0xffffffffu;
    std::uint32_t begin = 0, rank = unknown;  // unknown: not derived yet
  };
  std::span<const Id> data_sources(Id id) const;
  Entry derive(Id id);
  Entry keep(std::span<const Id> extents);

  Graph& graph_;
  std::vector<Entry> entries_;
  std::vector<Id> pool_;
};

}  // namespace kiln::compiler
