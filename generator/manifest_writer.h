// The JSON manifest of one compiled program. With it, tools can call the program without its header.
//
// Before: a compiled program.
// After: JSON text. Keys have a fixed order, which is not alphabetical: names, symbols with facts, parameters, checks, and for
//   each variant, best first, its target, buffers, kernels, workspace, loops, numbers. Checks, loops and numbers are there only
//   if the program has some. Expressions are texts over the symbols; static extents are numbers.
#pragma once

#include <string>
#include <string_view>

#include "compiler/pipeline/compile.h"

namespace kiln::generator {

// `c` is not const, because extents are put into canonical form in its graphs.
std::string write_manifest(compiler::Compiled& c, std::string_view cpp_namespace);

}  // namespace kiln::generator
