// NumPy's `.npy` files, versions 1 to 3: little-endian, C order, no pickled objects. A bad file is a Diagnostic E-npy that
// names the file, never a crash or an allocation larger than the file. bf16 has no NumPy dtype: it is written as `<u2` bit
// patterns, and as_dtype() takes them back.
#pragma once

#include <string>
#include <string_view>

#include "compiler/interp/array.h"

namespace kiln::generator {

compiler::Array parse_npy(std::string_view bytes, const std::string& file);
compiler::Array read_npy(const std::string& file);

std::string format_npy(const compiler::Array& a);  // deterministic, version 1
void write_npy(const std::string& file, const compiler::Array& a);

// `a` as an argument of dtype d: the array itself, or 16-bit integers as bf16 bits. Any other difference is a
// Diagnostic E-argument at `where`.
compiler::Array as_dtype(compiler::Array a, compiler::DType d, const std::string& where);

void write_file(const std::string& file, std::string_view bytes);

}  // namespace kiln::generator
