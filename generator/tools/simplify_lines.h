// `kiln-opt simplify`: index expressions as JSON lines. docs/reference/simplify.md describes the fields.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln::generator {

struct SimplifyOptions {
  std::vector<std::string> disabled;  // rules by name
  bool trace = false;
};

// The answer to one line, itself one line without its end: the simplified expression, or {"error": ...} for a line that is
// malformed.
std::string simplify_line(std::string_view line, const SimplifyOptions& options);

}  // namespace kiln::generator
