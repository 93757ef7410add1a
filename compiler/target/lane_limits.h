// Limits on the sizes of loop bodies and loops, for the plans of vectorisation (vectorize_plan, explicit_plan,
// workgroup_lanes). Measured on x86-64.
#pragma once

#include <cstdint>

namespace kiln::compiler {

inline constexpr int narrowest_value = 4;  // bytes of a lane in a kernel of the program; its indices are at least that wide
inline constexpr std::int64_t shortest_lanes = 4;  // fewest iterations that are worth lanes
// A body with loops and at most this many operations may have vectors of two registers: its values still fit the registers.
inline constexpr int short_body = 48;
inline constexpr std::size_t most_stores_of_loop = 8;  // in the loop of a reduction that stores elements too
// Most products of a window that are written out: over several channels, and over rows and columns of one (7 x 7).
inline constexpr std::int64_t most_of_window = 32, most_of_plane_window = 49;
// Most operations of a body of which four vectors, or eight that hold a whole row, fit the registers.
inline constexpr int short_chain = 8;
// A body with more operations is emitted once, with masks in every vector. Other bodies are also emitted for the rest.
inline constexpr int huge_body = 1000;
// A reduction along the columns of a matrix has lanes of columns if there are at least fewest_columns. If the reduction is
// striped, one element may take at most most_of_columns operations, because the code has 32 copies of them.
inline constexpr std::int64_t fewest_columns = 8;
inline constexpr int most_of_columns = 8;

}  // namespace kiln::compiler
