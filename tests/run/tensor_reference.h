// An independent reference for movement operations and reductions: direct loops over coordinates. It uses only the names of
// dtypes and operations from the compiler. docs/reference/numbers.md defines the order of reductions.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tests/run/reference.h"

namespace kiln::compiler::testing {

using Extents = std::vector<std::int64_t>;

struct Tensor {
  DType dtype = DType::f32;
  Extents extents;
  std::vector<Bits> elements;  // row-major

  Bits at(const Extents& coordinates) const;
};

// The tensor whose element at each coordinate is value(coordinate).
Tensor tabulate(DType d, const Extents& extents, const std::function<Bits(const Extents&)>& value);

Tensor expected_reshape(const Tensor& x, const Extents& extents);
Tensor expected_expand(const Tensor& x, const Extents& extents);
Tensor expected_permute(const Tensor& x, const std::vector<std::int64_t>& axes);
Tensor expected_slice(const Tensor& x, const Extents& begin, const std::vector<std::int64_t>& step, const Extents& extents);
Tensor expected_pad(const Tensor& x, Bits value, PadMode mode, const Extents& before, const Extents& extents);
Tensor expected_concat(const std::vector<Tensor>& parts, std::int64_t axis);
Tensor expected_iota(DType d, std::int64_t extent);
// Reduces one axis after the other, the last one first.
Tensor expected_reduce(ReduceKind kind, Tensor x, const std::vector<std::int64_t>& axes);
Tensor expected_scan(ReduceKind kind, const Tensor& x, std::int64_t axis, bool exclusive, bool reversed);
// acc = fma(a(k), b(k), acc) for k = 0 .. count - 1, starting at +0.
Bits expected_chain(DType d, std::int64_t count, const std::function<Bits(std::int64_t)>& a,
                    const std::function<Bits(std::int64_t)>& b);
// 32 such chains per block of 65536, their tree of additions, and the sum of the blocks.
Bits expected_dot(DType d, std::int64_t count, const std::function<Bits(std::int64_t)>& a,
                  const std::function<Bits(std::int64_t)>& b);

}  // namespace kiln::compiler::testing
