#include "tests/fuzz/captured_campaign.h"

#include <iostream>

#include "compiler/ir/text.h"
#include "generator/import.h"
#include "tests/fuzz/campaign.h"
#include "tests/fuzz/command_line.h"
#include "tests/fuzz/give_strides.h"

namespace kiln::test {

using namespace compiler;
using namespace compiler::testing;

int captured_campaign(int argc, char** argv, const CapturedPrograms& programs) {
  CampaignOptions o;
  bool print = false;
  CommandLine line(programs.about);
  o.add_to(line);
  line.flag("--print", print, "print the seed's program and stop");
  if (const auto status = line.parse(argc, argv)) return *status;

  const auto text_of_seed = [&](std::uint64_t seed) {
    tables::Tables made = programs.make(seed);
    Graph g;
    Program p = generator::import_program(g, made.get());
    give_strides(p, seed);
    return write_program(g, p, {.locations = false});
  };
  const auto reference_of = [&](std::uint64_t seed) { return programs.reference ? '\n' + programs.reference(seed) : ""; };
  if (print) {
    std::cout << text_of_seed(o.seed) << reference_of(o.seed);
    return 0;
  }
  const auto check = [&](std::uint64_t seed) {
    const std::string text = text_of_seed(seed);
    CheckResult r = compiler::testing::check(text, seed, o, programs.options ? programs.options(seed) : CheckOptions());
    if (r.finding && r.finding->kind == "reference") r.finding->text += reference_of(seed);
    return r;
  };
  const auto is_counted = [&](std::uint64_t seed) {
    tables::Tables made = programs.make(seed);
    return programs.is_counted(made.get());
  };
  return run_campaign({.text = text_of_seed, .check = check, .is_counted = is_counted, .counted_as = programs.counted_as}, o);
}

}  // namespace kiln::test
