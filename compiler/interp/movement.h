// Movement operations on whole arrays.
#pragma once

#include <span>
#include <vector>

#include "compiler/interp/array.h"
#include "compiler/ir/op.h"

namespace kiln::compiler {

Array permute_array(const Array& x, std::span<const std::int64_t> axes);
Array expand_array(const Array& x, std::vector<std::int64_t> extents);
Array slice_array(const Array& x, std::span<const std::int64_t> begin, std::span<const std::int64_t> step,
                  std::vector<std::int64_t> extents);
Array pad_array(const Array& x, const Array& value, PadMode mode, std::span<const std::int64_t> before,
                std::vector<std::int64_t> extents);
// step: stride and dilation of SHEAR or UNSHEAR.
Array shear_array(const Array& x, std::span<const std::int64_t> axes, std::span<const std::int64_t> step,
                  std::vector<std::int64_t> extents);
Array unshear_array(const Array& x, std::span<const std::int64_t> axes, std::span<const std::int64_t> step,
                    std::vector<std::int64_t> extents);
Array gather_array(const Array& x, std::span<const Array* const> index, std::vector<std::int64_t> extents);
Array concat_arrays(std::span<const Array* const> parts, std::size_t axis);

}  // namespace kiln::compiler
