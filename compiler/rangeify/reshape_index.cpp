// The index into the source of a RESHAPE, a member of the rules in index_map.h.
#include <algorithm>
#include <limits>

#include "compiler/rangeify/index_expr.h"
#include "compiler/rangeify/index_map.h"

namespace kiln::compiler {
namespace {

std::vector<Id> prefix_products(Graph& g, std::span<const Id> extents) {
  std::vector<Id> products{g.index(1)};
  for (Id e : extents) products.push_back(index_mul(g, products.back(), e));
  return products;
}

// Maps the indices of one group of axes. `in` and `out` have the same number of elements.
void map_group(Graph& g, Simplifier& simplify, std::span<const Id> in, std::span<const Id> out, std::span<const Id> index,
               std::vector<Id>& result) {
  const auto is_one = [&](Id e) { return g.is_index_const(e, 1); };
  const auto axes = std::ranges::count_if(in, [&](Id e) { return !is_one(e); });
  const Id flat = simplify(row_major(g, index, out));
  std::vector<Id> reversed;
  Id stride = g.index(1);
  std::ptrdiff_t seen = 0;
  for (std::size_t k = in.size(); k-- > 0;) {
    if (is_one(in[k])) {
      reversed.push_back(g.index(0));
      continue;
    }
    Id i = g.is_index_const(stride, 1) ? flat : index_floordiv(g, flat, stride);
    if (++seen < axes) i = index_floormod(g, i, in[k]);  // the outermost axis needs no modulo: flat is below the product
    reversed.push_back(simplify(i));
    stride = index_mul(g, stride, in[k]);
  }
  result.insert(result.end(), reversed.rbegin(), reversed.rend());
}

}  // namespace

std::vector<Id> reshape_index(Graph& g, Simplifier& simplify, std::span<const Id> in, std::span<const Id> out,
                              std::span<const Id> index) {
  const auto in_products = prefix_products(g, in), out_products = prefix_products(g, out);
  std::vector<Id> result;
  std::size_t i0 = 0, o0 = 0;
  while (i0 < in.size() || o0 < out.size()) {
    // The next group ends at the shortest pair of non-empty prefixes with equal products, or at the last axis.
    std::size_t i1 = in.size(), o1 = out.size();
    std::size_t best = std::numeric_limits<std::size_t>::max();
    for (std::size_t i = i0 + 1; i <= in.size(); ++i)
      for (std::size_t o = o0 + 1; o <= out.size(); ++o)
        if (i + o < best && in_products[i] == out_products[o]) {
          best = i + o;
          i1 = i;
          o1 = o;
        }
    map_group(g, simplify, in.subspan(i0, i1 - i0), out.subspan(o0, o1 - o0), index.subspan(o0, o1 - o0), result);
    i0 = i1;
    o0 = o1;
  }
  return result;
}

}  // namespace kiln::compiler
