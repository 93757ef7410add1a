// A dense row-major array of any element type, for the interpreter and the tools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/ir/dtype.h"

namespace kiln::compiler {

struct Array {
  DType dtype = DType::f32;
  std::vector<std::int64_t> extents;
  std::vector<std::byte> data;  // elements() * bytes(dtype) bytes; f16 and bf16 as bit patterns, bool as 0 or 1

  static Array zeros(DType d, std::vector<std::int64_t> extents) {
    Array a{d, std::move(extents), {}};
    a.data.resize(a.elements() * size_of(d));
    return a;
  }
  const std::byte* at(std::int64_t element) const { return data.data() + element * bytes(dtype); }
  std::size_t extent(std::size_t axis) const { return static_cast<std::size_t>(extents[axis]); }
  std::size_t elements() const { return elements(0, extents.size()); }
  std::size_t elements(std::size_t first, std::size_t last) const {  // of the axes first .. last - 1
    std::size_t n = 1;
    for (std::size_t axis = first; axis < last; ++axis) n *= extent(axis);
    return n;
  }
};

}  // namespace kiln::compiler
