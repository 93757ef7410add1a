// Limits on the sizes of loop bodies and loops, for the plans of vectorisation (vectorize_plan, explicit_plan,
// workgroup_lanes). Measured on x86-64.
#pragma once

#include <cstdint>

namespace kiln::compiler {

inline constexpr int narrowest_value = 4;  // bytes of a lane in a kernel of the program; its indices are at least that wide
inline constexpr std::int64_t shortest_lanes = 4;  // fewest iterations that are worth lanes
inline constexpr int short_body = 48;              // most operations of a body with loops for which two registers per value fit
inline constexpr int huge_body = 1000;  // more operations: one copy of the code, with masks everywhere, is better than two
// A reduction along a column of a matrix may have lanes of columns.
inline constexpr std::int64_t fewest_columns = 8;
inline constexpr int most_of_columns = 8;  // operations for one element, if the reduction is striped: there are 32 copies

}  // namespace kiln::compiler
