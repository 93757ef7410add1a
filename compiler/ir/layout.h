// The memory layout of parameters. A dense parameter is row-major. A pitched or strided parameter has strides that each call
// gives: symbols of kind `stride`, named PARAMETER.strideAXIS, in elements. Passes before kernel_split index a parameter by its
// axes, so strides occur only in the linear indices of loads and stores.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/ir/schedule.h"

namespace kiln::compiler {

// "", " pitched", " pitched 1" (only the first axis has a stride of the caller), " strided".
std::string layout_text(int free_strides, int rank);
inline std::string layout_text(const Parameter& p) { return layout_text(p.free_strides, count_of(p.extents)); }

std::string stride_name(const Parameter& p, std::size_t axis);

// Adds the symbols of all strides after the extents. If another symbol already has the name of a stride, returns this name,
// else "".
std::string declare_strides(Program& p);

// One stride for each axis.
std::vector<Id> strides_of(Graph& g, const Parameter& p);

// The linear index of an element.
Id position_of(Graph& g, const Parameter& p, std::span<const Id> index);

// The linear index of the same element in a dense array of the parameter's extents. Replaces every stride by its row-major
// value, which is exact, because the index is linear in the strides and no other parameter has these symbols.
Id dense_position(Graph& g, const Parameter& p, Id position);

// The parameter with free strides that gives a buffer its memory, directly or through Buffer::after; null for other buffers.
const Parameter* free_layout(const Schedule& s, int buffer);

}  // namespace kiln::compiler
