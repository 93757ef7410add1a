// Constants as text and back, exactly. The text of a float is the shortest decimal that reads back the same, inf, nan, or
// bits(0x...) for other NaNs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/ir/dtype.h"

namespace kiln::compiler {

// bits: in the form of CONST in op.h. Zero-extended to 64, signed integers sign-extended, index the integer itself.
std::string literal_text(DType d, std::uint64_t bits);
// Reads decimal, hexadecimal (0x10, 0x1.8p+3), true/false, inf, nan, bits(0x7fc00001). Rounds floats to nearest even; f16 and
// bf16 are rounded from the f64 of the text. nullopt: malformed or out of range.
std::optional<std::uint64_t> literal_bits(DType d, std::string_view text);
// The exact value of a float constant.
double float_value(DType d, std::uint64_t bits);
// Whether the bits have the form of CONST in op.h.
bool is_canonical_literal(DType d, std::uint64_t bits);

}  // namespace kiln::compiler
