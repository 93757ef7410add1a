// The remarks of a compilation as text or JSON, and the options that ask for them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "compiler/ir/remark.h"

namespace kiln::generator {

struct RemarkOptions {
  bool wanted = false, missed = false, json = false;
  std::string pass = {};  // only remarks of this pass; empty: of all

  void add_to(CLI::App& app);
};

// Text: a line for each remark. JSON: an object for each on a line of its own, with program, where, id, pass, missed, text and,
// if it is not about all variants, variants.
std::string remarks_text(const compiler::Remarks& remarks, const RemarkOptions& options, const std::string& program);

}  // namespace kiln::generator
