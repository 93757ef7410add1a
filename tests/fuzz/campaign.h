// Many random programs, each checked in a child process: figures in one line; a failure is shrunk and printed with the first
// pass that broke it.
#pragma once

#include <functional>
#include <string>

#include "tests/fuzz/check_program.h"
#include "tests/fuzz/command_line.h"

namespace kiln::compiler::testing {

struct CampaignOptions {
  std::uint64_t count = 1000, seed = 0;
  int jobs = 1;
  std::size_t findings = 1;  // stop after so many
  std::string save;          // folder for shrunk programs
  bool stages = false;       // evaluate each program after each pass instead of its machine code
  bool disable = false;      // compile each program without some of the optional passes

  void add_to(test::CommandLine& line);
};

// By seed: the text of a program, and what the check of it says.
struct CampaignPrograms {
  std::function<std::string(std::uint64_t)> text;
  std::function<CheckResult(std::uint64_t)> check;
  std::function<bool(std::uint64_t)> is_counted;  // in figure `counted_as`
  std::string counted_as;
};

// Seeds of a multiple of this up to the next one's are checked in one process, unless one of them ends it.
inline constexpr std::uint64_t campaign_batch = 20;

// Checks a program as the options say. With `stages` the finding names the first pass after which the program is wrong.
CheckResult check(const std::string& text, std::uint64_t seed, const CampaignOptions& how, CheckOptions options = {});

int run_campaign(const CampaignPrograms& programs, const CampaignOptions& options);  // an exit status

// A program in a process of its own.
CheckResult check_in_child(const std::string& text, std::uint64_t seed, const CampaignOptions& how);
// A smaller one with the same kind of failure.
std::string smaller_program(const std::string& text, std::uint64_t seed, const Finding& f, const CampaignOptions& how);

}  // namespace kiln::compiler::testing
