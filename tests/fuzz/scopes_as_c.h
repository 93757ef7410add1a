// A record table of integers with scopes, as plain C. Each node becomes the C that kiln/record.h describes for it; kernels are
// loops in row-major order. Shares no code with importer, interpreter or compiler. The C must be compiled with -fwrapv.
#pragma once

#include <string>

#include "kiln/record.h"

namespace kiln::test {

// The beginning of every C file.
std::string c_prelude();

// Defines void NAME(int64_t N, void** params). Parameters are dense and ordered by slot; outputs begin as zeros.
std::string scopes_as_c(const dsl::record::program& p, const std::string& name);

}  // namespace kiln::test
