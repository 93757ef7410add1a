// random_states [--count N] [--seed S] [--jobs J]: random programs of whole tensors and kernels that update them, in and around
// loops. Each computes, compiled at two vector widths, with 1 and 3 threads and chunks backwards, what the interpreter computes
// of the unoptimised graph. A failure is shrunk.
#include <iostream>

#include "compiler/ir/text.h"
#include "generator/import.h"
#include "tests/fuzz/campaign.h"
#include "tests/fuzz/random_states.h"

namespace kiln::test {
namespace {

using namespace compiler;
using namespace compiler::testing;

std::string text_of_seed(std::uint64_t seed) {
  tables::Tables made = random_states(seed);
  Graph g;
  return write_program(g, generator::import_program(g, made.get()), {.locations = false});
}

bool has_loop(std::uint64_t seed) {
  tables::Tables made = random_states(seed);
  const record::program& p = made.get();
  for (int i = 0; i < p.n_nodes; ++i)
    if (p.nodes[i].o == record::op::loop) return true;
  return false;
}

}  // namespace
}  // namespace kiln::test

int main(int argc, char** argv) {
  using namespace kiln::test;
  CampaignOptions o;
  bool print = false;
  CLI::App app("Random programs of tensors that kernels update");
  o.add_to(app);
  app.add_flag("--print", print, "print the seed's program and stop");
  CLI11_PARSE(app, argc, argv);
  if (!print)
    return run_campaign({.text = text_of_seed,
                         .check =
                             [&](std::uint64_t seed) {
                               const std::string text = text_of_seed(seed);
                               return o.stages ? check_stages(text, seed) : check_program(text, seed);
                             },
                         .is_counted = has_loop,
                         .counted_as = "with loops"},
                        o);
  std::cout << text_of_seed(o.seed);
}
