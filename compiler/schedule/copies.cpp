#include "compiler/schedule/copies.h"

#include <algorithm>

#include "compiler/ir/layout.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/state.h"
#include "compiler/rangeify/index_expr.h"
#include "compiler/schedule/dependencies.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/schedule/whole_writes.h"

namespace kiln::compiler {
namespace {

int buffer_of(const Graph& g, const Kernel& k, Id state) {
  const Id memory = memory_of(g, state);
  return g.op(memory) == Op::BUFFER ? nth(k.buffers, g.slot(memory)) : -1;
}

// Whether the state is the buffer's contents when the kernel, or one of its iterations, begins.
bool is_first(const Graph& g, Id state) { return g.op(state) == Op::BUFFER || g.op(state) == Op::ENTRY; }

}  // namespace

Kernel copy_kernel(Graph& g, const Schedule& s, int to, int from) {
  Kernel k;
  k.buffers = {to, from};
  const Parameter* strides = free_layout(s, to);
  const DType d = nth(s.buffers, to).dtype;
  std::vector<Id> ranges;
  for (const Id n : strides == nullptr ? std::vector<Id>{nth(s.buffers, to).size} : strides->extents)
    ranges.push_back(g.range(n, std::ssize(ranges), RangeKind::loop));
  const Id there = strides == nullptr ? ranges[0] : position_of(g, *strides, ranges),
           here = strides == nullptr ? ranges[0] : row_major(g, ranges, strides->extents);
  const Id source = g.make(Op::BUFFER, d, {}, {1}), value = g.make(Op::LOAD, d, {source, here});
  const Id target = g.make(Op::BUFFER, d, {}, {0});
  k.sink = sink_of_store(g, target, there, value, ranges);
  return k;
}

std::optional<Copied> copy_of(Graph& g, const Schedule& s, const Kernel& k, Id end) {
  const Id store = g.store(end);  // a gated STORE has four sources
  if (g.op(store) != Op::STORE || g.src(store).size() != 3) return std::nullopt;
  const auto [target, linear, load] = g.operands<3>(store);
  if (g.op(load) != Op::LOAD || g.src(load).size() != 2) return std::nullopt;
  const auto [source, read] = g.operands<2>(load);
  if (read != linear || !is_first(g, source)) return std::nullopt;
  const int to = buffer_of(g, k, target), from = buffer_of(g, k, source);
  if (from < 0 || to == from || nth(s.buffers, to).size != nth(s.buffers, from).size) return std::nullopt;
  const std::vector<Id> ranges = g.sources(end, 1);
  if (!covers(g, ranges, std::vector{linear}, nth(s.buffers, to).size))
    return std::nullopt;  // false also if strides leave gaps
  // Without the copy, a later tile step of this kernel would load the old contents of `to`.
  if (!k.is_explicit && std::ranges::binary_search(access_of(g, k).loads, to)) return std::nullopt;
  return Copied{to, from};
}

bool stores_whole(Graph& g, const Schedule& s, const Kernel& k, int buffer) {
  const std::vector<Id> ends = g.sources(k.sink);
  for (const Id id : g.reachable(ends))
    if (g.op(id) == Op::LOAD && buffer_of(g, k, g.state(id)) == buffer) return false;
  return std::ranges::any_of(ends, [&](Id end) {
    Id state = g.store(end);
    if (buffer_of(g, k, state) != buffer) return false;
    std::vector<Id> indices;
    for (; g.op(state) == Op::STORE; state = g.state(state)) {
      if (g.src(state).size() != 3) return false;
      indices.push_back(g.src(state, 1));
    }
    const std::vector<Id> ranges = g.sources(end, 1);
    return is_first(g, state) && covers(g, ranges, indices, nth(s.buffers, buffer).size);
  });
}

}  // namespace kiln::compiler
