#include "compiler/ir/dtype.h"

#include "compiler/ir/nth.h"

namespace kiln::compiler {
namespace {
#define KILN_X(code, name, bits, type) #name,
constexpr std::string_view dtype_names[] = {KILN_DTYPES(KILN_X) "index", "none"};
#undef KILN_X
}  // namespace

std::string_view name(DType d) { return nth(dtype_names, d); }

std::optional<DType> dtype_from_name(std::string_view s) {
  for (std::size_t i = 0; i < std::size(dtype_names); ++i)
    if (dtype_names[i] == s) return static_cast<DType>(i);
  return std::nullopt;
}

}  // namespace kiln::compiler
