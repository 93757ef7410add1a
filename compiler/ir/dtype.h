// Element types of the IR. Codes 0..12 equal kiln_dtype of the runtime's C header (runtime/include/kiln/dtype.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kiln::compiler {

enum class DType : std::uint8_t {
  boolean,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f16,
  bf16,
  f32,
  f64,
  index,  // mathematical integer: never wraps, division rounds down; the last step of lowering makes it i32 or i64
  none    // effects (STORE, SINK, FOR without carried values)
};

constexpr bool is_float(DType d) { return d >= DType::f16 && d <= DType::f64; }
constexpr bool is_signed_int(DType d) { return d >= DType::i8 && d <= DType::i64; }
constexpr bool is_unsigned_int(DType d) { return d >= DType::u8 && d <= DType::u64; }
constexpr bool is_int(DType d) { return is_signed_int(d) || is_unsigned_int(d); }

constexpr int bits(DType d) {
  switch (d) {
    case DType::boolean:
    case DType::i8:
    case DType::u8: return 8;  // storage bits; a bool is one byte, 0 or 1
    case DType::i16:
    case DType::u16:
    case DType::f16:
    case DType::bf16: return 16;
    case DType::i32:
    case DType::u32:
    case DType::f32: return 32;
    case DType::i64:
    case DType::u64:
    case DType::f64:
    case DType::index: return 64;
    case DType::none: return 0;
  }
  return 0;
}
constexpr int bytes(DType d) { return bits(d) / 8; }

std::string_view name(DType d);  // "bool", "i8", ..., "f64", "index", "none"
std::optional<DType> dtype_from_name(std::string_view s);

}  // namespace kiln::compiler
