#include "compiler/rangeify/kernel_body.h"

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

Id kernel_over(Graph& g, Id kernel, const KernelBody& body, std::span<const Id> init, const std::function<Id(Id)>& storage) {
  const std::vector<Id> ranges(kernel_parts(g, kernel).ranges.begin(), kernel_parts(g, kernel).ranges.end());
  const std::vector<Id> final(kernel_parts(g, kernel).final.begin(), kernel_parts(g, kernel).final.end());
  std::unordered_map<Id, Id> done;
  const auto at = [&](Id id) {
    if (const auto it = done.find(id); it != done.end()) return it->second;
    return g.make(Op::INDEX, g.dtype(id), {storage(id)});  // a rank-0 value from outside
  };
  for (const Id id : body.nodes) {
    std::vector<Id> src(g.src(id).begin(), g.src(id).end());
    g.set_loc(g.loc(id));
    const bool at_entry = g.op(id) == Op::CARRY && src[0] == ranges[0];
    for (std::size_t i = 0; i < src.size(); ++i) {
      if (at_entry && i == 1)
        src[i] = init[static_cast<std::size_t>(g.arg(id, 0))];
      else if (g.op(id) == Op::INDEX && i == 0 && !done.contains(src[0]))
        src[i] = storage(src[0]);
      else
        src[i] = at(src[i]);
    }
    done[id] = g.with_src(id, src);
  }
  std::vector<Id> src;
  for (const Id r : ranges) src.push_back(done.contains(r) ? done.at(r) : r);
  src.insert(src.end(), init.begin(), init.end());
  for (const Id f : final) src.push_back(done.at(f));
  return g.with_src(kernel, src);
}

}  // namespace kiln::compiler
