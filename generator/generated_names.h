// Names in generated files: C symbols, C++ types, expressions as text.
#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/graph.h"
#include "compiler/ir/program.h"

namespace kiln::generator {

// "a::b" gives "a_b_", the prefix of C symbols; empty gives "".
std::string symbol_prefix(std::string_view cpp_namespace);
bool is_identifier(std::string_view s);
bool is_namespace(std::string_view s);  // identifiers joined by "::", or empty

// Whether the C library has a function of this name (time, random, index). Any header that declares it declares it globally.
bool is_c_function(std::string_view name);

std::string_view cpp_type(compiler::DType d);  // "float", "std::int32_t", "kiln::bfloat16"
std::string_view direction_name(compiler::Direction d);

// "2*N + 1", in canonical form; "?": not an expression over symbols.
std::string expression(compiler::Graph& g, compiler::Id id);

}  // namespace kiln::generator
