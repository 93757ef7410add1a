// Many random programs, each checked in a child process. Prints figures in one line. A failing program is shrunk and printed
// with the first pass that broke it.
#pragma once

#include <functional>
#include <string>

#include "tests/fuzz/check_program.h"
#include "tests/fuzz/command_line.h"

namespace kiln::compiler::testing {

struct CampaignOptions {
  std::uint64_t count = 1000, seed = 0;
  int jobs = 1;
  std::size_t findings = 1;  // number of findings that ends the campaign
  std::string save;          // folder for shrunk programs
  bool stages = false;       // evaluate each program after each pass instead of its machine code
  bool disable = false;      // compile each program without some of the optional passes
  int plans = 0;             // compile each program with this many random plans of its kernels

  void add_to(test::CommandLine& line);
};

// By seed: the text of a program, and the result of its check.
struct CampaignPrograms {
  std::function<std::string(std::uint64_t)> text;
  std::function<CheckResult(std::uint64_t)> check;
  std::function<bool(std::uint64_t)> is_counted;  // whether it counts in figure `counted_as`
  std::string counted_as;
};

// One process checks the seeds from a multiple of this up to the next one, unless a seed ends the process.
inline constexpr std::uint64_t campaign_batch = 20;

// Checks a program as the options say. With `stages` the finding names the first pass after which the program is wrong.
CheckResult check(const std::string& text, std::uint64_t seed, const CampaignOptions& how, CheckOptions options = {});

int run_campaign(const CampaignPrograms& programs, const CampaignOptions& options);  // returns an exit status

// Checks a program in a process of its own.
CheckResult check_in_child(const std::string& text, std::uint64_t seed, const CampaignOptions& how);
// Shrinks the program, as long as it fails in the same way.
std::string smaller_program(const std::string& text, std::uint64_t seed, const Finding& f, const CampaignOptions& how);

}  // namespace kiln::compiler::testing
