// The header that an application includes for one program: typed C++ function over the flat C entry.
//
// before: a tensor-level Program. after: text of `<program>.h`. It includes only kiln/view.h (C: kiln/kiln.h), and is valid C
// for the flat part. Rank-0 inputs are plain scalars, static extents are part of the views' types.
#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/program.h"

namespace kiln::generator {

std::string write_header(compiler::Graph& g, const compiler::Program& p, std::string_view cpp_namespace);

}  // namespace kiln::generator
