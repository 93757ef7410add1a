// The number of a node of a graph. This folder only compares such numbers: it does not depend on the graph.
#pragma once

#include <cstdint>

namespace kiln::compiler {

using Id = std::uint32_t;
inline constexpr Id no_id = 0xffffffffu;

}  // namespace kiln::compiler
