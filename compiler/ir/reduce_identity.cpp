#include "compiler/ir/reduce_identity.h"

#include "compiler/ir/literal.h"

namespace kiln::compiler {
namespace {

std::uint64_t lowest(DType d) {
  if (is_float(d)) return *literal_bits(d, "-inf");
  return is_signed_int(d) ? ~std::uint64_t{0} << (bits(d) - 1) : 0;
}

std::uint64_t highest(DType d) {
  if (is_float(d)) return *literal_bits(d, "inf");
  if (d == DType::boolean) return 1;
  return d == DType::u64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (bits(d) - (is_signed_int(d) ? 1 : 0))) - 1;
}

}  // namespace

std::uint64_t reduce_identity(ReduceKind kind, DType d) {
  switch (kind) {
    case ReduceKind::prod: return is_float(d) ? *literal_bits(d, "1") : 1;
    case ReduceKind::max:
    case ReduceKind::argmax: return lowest(d);
    case ReduceKind::min:
    case ReduceKind::argmin: return highest(d);
    case ReduceKind::all: return 1;
    case ReduceKind::sum:
    case ReduceKind::any:
    case ReduceKind::fma:
    case ReduceKind::dot: return 0;
  }
  return 0;
}

}  // namespace kiln::compiler
