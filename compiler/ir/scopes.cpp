#include "compiler/ir/scopes.h"

#include <algorithm>
#include <vector>

namespace kiln::compiler {

LoopParts loop_parts(const Graph& g, Id loop) {
  const auto s = g.src(loop);
  const auto a = g.args(loop);
  const std::size_t n = g.slot(loop);
  return {s[0], s[1], s[2], s.subspan(3, n), s.subspan(3 + n, n), a[1], a.size() > 2 && a[2] != 0};
}

bool bounds_loops(const Graph& g, std::span<const Id> nodes, Id range) {
  std::vector<Id> ends;
  for (const Id id : g.reachable(nodes))
    if (g.op(id) == Op::FOR) {
      const LoopParts l = loop_parts(g, id);
      ends.insert(ends.end(), {l.begin, l.end});
    }
  const std::vector<Id> below = g.reachable(ends);
  return std::ranges::binary_search(below, range);
}

KernelParts kernel_parts(const Graph& g, Id kernel) {
  const auto s = g.src(kernel);
  const std::size_t n = g.slot(kernel), m = g.slot(kernel, 1);
  return {s.first(n), s.subspan(n, m), s.subspan(n + m, m)};
}

WriteParts write_parts(const Graph& g, Id write) {
  const auto s = g.src(write);
  const bool expects = g.op(write) == Op::ATOMIC && g.atomic_kind(write) == AtomicKind::compare_exchange;
  return {s[0], s[1], s[2], expects ? s[3] : no_id, s.subspan(expects ? 4 : 3)};
}

IndexGate index_gate(const Graph& g, Id index) {
  if (g.src(index).size() < 2) return {no_id, no_id};
  const Id first = g.src(index, 1);
  if (g.op(first) != Op::WHERE) return {no_id, first};
  const auto [gate, inside, otherwise] = g.operands<3>(first);
  return g.op(otherwise) == Op::INVALID ? IndexGate{gate, inside} : IndexGate{no_id, first};
}

bool is_storage(const Graph& g, Id tensor) {
  const Op op = g.op(tensor);
  return op == Op::PARAM || op == Op::STAGE || (op == Op::GET && g.op(g.scope(tensor)) == Op::KERNEL);
}

bool is_workgroup_loop(const Graph& g, Id id) {
  return g.op(id) == Op::FOR && g.range_kind(g.range_of(id)) == RangeKind::workgroup;
}

std::span<const Id> scope_ranges(const Graph& g, Id scope) {
  return g.src(scope).first(g.op(scope) == Op::FOR ? 1 : g.slot(scope));
}

std::span<const Id> scope_inits(const Graph& g, Id scope) {
  return g.op(scope) == Op::FOR ? loop_parts(g, scope).init : kernel_parts(g, scope).init;
}

std::span<const Id> entry_values(const Graph& g, Id scope) {
  if (g.op(scope) == Op::KERNEL) return kernel_parts(g, scope).init;
  return g.src(scope).subspan(1, 2 + g.slot(scope));
}

}  // namespace kiln::compiler
