// random_programs [--count N] [--seed S] [--jobs J]: random tensor programs. The compiled program computes what the interpreter
// computes, bit for bit, at two schedules, with 1 and 3 threads and iterations backwards, within 10 s and 1 GB each. A failure
// is shrunk, printed with the first pass that broke it, and ends the run with 1. random_programs FILE...: the same for programs
// in files (tests/fuzz/regressions).
#include <fstream>
#include <iostream>
#include <sstream>

#include "compiler/ir/text.h"
#include "tests/fuzz/campaign.h"
#include "tests/fuzz/child.h"
#include "tests/fuzz/command_line.h"
#include "tests/fuzz/first_broken_pass.h"
#include "tests/fuzz/give_strides.h"
#include "tests/fuzz/random_program.h"

namespace kiln::compiler::testing {
namespace {

struct Options {
  CampaignOptions campaign;
  int symbolic_percent = 20, seeds = 2;
  bool print = false, shrink = false;
  std::vector<std::string> files;
};

bool is_symbolic(std::uint64_t seed, const Options& o) { return static_cast<int>(seed * 37 % 100) < o.symbolic_percent; }

std::string text_of_seed(std::uint64_t seed, const Options& o) {
  Graph g;
  Program p = random_program(g, seed, is_symbolic(seed, o));
  give_strides(p, seed);
  return write_program(g, p, {.locations = false});
}

int check_seeds(const Options& o) {
  return run_campaign({.text = [&](std::uint64_t seed) { return text_of_seed(seed, o); },
                       .check = [&](std::uint64_t seed) { return check(text_of_seed(seed, o), seed, o.campaign); },
                       .is_counted = [&](std::uint64_t seed) { return is_symbolic(seed, o); },
                       .counted_as = "with symbols"},
                      o.campaign);
}

int check_files(const Options& o) {
  int bad = 0;
  std::uint64_t number = 0;
  for (const std::string& file : o.files) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    int runs = 0;
    // With one seed for each file, every second file has the second target.
    const std::uint64_t first = o.campaign.seed + (o.seeds == 1 ? number++ % 2 : 0);
    for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(o.seeds); ++seed) {
      const CheckResult r = check_in_child(text.str(), seed, o.campaign);
      runs += r.runs;
      if (!r.finding) continue;
      std::cout << file << ": " << r.finding->kind << ": " << r.finding->text
                << "\n# first broken pass: " << in_child([&] { return first_broken_pass(text.str(), seed); }).report
                << std::endl;
      if (o.shrink) std::cout << smaller_program(text.str(), seed, *r.finding, o.campaign) << std::endl;
      ++bad;
      break;
    }
    if (runs == 0 && bad == 0 && !o.campaign.stages) {
      std::cout << file << ": never ran\n";
      ++bad;
    }
  }
  std::cout << o.files.size() << " programs, " << bad << " bad\n";
  return bad == 0 ? 0 : 1;
}

int run(const Options& o) {
  if (o.print) {
    std::cout << text_of_seed(o.campaign.seed, o);
    return 0;
  }
  return o.files.empty() ? check_seeds(o) : check_files(o);
}

}  // namespace
}  // namespace kiln::compiler::testing

int main(int argc, char** argv) {
  kiln::compiler::testing::Options o;
  kiln::test::CommandLine line("Random tensor programs against the interpreter");
  o.campaign.add_to(line);
  line.flag("--shrink", o.shrink, "files: print a smaller program with the same kind of failure");
  line.option("--symbolic", o.symbolic_percent, "percentage of programs with symbolic extents");
  line.flag("--print", o.print, "print the seed's program and stop");
  line.option("--seeds", o.seeds, "files: how many seeds each; seeds choose arguments and target");
  line.option("files", o.files, "programs to check instead");
  if (const auto status = line.parse(argc, argv)) return *status;
  return kiln::compiler::testing::run(o);
}
