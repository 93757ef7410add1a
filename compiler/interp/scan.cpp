#include "compiler/interp/scan.h"

#include <algorithm>
#include <vector>

#include "compiler/interp/combine.h"
#include "compiler/interp/visit.h"

namespace kiln::compiler {
namespace {

namespace s = scalar;

// Replaces the elements of a group by their prefixes. An element combines with the last one of the half before its own.
template <class C>
void scan_of_group(ReduceKind k, C* x, std::size_t n) {
  for (std::size_t w = 1; w < scan_group; w *= 2)
    for (std::size_t i = 0; i < n; ++i)
      if (i / w % 2 == 1) x[i] = combine(k, x[i / w * w - 1], x[i]);
}

template <class C>
void scan_of_line(ReduceKind k, std::vector<C>& x) {
  C blocks = identity<C>(k), groups = identity<C>(k);
  for (std::size_t i = 0; i < x.size(); i += scan_group) {
    if (i > 0 && i % scan_block == 0) {
      blocks = combine(k, blocks, groups);
      groups = identity<C>(k);
    }
    C* group = x.data() + i;
    const std::size_t n = std::min<std::size_t>(scan_group, x.size() - i);
    scan_of_group(k, group, n);
    for (std::size_t j = 0; j < n; ++j) group[j] = combine(k, groups, group[j]);
    groups = group[n - 1];
    for (std::size_t j = 0; j < n; ++j) group[j] = combine(k, blocks, group[j]);
  }
}

template <class T>
void scan_lines(ReduceKind kind, const Array& x, Split d, bool exclusive, bool reversed, Array& out) {
  using C = s::Compute<T>;
  const auto* in = reinterpret_cast<const T*>(x.data.data());
  auto* to = reinterpret_cast<T*>(out.data.data());
  std::vector<C> line(d.axis);
  for (std::size_t o = 0; o < d.outer; ++o)
    for (std::size_t i = 0; i < d.inner; ++i) {
      for (std::size_t k = 0; k < d.axis; ++k) line[k] = s::load(in[(o * d.axis + k) * d.inner + i]);
      if (reversed) std::ranges::reverse(line);
      scan_of_line(kind, line);
      if (exclusive && !line.empty()) {
        std::ranges::rotate(line, line.end() - 1);
        line[0] = identity<C>(kind);
      }
      if (reversed) std::ranges::reverse(line);
      for (std::size_t k = 0; k < d.axis; ++k) to[(o * d.axis + k) * d.inner + i] = s::round_to<T>(line[k]);
    }
}

}  // namespace

Array scan_axis(ReduceKind kind, const Array& x, std::size_t axis, bool exclusive, bool reversed) {
  Array out = Array::zeros(x.dtype, x.extents);
  const Split d = split_at(x, axis);
  visit_type(x.dtype, [&]<class T>() {
    if constexpr (std::is_same_v<T, s::Bool>)
      scan_lines<std::uint8_t>(kind_of_bools(kind), x, d, exclusive, reversed, out);
    else
      scan_lines<T>(kind, x, d, exclusive, reversed, out);
  });
  return out;
}

}  // namespace kiln::compiler
