// random_races [--regular] [--count N] [--seed S]: random kernels whose work items store, read and change elements at random
// places under random conditions. Each accepted kernel is run work item by work item, for several sizes and data. A race is a
// finding, because the compiler has proven that there is none.
//
// --regular: kernels with regular places. All are run, also the refused ones, to count those without a race: more than one in
// twenty is a failure. A refusal without a race that names two work items is a finding.
#include <algorithm>
#include <iostream>
#include <vector>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/text.h"
#include "compiler/races/store_races.h"
#include "generator/import.h"
#include "tests/fuzz/command_line.h"
#include "tests/fuzz/give_strides.h"
#include "tests/fuzz/random_races.h"
#include "tests/fuzz/regular_kernels.h"
#include "tests/fuzz/work_item_walk.h"

namespace kiln::test {
namespace {

struct Verdict {
  bool accepted = false;
  std::string refusal, racing, program;
};

// The N in a message's example of two work items; 0: the message has no example.
std::int64_t named_size(const std::string& refusal) {
  const std::string name = "N = ";
  const auto at = refusal.find(name);
  return at == std::string::npos ? 0 : std::stoll(refusal.substr(at + name.size()));
}

Verdict check(std::uint64_t seed, bool is_regular) {
  tables::Tables t = is_regular ? regular_kernel(seed) : random_races(seed);
  compiler::Graph g;
  compiler::Program p = generator::import_program(g, t.get());
  compiler::testing::give_strides(p, seed);
  Verdict v;
  try {
    compiler::store_races(g, p);
    v.accepted = true;
  } catch (const compiler::Diagnostic& d) {
    v.refusal = d.what();
  }
  Random random(seed);
  for (int round = 0; round < 12 && v.racing.empty() && (v.accepted || is_regular); ++round)
    v.racing = racing_work_items(t.get(), round < 3 ? round : random.pick(3, 40), random);
  if (const std::int64_t n = named_size(v.refusal); is_regular && v.racing.empty() && n > 0 && n <= 1000)
    for (int round = 0; round < 50 && v.racing.empty(); ++round) v.racing = racing_work_items(t.get(), n, random);
  // An example has small numbers, so many rounds are likely to try its arguments.
  for (int round = 0; round < 300 && v.racing.empty() && is_regular && !v.accepted; ++round)
    v.racing = racing_work_items(t.get(), round % 6 + 1, random);
  if (v.accepted == !v.racing.empty()) v.program = compiler::write_program(g, p, {.locations = false});
  return v;
}

}  // namespace
}  // namespace kiln::test

int main(int argc, char** argv) {
  std::uint64_t count = 1000, seed = 0;
  bool is_regular = false, shows_refused = false;
  kiln::test::CommandLine line("Random kernels whose positions may meet");
  line.option("--count", count, "how many programs");
  line.option("--seed", seed, "the first one's seed; the others follow");
  line.flag("--regular", is_regular, "kernels whose places follow a pattern; counts those that are refused in vain");
  line.flag("--show-refused", shows_refused, "prints the first programs that are refused in vain");
  if (const auto status = line.parse(argc, argv)) return *status;
  std::uint64_t accepted = 0, refused_in_vain = 0;
  std::vector<std::string> findings;
  for (std::uint64_t i = seed; i < seed + count; ++i) {
    const kiln::test::Verdict v = kiln::test::check(i, is_regular);
    accepted += v.accepted ? 1 : 0;
    const std::string head = "seed " + std::to_string(i) + ", ";
    if (v.accepted && !v.racing.empty()) findings.push_back(head + v.racing + '\n' + v.program);
    const bool names_two = v.refusal.find(", as work items ") != std::string::npos;
    if (is_regular && names_two && v.racing.empty()) findings.push_back(head + v.refusal + '\n' + v.program);
    if (is_regular && !v.accepted && v.racing.empty() && ++refused_in_vain <= 10 && shows_refused)
      std::cout << head << v.refusal << '\n' << v.program << '\n';
  }
  std::ranges::stable_sort(findings, {}, &std::string::size);  // the smallest programs are printed
  for (std::size_t i = 0; i < std::min<std::size_t>(findings.size(), 5); ++i) std::cout << findings[i] << '\n';
  std::cout << count << " programs, " << accepted << " accepted, ";
  if (is_regular) std::cout << refused_in_vain << " refused in vain, ";
  std::cout << findings.size() << " findings\n";
  return findings.empty() && 20 * refused_in_vain <= accepted + refused_in_vain ? 0 : 1;
}
