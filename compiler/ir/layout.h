// Where the elements of a parameter lie. A dense parameter is row-major. A pitched or strided one has strides that the call
// gives: symbols of kind `stride`, named PARAMETER.strideAXIS, in elements. Up to kernel_split a parameter is indexed by its
// axes, so strides appear in the positions of loads and stores alone.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/ir/program.h"

namespace kiln::compiler {

inline constexpr std::int64_t most_stride = std::int64_t{1} << 40;  // of either sign; the entry refuses more

// "", " pitched", " pitched 1" (the strides of the first axis alone), " strided".
std::string layout_text(int free_strides, int rank);
inline std::string layout_text(const Parameter& p) { return layout_text(p.free_strides, static_cast<int>(p.extents.size())); }

std::string stride_name(const Parameter& p, std::size_t axis);

// Adds the symbols of all strides, behind the extents. The name of a symbol that exists already is returned, or an empty text.
std::string declare_strides(Program& p);

// One stride for each axis.
std::vector<Id> strides_of(Graph& g, const Parameter& p);

// The position of an element. A dense parameter: row-major.
Id position_of(Graph& g, const Parameter& p, std::span<const Id> index);

// The same element's position in a dense array of the parameter's extents: every stride takes its row-major value. Exact,
// because a position is linear in strides that belong to this parameter alone.
Id dense_position(Graph& g, const Parameter& p, Id position);

// The parameter with free strides that gives a buffer its memory, directly or through Buffer::after; null for every other
// buffer.
const Parameter* free_layout(const Schedule& s, int buffer);

}  // namespace kiln::compiler
