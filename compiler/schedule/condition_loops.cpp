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

// Kernels that were in different loops had an order.
void keep_order(Schedule& s, std::size_t first) {
  std::vector<std::size_t>& after = s.kernels[first].depends_on;
  for (std::size_t k = 0; k < first; ++k) after.push_back(k);
  std::ranges::sort(after);
  after.erase(std::unique(after.begin(), after.end()), after.end());
}

}  // namespace

void condition_loops(Graph& g, Schedule& s) {
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
  for (std::size_t k = 0; k < s.kernels.size(); ++k) {
    const bool follows = k > 0 && begins[k] == k && (is_known(s.kernels[k].loop) || is_known(s.kernels[k - 1].loop));
    if (follows)
      keep_order(s, k);
    else if (begins[k] != k && is_known(s.kernels[k].loop) && s.kernels[k].depends_on.empty())
      s.kernels[k].depends_on = {begins[k]};
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
