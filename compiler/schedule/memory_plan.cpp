#include "compiler/schedule/memory_plan.h"

#include <algorithm>

#include "compiler/ir/index_poly.h"
#include "compiler/schedule/dependencies.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t alignment = 64;

struct Live {
  std::size_t buffer;
  std::int64_t bytes = -1;  // aligned; -1: symbolic
  int first = -1, last = -1;
  std::int64_t offset = 0;
};

Id aligned_bytes(Graph& g, const Buffer& b) {
  const Id bytes_of = index_mul(g, b.size, g.index(bytes(b.dtype)));
  const Id lines = index_floordiv(g, index_add(g, bytes_of, g.index(alignment - 1)), g.index(alignment));
  return index_mul(g, lines, g.index(alignment));
}

std::vector<Live> lifetimes(Graph& g, const Schedule& s) {
  std::vector<Live> all(s.buffers.size());
  for (std::size_t b = 0; b < all.size(); ++b) {
    all[b].buffer = b;
    const auto size = index_value(g, aligned_bytes(g, s.buffers[b]));
    all[b].bytes = size ? *size : -1;
  }
  for (std::size_t k = 0; k < s.kernels.size(); ++k)
    for (int b : s.kernels[k].buffers) {
      Live& l = all[static_cast<std::size_t>(b)];
      if (l.first < 0) l.first = static_cast<int>(k);
      l.last = static_cast<int>(k);
    }
  return all;
}

// The lowest offset at which `l` meets none of the placed ones that are alive together with it.
std::int64_t lowest_offset(const std::vector<Live>& placed, const Live& l) {
  std::vector<Live> near;
  for (const Live& p : placed)
    if (p.first <= l.last && l.first <= p.last) near.push_back(p);
  std::ranges::sort(near, {}, [](const Live& p) { return std::pair(p.offset, p.buffer); });
  std::int64_t at = 0;
  for (const Live& p : near) {
    if (at + l.bytes <= p.offset) break;
    at = std::max(at, p.offset + p.bytes);
  }
  return at;
}

}  // namespace

void memory_plan(Graph& g, Schedule& s) {
  std::vector<Live> placed;
  std::int64_t static_bytes = 0;
  const std::vector<Live> all = lifetimes(g, s);
  for (Live l : all) {
    if (s.buffers[l.buffer].param >= 0 || l.bytes < 0) continue;
    l.offset = lowest_offset(placed, l);
    static_bytes = std::max(static_bytes, l.offset + l.bytes);
    s.buffers[l.buffer].offset = g.index(l.offset);
    placed.push_back(l);
  }
  Id top = g.index(static_bytes);
  for (const Live& l : all) {
    if (s.buffers[l.buffer].param >= 0 || l.bytes >= 0) continue;
    s.buffers[l.buffer].offset = top;
    top = index_add(g, top, aligned_bytes(g, s.buffers[l.buffer]));
  }
  s.workspace_bytes = top;
}

}  // namespace kiln::compiler
