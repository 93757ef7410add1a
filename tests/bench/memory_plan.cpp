// memory_plan_bench [EFFORT]: compares the arenas of 20 graphs with the most memory live at one time or, if a search of EFFORT
// blocks cannot reach that, with the search's best. Exits with 1 if a plan is over 5% above it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>

#include "compiler/interp/index_value.h"
#include "compiler/pipeline/run_passes.h"
#include "compiler/schedule/memory_plan.h"
#include "tests/bench/memory_graphs.h"

namespace kiln::compiler::testing {
namespace {

// Bytes of the planned arena, for the values of symbols that the placement was computed for.
std::int64_t arena(const Graph& g, const Schedule& s) {
  std::map<std::string, std::int64_t> symbols;
  for (const Symbol& y : s.program.symbols) symbols[y.name] = 128;
  return IndexValues(g, symbols)(s.workspace_bytes).value();
}

bool measure(const NamedGraph& graph, std::int64_t effort) {
  Graph g;
  const Program program = graph.make(g);
  Scheduled end = run_passes(g, program, {.last = std::string(last_pass(Form::planned))});
  const Schedule& s = end.schedule;
  const PlacementProblem p = memory_problem(end.graph, s).placement;
  std::int64_t each = 0;
  for (const std::int64_t n : p.sizes) each += n;
  const std::int64_t planned = arena(end.graph, s);
  const bool reached = planned <= p.lower_bound;
  const std::int64_t best = reached ? planned : std::min(planned, place(p, {effort, 10'000}).total);
  const double ratio = best == 0 ? 1 : static_cast<double>(planned) / static_cast<double>(best);
  std::printf("%-32s %4zu kernels %4zu temporaries  sum %10lld  plan %10lld  bound %10lld  best %10lld  %.3f%s\n",
              graph.name.c_str(), s.kernels.size(), p.sizes.size(), static_cast<long long>(each),
              static_cast<long long>(planned), static_cast<long long>(p.lower_bound), static_cast<long long>(best), ratio,
              best <= p.lower_bound ? " (optimal)" : "");
  return ratio <= 1.05;
}

}  // namespace
}  // namespace kiln::compiler::testing

int main(int argc, char** argv) {
  const std::int64_t effort = argc > 1 ? std::atoll(argv[1]) : 300'000'000;
  bool good = true;
  try {
    for (const auto& g : kiln::compiler::testing::memory_graphs()) good = kiln::compiler::testing::measure(g, effort) && good;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return good ? 0 : 1;
}
