#include "compiler/lower/kernel_time.h"

#include <algorithm>
#include <cmath>

#include "compiler/ir/nth.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/verify_loops.h"
#include "compiler/ir/verify_nodes.h"
#include "compiler/lower/cache_traffic.h"
#include "compiler/lower/turn_cost.h"

namespace kiln::compiler {
namespace {

constexpr double cycles_of_nanosecond = 3.5;
constexpr double call_cycles = 20;
constexpr double loop_entry = 1;    // cycles
constexpr double wrong_guess = 20;  // cycles, at the end of a loop whose number of turns the processor does not foresee
constexpr double foreseen_turns = 32;
constexpr double waits_of_result = 0.2;  // of the path of a loop with a result

struct Level {
  CacheLevel cache;
  double cycles;  // of one line
  double apart;   // of lines without neighbours, as a multiple
};
// From the second-level cache, the third one, memory, and pages.
constexpr Level levels[] = {
    {{64, 512, 64}, 1.5, 4},
    {{64, 8192, 1024}, 1.5, 4},
    {{64, 262144, 4096, true}, 24, 1},
};
constexpr Level pages = {{4096, 64, 16}, 5, 1};

double smooth_max(double a, double b) {
  const double x = a * a, y = b * b;
  return std::sqrt(std::sqrt(x * x + y * y));
}

struct Times {
  double compute = 0;
  double memory[4] = {};
  double all() const {
    double t = compute;
    for (const double m : memory) t = smooth_max(t, m);
    return t + call_cycles;
  }
};

double loop_cycles(const Graph& g, const Scopes& scopes, std::int32_t loop, const LoopCount& n, const TurnCost& c) {
  if (n.turns == 0) return 0;
  double cycles = n.turns * c.turn;
  if (loop != root_scope) {
    const bool has_result = g.slot(nth(scopes.loops, loop).loop) > 0;
    cycles += n.entries * (loop_entry + (n.turns > foreseen_turns * n.entries ? wrong_guess : 0) +
                           (has_result ? waits_of_result * c.path : 0));
  }
  return cycles;
}

Times times_of(const Graph& g, const LoweredKernel& kernel, const Target& target) {
  const Scopes scopes = find_scopes(g, kernel.sink);
  const LoopCounts counts(g, kernel, scopes);
  Times t;
  const std::vector<TurnCost> costs = turn_costs(g, scopes, target);
  for (std::int32_t l = 0; l < count_of(scopes.loops); ++l) t.compute += loop_cycles(g, scopes, l, counts.of(l), nth(costs, l));
  const CacheTraffic traffic(g, scopes, counts);
  for (std::size_t i = 0; i < std::size(levels); ++i)
    t.memory[i] = traffic.lines_into(levels[i].cache, levels[i].apart) * levels[i].cycles;
  t.memory[3] = traffic.lines_into(pages.cache, pages.apart) * pages.cycles;
  return t;
}

}  // namespace

double kernel_time(const Graph& g, const LoweredKernel& kernel, const Target& target) {
  // A text may begin at any step of lowering, so the loops may be malformed, and the verifier runs behind this step.
  for (const Id id : g.reachable(kernel.sink)) {
    check_node(g, compiler::Level::program, id);
    if (g.op(id) == Op::FOR && loop_parts(g, id).step < 1) violated(g, id, "loop-type", "a step above 0");
  }
  verify_loops(g, kernel.sink);
  return times_of(g, kernel, target).all() / cycles_of_nanosecond;
}

}  // namespace kiln::compiler
