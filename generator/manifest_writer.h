// The JSON manifest of one compiled program: what tools need to call it without its header.
//
// before: a compiled program. after: JSON text with sorted meaning, not sorted keys: name, entry, target, symbols with facts,
// parameters, kernels, workspace. Expressions are texts over the symbols, static extents are numbers.
#pragma once

#include <string>
#include <string_view>

#include "compiler/pipeline/compile.h"

namespace kiln::generator {

// Not const: extents are put into canonical form in its graph.
std::string write_manifest(compiler::Compiled& c, const compiler::Target& target, std::string_view cpp_namespace);

}  // namespace kiln::generator
