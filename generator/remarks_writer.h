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

// Text: a line for each remark. JSON: a line with an object for each remark: program, where, id, pass, missed, text, and
// variants if the remark is not about all of them.
std::string remarks_text(const compiler::Remarks& remarks, const RemarkOptions& options, const std::string& program);

}  // namespace kiln::generator
