// A dense row-major array of any element type, for the interpreter and the tools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/ir/dtype.h"

namespace kiln::compiler {

struct Array {
  DType dtype = DType::f32;
  std::vector<std::int64_t> extents;
  std::vector<std::byte> data;  // elements() * bytes(dtype) bytes; f16 and bf16 as bit patterns, bool as 0 or 1

  std::size_t elements() const {
    std::size_t n = 1;
    for (std::int64_t e : extents) n *= static_cast<std::size_t>(e);
    return n;
  }
};

}  // namespace kiln::compiler
