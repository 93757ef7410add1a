// Checks one random program: at every schedule and number of threads the compiled code computes what the interpreter computes
// from the unoptimised graph, bit for bit. Checks the memory plan too.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/interp/array.h"
#include "compiler/ir/program.h"
#include "compiler/target/target.h"

namespace kiln::compiler::testing {

// A target, which determines the schedule.
struct NamedTarget {
  const char* name;
  Target target;
};
std::vector<NamedTarget> targets();

struct Finding {
  std::string kind;  // where the mistake shows: "compile avx2", "run avx2 3", "plan", ...; the shrinker keeps it
  std::string text;
};

// Values for a program's symbols, then its arguments. nullopt: its values have too many elements in total, or one of them has
// too many with these symbols.
using SymbolValues = std::map<std::string, std::int64_t>;
std::vector<SymbolValues> symbol_choices(const Program& p, std::uint64_t seed);
std::optional<std::vector<Array>> random_arguments(Graph& g, const Program& p, const SymbolValues& symbols, std::uint64_t seed,
                                                   std::int64_t most_elements_together = 20'000'000);

struct CheckResult {
  std::optional<Finding> finding;
  int runs = 0;        // number of compared runs of compiled code
  int references = 0;  // number of cases compared with the reference
  int kernels = 0;
  double compile_seconds = 0;  // CPU time of the slowest compilation
};
struct CheckOptions {
  std::vector<std::string> disabled = {};  // passes that do not run
  int plans = 0;  // how many times each target compiles with random plans; 0: once, with the compiler's
  // The program's results by other means, in the form of interpret().
  std::function<std::vector<Array>(const SymbolValues&, const std::vector<Array>& arguments)> reference = nullptr;
};
CheckResult check_program(const std::string& text, std::uint64_t seed, const CheckOptions& options = {});

}  // namespace kiln::compiler::testing
