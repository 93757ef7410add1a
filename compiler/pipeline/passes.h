// The table of all passes, from a tensor-level program to loops over scalars and vectors. run_passes.h runs it.
#pragma once

#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/ir/verify.h"
#include "compiler/lower/lowering.h"

namespace kiln::compiler {

// The input of a pass. A program in segments (host_loops.h) is several programs, so passes that take a program or a segment run
// on each segment.
enum class Takes : std::uint8_t { program, segment, schedule, kernel, plain_kernel, explicit_kernel };

// Whether programs compile without the pass.
enum class Need : std::uint8_t { required, optional };

struct Pass {
  std::string_view name;
  Takes takes;
  Form leaves;  // the schedule's form after the pass
  Need need;
  std::variant<void (*)(Graph&, Program&), void (*)(Graph&, Schedule&), void (*)(Graph&, Lowering&)> run;
};

std::span<const Pass> passes();  // in the order in which they run
std::vector<std::string_view> pass_names();
const Pass& pass_named(std::string_view name);  // throws E-pass

std::string_view last_pass(Form form);  // the last pass that leaves this form

// The form of a schedule after a pass; `program` for an empty name. Throws E-pass.
Form form_after(std::string_view pass);

}  // namespace kiln::compiler
