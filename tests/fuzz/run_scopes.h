// Executes record tables of random_scopes.h step by step, as plain C++ would: an oracle that knows no masks and no states.
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/record.h"

namespace kiln::test {

struct Cells {
  std::vector<std::int64_t> extents;
  std::vector<std::int32_t> v;
};

// Parameters before; those after are returned. `n` is the extent N.
std::vector<Cells> run_scopes(const record::program& p, std::vector<Cells> params, std::int64_t n);

}  // namespace kiln::test
