// An evaluator of P level, and of kernels with states at K level, for tests: runs a lowered kernel in chunks, as threads would,
// with every access checked. Types and elementwise operations are those of schedule_harness.h.
#pragma once

#include "compiler/ir/program.h"
#include "tests/unit/schedule_harness.h"

namespace kiln::compiler::testing {

// `slots`: the kernel's buffers, changed in place. chunk: iterations per call, rounded up to the kernel's alignment; 0: one
// call.
void run_lowered(const Graph& g, const LoweredKernel& k, const Symbols& symbols, std::vector<Data>& slots, std::int64_t chunk);

// A kernel that the program wrote, at K level, its iterations in row-major order.
void run_own_kernel(const Graph& g, const Kernel& k, const Symbols& symbols, std::vector<Data>& slots);

// Faults of the form of P level: operations of other levels, unequal lanes, a RANGE of two loops. Empty: none.
std::string malformed(const Graph& g, Id sink);

}  // namespace kiln::compiler::testing
