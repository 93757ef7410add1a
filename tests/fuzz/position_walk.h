// The kernel of a program of random_races or regular_kernel, position by position: which of them meet.
#pragma once

#include <cstdint>
#include <string>

#include "kiln/record.h"
#include "tests/fuzz/random.h"

namespace kiln::test {

// With N = n and random data: what two positions do to one element that may not happen in any order, in words. Empty: none
// meet.
std::string meeting_positions(const record::program& p, std::int64_t n, Random& random);

}  // namespace kiln::test
