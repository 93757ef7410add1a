// Element types of the IR: the types of kiln/dtype.h, with the same codes, and `index` and `none`, which only the IR has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "compiler/ir/nth.h"
#include "kiln/dtype.h"

namespace kiln::compiler {

enum class DType : std::uint8_t {
  boolean = KILN_BOOL,
#define KILN_X(code, name, bits, type) name = KILN_##code,
  // clang-format off
  KILN_NUMBER_DTYPES(KILN_X)
// clang-format on
#undef KILN_X
      index,  // mathematical integer: never wraps, division rounds down; the last step of lowering makes it i32 or i64
  none        // effects (STORE, SINK, FOR without carried values)
};

constexpr bool is_float(DType d) { return d >= DType::f16 && d <= DType::f64; }
constexpr bool is_signed_int(DType d) { return d >= DType::i8 && d <= DType::i64; }
constexpr bool is_unsigned_int(DType d) { return d >= DType::u8 && d <= DType::u64; }
constexpr bool is_int(DType d) { return is_signed_int(d) || is_unsigned_int(d); }

#define KILN_X(code, name, bits, type) bits,
inline constexpr std::uint8_t dtype_bits[] = {KILN_DTYPES(KILN_X) 64, 0};  // also of index and none
#undef KILN_X
constexpr int bits(DType d) { return nth(dtype_bits, d); }  // storage bits; a bool is one byte, 0 or 1
constexpr int bytes(DType d) { return bits(d) / 8; }
constexpr std::size_t size_of(DType d) { return static_cast<std::size_t>(bytes(d)); }  // bytes() in memory, like sizeof

std::string_view name(DType d);  // "bool", "i8", ..., "f64", "index", "none"
std::optional<DType> dtype_from_name(std::string_view s);

}  // namespace kiln::compiler
