// Runs the kernel of a program of random_races or regular_kernels, work item by work item, and finds races.
#pragma once

#include <cstdint>
#include <string>

#include "kiln/record.h"
#include "tests/fuzz/random.h"

namespace kiln::test {

// Runs with N = n and random data. Returns the accesses of two work items to one element whose order matters, in
// words; empty: there are none.
std::string racing_work_items(const dsl::record::program& p, std::int64_t n, Random& random);

}  // namespace kiln::test
