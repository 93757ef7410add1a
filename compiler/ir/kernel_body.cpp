#include "compiler/ir/kernel_body.h"

#include <algorithm>
#include <unordered_set>

namespace kiln::compiler {

std::vector<bool> inside_regions(const Graph& g, std::span<const Id> nodes) {
  std::vector<bool> inside(nodes.empty() ? 0 : nodes.back() + 1, false);
  for (const Id id : nodes) {
    if (g.op(id) == Op::KERNEL) continue;
    inside[id] = g.op(id) == Op::RANGE;
    for (const Id s : g.src(id)) inside[id] = inside[id] || inside[s];
  }
  return inside;
}

KernelBody kernel_body(const Graph& g, const std::vector<bool>& inside, Id kernel) {
  const KernelParts parts = kernel_parts(g, kernel);
  const auto is_inside = [&](Id id) { return id < inside.size() && inside[id]; };
  const auto is_arithmetic = [&](Id id) {  // every value of a body has rank 0
    return is_inside(id) || g.dtype(id) == DType::index || g.is_const(id) || is_elementwise(g.op(id)) || is_scope(g.op(id)) ||
           g.op(id) == Op::INDEX;  // of the same element in every iteration
  };
  std::unordered_set<Id> body, outside;
  std::vector<Id> open(parts.final.begin(), parts.final.end());
  const auto visit = [&](Id id) {
    if (is_arithmetic(id))
      open.push_back(id);
    else
      outside.insert(id);
  };
  while (!open.empty()) {
    const Id id = open.back();
    open.pop_back();
    if (!body.insert(id).second) continue;
    const std::span<const Id> src = g.src(id);
    const bool at_entry = g.op(id) == Op::CARRY && src[0] == parts.ranges[0];
    for (std::size_t i = 0; i < src.size(); ++i) {
      if (at_entry && i == 1) continue;
      const bool reads = g.op(id) == Op::INDEX && i == 0;
      if (reads && !is_inside(src[0]))
        outside.insert(src[0]);
      else
        visit(src[i]);
    }
  }
  KernelBody out{{body.begin(), body.end()}, {outside.begin(), outside.end()}};
  std::ranges::sort(out.nodes);
  std::ranges::sort(out.outside);
  return out;
}

}  // namespace kiln::compiler
