// Elements of arrays by their places, and of any type as numbers, for the dual numbers of dual.h.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "compiler/interp/array.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/nth.h"

namespace kiln::compiler::testing {

using Places = std::vector<std::int64_t>;

inline std::size_t count(const Places& extents) {
  std::size_t n = 1;
  for (const std::int64_t e : extents) n *= narrow<std::size_t>(e);
  return n;
}
inline std::size_t flat(const Places& at, const Places& extents) {
  std::int64_t n = 0;
  for (std::size_t a = 0; a < at.size(); ++a) n = n * extents[a] + at[a];
  return narrow<std::size_t>(n);
}
inline Places place(std::size_t k, const Places& extents) {
  Places at(extents.size());
  for (std::size_t a = extents.size(); a-- > 0;) {
    at[a] = narrow<std::int64_t>(k) % extents[a];
    k /= narrow<std::size_t>(extents[a]);
  }
  return at;
}

inline double real(const Array& a, std::size_t k) {
  double v = 0;
  std::memcpy(&v, a.data.data() + k * sizeof v, sizeof v);
  return v;
}
inline std::int64_t integer(const Array& a, std::size_t k) {
  std::int64_t v = 0;
  std::memcpy(&v, a.data.data() + k * size_of(a.dtype), size_of(a.dtype));
  if (is_signed_int(a.dtype) && size_of(a.dtype) < 8) {
    const int shift = 64 - 8 * narrow<int>(size_of(a.dtype));
    v = static_cast<std::int64_t>(static_cast<std::uint64_t>(v) << shift) >> shift;
  }
  return v;
}

inline bool is_float64(const Graph& g, Id id) { return g.dtype(id) == DType::f64; }

}  // namespace kiln::compiler::testing
