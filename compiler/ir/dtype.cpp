#include "compiler/ir/dtype.h"

#include <array>

namespace kiln::compiler {
namespace {
constexpr std::array<std::string_view, 15> names = {"bool", "i8",  "i16",  "i32", "i64", "u8",    "u16", "u32",
                                                    "u64",  "f16", "bf16", "f32", "f64", "index", "none"};
}

std::string_view name(DType d) { return names[static_cast<std::size_t>(d)]; }

std::optional<DType> dtype_from_name(std::string_view s) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == s) return static_cast<DType>(i);
  return std::nullopt;
}

}  // namespace kiln::compiler
