// The programs whose plans plan_bench measures. All extents are constants, and small enough for a call to take a few
// milliseconds at most, so that the loops matter more than the memory.
#pragma once

#include <span>
#include <string_view>

#include "kiln/record.h"

namespace kiln::bench {

struct plan_kernel {
  std::string_view name;
  const dsl::record::program* program;
};
std::span<const plan_kernel> plan_kernels();

}  // namespace kiln::bench
