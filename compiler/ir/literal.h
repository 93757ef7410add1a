// A constant's bits as text and back, exactly: shortest decimal that reads back the same, inf, nan, bits(0x...) for other NaNs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/ir/dtype.h"

namespace kiln::compiler {

// Bits are as CONST documents: zero-extended to 64, signed integers sign-extended, index the integer itself.
std::string literal_text(DType d, std::uint64_t bits);
// Decimal, hexadecimal (0x10, 0x1.8p+3), true/false, inf, nan, bits(0x7fc00001). A float that is not representable is rounded
// to nearest even (f16 and bf16: from the f64 that the text means). nullopt: malformed or out of range.
std::optional<std::uint64_t> literal_bits(DType d, std::string_view text);
// The value of a float constant: exact.
double float_value(DType d, std::uint64_t bits);
// Do these bits have the form that CONST documents?
bool is_canonical_literal(DType d, std::uint64_t bits);

}  // namespace kiln::compiler
