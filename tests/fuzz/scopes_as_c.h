// A record table of integers with scopes, as plain C: each node is the C that its line in kiln/record.h describes, kernels are
// loops in row-major order. Shares nothing with the importer, the interpreter or the compiler. To be compiled with -fwrapv.
#pragma once

#include <string>

#include "kiln/record.h"

namespace kiln::test {

// What every such file begins with.
std::string c_prelude();

// void NAME(int64_t N, void** params): parameters by slot, dense; outputs begin as zeros.
std::string scopes_as_c(const dsl::record::program& p, const std::string& name);

}  // namespace kiln::test
