// Calls f.operator()<T>() with the C++ type of a dtype.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "compiler/interp/scalar.h"
#include "compiler/ir/dtype.h"

namespace kiln::compiler {

void visit_type(DType d, auto&& f) {
  using float16 = scalar::Half;
  using bfloat16 = scalar::Brain;
  switch (d) {
    case DType::boolean: return f.template operator()<scalar::Bool>();
#define KILN_X(code, name, bits, type) \
  case DType::name: return f.template operator()<type>();
      KILN_NUMBER_DTYPES(KILN_X)
#undef KILN_X
    case DType::index: return f.template operator()<std::int64_t>();
    case DType::none: break;
  }
  throw std::logic_error("interpreter: a value has no type");
}

}  // namespace kiln::compiler
