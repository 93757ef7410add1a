// random_races [--count N] [--seed S]: random kernels whose positions store, read and change elements at random places under
// random conditions. What the compiler accepts is gone through position by position, for several sizes and data: two positions
// that meet in one element are a finding, since they were shown not to.
#include <CLI/CLI.hpp>
#include <iostream>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/text.h"
#include "compiler/races/store_races.h"
#include "generator/import.h"
#include "tests/fuzz/position_walk.h"
#include "tests/fuzz/random_races.h"

namespace kiln::test {
namespace {

std::string check(std::uint64_t seed, bool& accepted) {
  tables::Tables t = random_races(seed);
  compiler::Graph g;
  const compiler::Program p = generator::import_program(g, t.get());
  try {
    compiler::store_races(g, p);
  } catch (const compiler::Diagnostic&) {
    return "";
  }
  accepted = true;
  Random random(seed);
  for (int round = 0; round < 12; ++round)
    if (const std::string m = meeting_positions(t.get(), round < 3 ? round : random.pick(3, 40), random); !m.empty())
      return "seed " + std::to_string(seed) + ", " + m + '\n' + compiler::write_program(g, p, {.locations = false});
  return "";
}

}  // namespace
}  // namespace kiln::test

int main(int argc, char** argv) {
  std::uint64_t count = 1000, seed = 0;
  CLI::App app("Random kernels whose positions may meet");
  app.add_option("--count", count, "how many programs");
  app.add_option("--seed", seed, "the first one's seed; the others follow");
  CLI11_PARSE(app, argc, argv);
  std::uint64_t accepted = 0, findings = 0;
  for (std::uint64_t i = seed; i < seed + count; ++i) {
    bool is_accepted = false;
    if (const std::string finding = kiln::test::check(i, is_accepted); !finding.empty() && ++findings <= 5)
      std::cout << finding << '\n';
    accepted += is_accepted ? 1 : 0;
  }
  std::cout << count << " programs, " << accepted << " accepted, " << findings << " findings\n";
  return findings == 0 ? 0 : 1;
}
