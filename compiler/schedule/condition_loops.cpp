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

// Whether a call reads extents from memory. It reads them before a kernel, also if the kernel has no iterations.
bool reads_numbers(const Program& p) {
  return std::ranges::any_of(p.symbols, [](const Symbol& y) { return y.kind == Symbol::Kind::element; });
}

}  // namespace

void condition_loops(Graph& g, Schedule& s) {
  if (reads_numbers(s.program)) return;
  const std::vector<bool> is_condition = conditions(g, s);
  if (std::ranges::find(is_condition, true) == is_condition.end()) return;
  const LocScope restored(g);
  const auto is_known = [&](int loop) { return loop >= 0 && is_condition[static_cast<std::size_t>(loop)]; };
  const std::vector<int> loop_of = loops_of_buffers(s);
  for (std::size_t b = 0; b < s.buffers.size(); ++b) {
    Buffer& buffer = s.buffers[b];
    if (!is_known(loop_of[b]) || !buffer.is_temporary()) continue;
    const Id times = nth(s.loops, loop_of[b]).end;
    Id& size = buffer.tile_storage != no_id ? buffer.tile_storage : buffer.size;
    size = index_mul(g, size, times);
  }
  std::vector<std::size_t> begins;  // by kernel: the first kernel of its loop
  for (std::size_t k = 0; k < s.kernels.size(); ++k)
    begins.push_back(k > 0 && s.kernels[k].loop == s.kernels[k - 1].loop ? begins[k - 1] : k);
  std::vector<bool>
      follows;  // by kernel: whether a loop that disappears was between the kernel and the kernels before `begins`
  for (std::size_t k = 0; k < s.kernels.size(); ++k) {
    const std::size_t first = begins[k];
    follows.push_back(k != first ? follows[first] : k > 0 && (is_known(s.kernels[k].loop) || is_known(s.kernels[k - 1].loop)));
    if (follows[k]) keep_order(s, first, k);
  }
  std::vector<int> number;
  std::vector<HostLoop> rest;
  for (std::size_t l = 0; l < s.loops.size(); ++l) {
    number.push_back(is_condition[l] ? -1 : narrow<int>(std::ssize(rest)));
    if (is_condition[l]) continue;
    rest.push_back(s.loops[l]);
    if (rest.back().parent >= 0) rest.back().parent = nth(number, rest.back().parent);
  }
  for (Kernel& k : s.kernels) {
    if (is_known(k.loop)) run_if(g, k, nth(s.loops, k.loop).end);
    if (is_known(k.loop)) number_ranges(g, k);
    if (k.loop >= 0) k.loop = nth(number, k.loop);
  }
  s.loops = std::move(rest);
}

}  // namespace kiln::compiler
