// The header that an application includes for one program: a typed C++ function around the flat C entry.
//
// Before: a tensor-level Program.
// After: the text of `<program>.h`. It includes only kiln/view.h (in C: kiln/kiln.h), and its flat part is valid C. Rank-0
//   inputs are plain scalars, and static extents are part of the views' types.
#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/program.h"

namespace kiln::generator {

std::string write_header(compiler::Graph& g, const compiler::Program& p, std::string_view cpp_namespace);

}  // namespace kiln::generator
