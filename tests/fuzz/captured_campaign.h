// The main function of a campaign over random programs in the form that the DSL records.
#pragma once

#include <functional>
#include <string>

#include "tests/fuzz/check_program.h"
#include "tests/unit/generator_tables.h"

namespace kiln::test {

struct CapturedPrograms {
  std::string about;
  std::function<tables::Tables(std::uint64_t)> make;
  std::function<bool(const dsl::record::program&)> is_counted;  // whether it counts in figure `counted_as`
  std::string counted_as;
  std::function<compiler::testing::CheckOptions(std::uint64_t)> options = {};
  std::function<std::string(std::uint64_t)> reference = {};  // text that is printed with the program
};

int captured_campaign(int argc, char** argv, const CapturedPrograms& programs);  // returns an exit status

}  // namespace kiln::test
