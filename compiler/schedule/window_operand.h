// window_operand: finds the tensor that windows of a reduction read, which overlap or touch.
//
// An operand of a REDUCE reads one tensor. Its index, and its conditions at the border, depend on some LOOP ranges j and window
// ranges k only through sums u = step * j + dilation * k. If a range u replaces each pair j and k, the operand becomes the
// padded tensor, one element for each u. An operand without such pairs counts too: its windows have one element. A window range
// is a range of the REDUCE, or an outer LOOP range, as in the derivative of a convolution by its filter.
// Example: 0 < 2*j + k ? x[2*j + k - 1] : 0 over j < 200, k < 3   ->   0 < u ? x[u - 1] : 0 over u < 401
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/range_ids.h"
#include "compiler/symbolic/bounds.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {

// The distance in the tensor between neighbours in a range: `factor` times `symbols` symbols.
struct TensorStride {
  std::size_t symbols = 0;
  std::int64_t factor = 0;
  auto operator<=>(const TensorStride&) const = default;
};

// u = step * loop + dilation * window. One of the two factors is 1.
struct WindowAxis {
  Id loop, window;
  std::int64_t step, dilation;
  TensorStride stride;
  Id u = no_id;            // a range
  std::int64_t first = 0;  // the place of u = 0 in a copy that reaches farther over the border
};

// A range of the value that is in no WindowAxis.
struct WindowDimension {
  Id range;  // of the padded value
  Id at;     // in the kernel: the range, or a quotient of a range, such as the group of an output channel
  TensorStride stride;
};

struct WindowOperand {
  Id value;                      // of the reduction: a LOAD, and the selection of the border's value
  Id padded;                     // the value over the ranges of axes and dimensions
  Id load;                       // of the padded value
  std::vector<WindowAxis> axes;  // in the order of the loops
  std::vector<WindowDimension> others;
  double length = 0;  // elements of the padded value, at typical extents
  double reads = 0;   // number of reads of its elements by the kernel
};

// nullopt: the operand is not such a value. loops: the LOOP ranges of the kernel.
std::optional<WindowOperand> window_operand(Graph& g, Id value, std::span<const Id> loops, RangeIds& ids, Simplifier& simplify);

// The extent of a range; a typical extent if it is not known.
std::int64_t typical_extent(const Graph& g, Bounds& bounds, Id range);

// step * loop + dilation * window + first
Id sum_of_axis(Graph& g, const WindowAxis& a);

}  // namespace kiln::compiler
