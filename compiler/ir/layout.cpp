#include "compiler/ir/layout.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"

namespace kiln::compiler {
namespace {

std::vector<Id> dense_strides(Graph& g, const Parameter& p) {
  std::vector<Id> out(p.extents.size());
  Id stride = g.index(1);
  for (std::size_t axis = p.extents.size(); axis-- > 0;) {
    out[axis] = stride;
    stride = index_mul(g, stride, p.extents[axis]);
  }
  return out;
}

}  // namespace

std::string layout_text(int free_strides, int rank) {
  if (free_strides == 0) return {};
  if (free_strides == rank) return " strided";
  return free_strides == rank - 1 ? " pitched" : " pitched " + std::to_string(free_strides);
}

std::string stride_name(const Parameter& p, std::size_t axis) { return p.name + ".stride" + std::to_string(axis); }

std::string declare_strides(Program& p) {
  const auto is_extent = [](const Symbol& s) { return s.kind == Symbol::Kind::extent; };
  std::erase_if(p.symbols, [](const Symbol& s) { return s.kind == Symbol::Kind::stride; });
  std::ranges::stable_partition(p.symbols, is_extent);
  auto at = std::ranges::find_if_not(p.symbols, is_extent);
  for (const Parameter& q : p.params)
    for (std::size_t axis = 0; std::cmp_less(axis, q.free_strides); ++axis) {
      const std::string name = stride_name(q, axis);
      if (std::ranges::find(p.symbols, name, &Symbol::name) != p.symbols.end()) return name;
      const Symbol stride{.name = name, .min = -KILN_MAX_STRIDE, .max = KILN_MAX_STRIDE, .kind = Symbol::Kind::stride};
      at = p.symbols.insert(at, stride) + 1;
    }
  return {};
}

std::vector<Id> strides_of(Graph& g, const Parameter& p) {
  std::vector<Id> out = dense_strides(g, p);
  for (std::size_t axis = 0; std::cmp_less(axis, p.free_strides); ++axis) out[axis] = g.sym(stride_name(p, axis));
  return out;
}

Id position_of(Graph& g, const Parameter& p, std::span<const Id> index) {
  const std::vector<Id> strides = strides_of(g, p);
  Id sum = g.index(0);
  for (std::size_t axis = 0; axis < index.size(); ++axis) sum = index_add(g, sum, index_mul(g, index[axis], strides[axis]));
  return sum;
}

Id dense_position(Graph& g, const Parameter& p, Id position) {
  const std::vector<Id> dense = dense_strides(g, p);
  std::unordered_map<Id, Id> values;
  for (std::size_t axis = 0; std::cmp_less(axis, p.free_strides); ++axis) {
    const Id symbol = g.sym(stride_name(p, axis));
    if (symbol != dense[axis]) values[symbol] = dense[axis];
  }
  return substitute(g, position, values);
}

const Parameter* free_layout(const Schedule& s, int buffer) {
  const auto at = [&](int b) -> const Buffer& { return nth(s.buffers, b); };
  while (at(buffer).after >= 0) buffer = at(buffer).after;
  if (at(buffer).param < 0) return nullptr;
  const Parameter& p = nth(s.program.params, at(buffer).param);
  return p.free_strides > 0 ? &p : nullptr;
}

}  // namespace kiln::compiler
