// `kiln-opt simplify`: simplifies index expressions in JSON lines. docs/reference/simplify.md describes the fields.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln::generator {

struct SimplifyOptions {
  std::vector<std::string> disabled;  // rules by name
  bool trace = false;
};

// The answer to one line, as a line without its end: the simplified expression, or {"error": ...} for a malformed line.
std::string simplify_line(std::string_view line, const SimplifyOptions& options);

}  // namespace kiln::generator
