// RangeIds: makes RANGEs whose ids no other RANGE of the kernel has.
#pragma once

#include <cstdint>
#include <span>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// The verifier checks that the numbers of all RANGEs are below this. New RANGEs get the next numbers above the greatest one.
inline constexpr std::int64_t range_number_limit = std::int64_t{1} << 40;
// The same for the RANGEs of a program at the tensor level. The dependence test numbers its own RANGEs from here on.
inline constexpr std::int64_t program_range_limit = 1'000'000;

class RangeIds {
 public:
  RangeIds(const Graph& g, std::span<const Id> roots);
  RangeIds(const Graph& g, Id root) : RangeIds(g, std::span(&root, 1)) {}
  Id range(Graph& g, Id end, RangeKind kind);

 private:
  std::int64_t next_ = 0;
};

}  // namespace kiln::compiler
