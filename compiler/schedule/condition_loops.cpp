#include "compiler/schedule/condition_loops.h"

#include <algorithm>
#include <vector>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/symbolic/bounds.h"

namespace kiln::compiler {
namespace {

// By loop: whether it is only a condition of its kernels.
std::vector<bool> conditions(Graph& g, const Schedule& s) {
  const Facts facts = facts_of(s.program);
  Bounds bounds(g, facts);
  std::vector<bool> out;
  for (const HostLoop& l : s.loops) {
    const Interval times = bounds(l.end);
    out.push_back(l.parent < 0 && l.counter == no_id && l.condition < 0 && l.count == no_id && l.step == 1 &&
                  g.is_index_const(l.begin, 0) && times.min >= 0 && times.max <= 1 &&
                  are_of_the_call(g, s.program, std::span(&l.end, 1)));
  }
  for (const HostLoop& l : s.loops)
    if (l.parent >= 0) out[static_cast<std::size_t>(l.parent)] = false;
  return out;
}

// By buffer: the loop of all kernels that use it; -1: they are in several loops, or in none.
std::vector<int> loops_of_buffers(const Schedule& s) {
  constexpr int unused = -2;
  std::vector<int> out(s.buffers.size(), unused);
  for (const Kernel& k : s.kernels)
    for (const int b : k.buffers) {
      int& loop = nth(out, b);
      loop = loop == unused || loop == k.loop ? k.loop : -1;
    }
  for (int& loop : out) loop = std::max(loop, -1);
  return out;
}

// Kernels that were in different loops had an order. The first kernel of its loop comes after all kernels before the loop, and
// the loop's other kernels come after the first.
void keep_order(Schedule& s, std::size_t first, std::size_t kernel) {
  std::vector<std::size_t>& after = s.kernels[kernel].depends_on;
  if (kernel != first) after.push_back(first);
  for (std::size_t k = 0; kernel == first && k < first; ++k) after.push_back(k);
  std::ranges::sort(after);
  after.erase(std::unique(after.begin(), after.end()), after.end());
}

}  // namespace

void condition_loops(Graph& g, Schedule& s) {
  const std::vector<bool> is_condition = conditions(g, s);
  const auto is_known = [&](int loop) { return loop >= 0 && is_condition[static_cast<std::size_t>(loop)]; };
  if (s.loops.empty() || !std::ranges::all_of(s.kernels, [&](const Kernel& k) { return is_known(k.loop) && !k.is_explicit; }))
    return;
  const LocScope restored(g);
  const std::vector<int> loop_of = loops_of_buffers(s);
  for (std::size_t b = 0; b < s.buffers.size(); ++b) {
    Buffer& buffer = s.buffers[b];
    if (loop_of[b] < 0 || !buffer.is_temporary()) continue;
    const Id times = nth(s.loops, loop_of[b]).end;
    Id& size = buffer.tile_storage != no_id ? buffer.tile_storage : buffer.size;
    size = index_mul(g, size, times);
  }
  std::size_t first = 0;  // the first kernel of the loop
  for (std::size_t k = 0; k < s.kernels.size(); ++k) {
    if (s.kernels[k].loop != s.kernels[first].loop) first = k;
    if (first > 0) keep_order(s, first, k);
  }
  for (Kernel& k : s.kernels) {
    run_if(g, k, nth(s.loops, k.loop).end);
    number_ranges(g, k);
    k.loop = -1;
  }
  s.loops.clear();
}

}  // namespace kiln::compiler
