// Calls f.operator()<T>() with the C++ type of a dtype.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "compiler/interp/scalar.h"
#include "compiler/ir/dtype.h"

namespace kiln::compiler {

void visit_type(DType d, auto&& f) {
  switch (d) {
    case DType::boolean: return f.template operator()<scalar::Bool>();
    case DType::i8: return f.template operator()<std::int8_t>();
    case DType::i16: return f.template operator()<std::int16_t>();
    case DType::i32: return f.template operator()<std::int32_t>();
    case DType::i64:
    case DType::index: return f.template operator()<std::int64_t>();
    case DType::u8: return f.template operator()<std::uint8_t>();
    case DType::u16: return f.template operator()<std::uint16_t>();
    case DType::u32: return f.template operator()<std::uint32_t>();
    case DType::u64: return f.template operator()<std::uint64_t>();
    case DType::f16: return f.template operator()<scalar::Half>();
    case DType::bf16: return f.template operator()<scalar::Brain>();
    case DType::f32: return f.template operator()<float>();
    case DType::f64: return f.template operator()<double>();
    case DType::none: break;
  }
  throw std::logic_error("interpreter: a value has no type");
}

}  // namespace kiln::compiler
