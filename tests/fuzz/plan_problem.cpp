// The memory plan against the task graph: a checker that shares nothing with the planner.
#include <algorithm>

#include "compiler/interp/index_value.h"
#include "tests/fuzz/check_program.h"

namespace kiln::compiler::testing {
namespace {

// before[k][j]: kernel j always ends before kernel k begins.
std::vector<std::vector<bool>> order_of(const Schedule& s) {
  std::vector<std::vector<bool>> before(s.kernels.size(), std::vector<bool>(s.kernels.size(), false));
  for (std::size_t k = 0; k < s.kernels.size(); ++k)
    for (const int d : s.kernels[k].depends_on) {
      const auto j = static_cast<std::size_t>(d);
      before[k][j] = true;
      for (std::size_t i = 0; i < j; ++i)
        if (before[j][i]) before[k][i] = true;
    }
  return before;
}

}  // namespace

std::string plan_problem(Graph& g, const Schedule& s, const SymbolValues& symbols) {
  const auto before = order_of(s);
  IndexValues value(g, symbols);
  std::vector<std::vector<std::size_t>> users(s.buffers.size());
  for (std::size_t k = 0; k < s.kernels.size(); ++k)
    for (const int b : s.kernels[k].buffers) users[static_cast<std::size_t>(b)].push_back(k);
  const std::int64_t arena = value(s.workspace_bytes).value();
  const auto all_before = [&](std::size_t a, std::size_t b) {
    return std::ranges::all_of(
        users[a], [&](std::size_t j) { return std::ranges::all_of(users[b], [&](std::size_t k) { return before[k][j]; }); });
  };
  const auto bytes_of = [&](const Buffer& b) { return value(b.size).value() * bytes(b.dtype); };
  for (std::size_t a = 0; a < s.buffers.size(); ++a) {
    if (s.buffers[a].param >= 0 || users[a].empty()) continue;
    const std::int64_t begin = value(s.buffers[a].offset).value(), end = begin + bytes_of(s.buffers[a]);
    if (begin < 0 || begin % 64 != 0 || end > arena) return "buffer " + std::to_string(a) + " is not in the arena";
    for (std::size_t b = 0; b < a; ++b) {
      if (s.buffers[b].param >= 0 || users[b].empty()) continue;
      const std::int64_t other = value(s.buffers[b].offset).value(), other_end = other + bytes_of(s.buffers[b]);
      if (begin >= other_end || other >= end || all_before(a, b) || all_before(b, a)) continue;
      return "buffers " + std::to_string(b) + " and " + std::to_string(a) + " share bytes and may be alive at the same time";
    }
  }
  return {};
}

}  // namespace kiln::compiler::testing
