// An evaluator for tests, of P level and of kernels with states at K level: runs a lowered kernel in chunks, as threads would,
// and checks every access. Types and elementwise operations are in schedule_harness.h.
#pragma once

#include "compiler/ir/schedule.h"
#include "tests/unit/schedule_harness.h"

namespace kiln::compiler::testing {

// slots: the kernel's buffers, changed in place. chunk: iterations per call, rounded up to the kernel's
// alignment; 0: all in one call. on_entry: as entry_slots() gives it; empty: the kernel reads no buffer on entry that it
// stores.
void run_lowered(const Graph& g, const LoweredKernel& k, const Symbols& symbols, std::vector<Data>& slots, std::int64_t chunk,
                 const std::vector<bool>& on_entry = {});

// Runs a kernel that the program wrote, at K level, with its iterations in row-major order.
void run_explicit_kernel(const Graph& g, const Kernel& k, const Symbols& symbols, std::vector<Data>& slots);

// Violations of P level: operations of other levels, unequal lanes, a RANGE with two loops. Empty: none.
std::string malformed(const Graph& g, Id sink);

}  // namespace kiln::compiler::testing
