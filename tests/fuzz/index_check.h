// The checks of random index expressions.
#pragma once

#include <string>

#include "compiler/symbolic/simplify.h"
#include "tests/fuzz/index_expression.h"

namespace kiln::test {

// The first fault among the expressions of a seed, shrunk, as text; empty: none.
std::string try_seed(std::uint64_t seed, int expressions);

}  // namespace kiln::test
