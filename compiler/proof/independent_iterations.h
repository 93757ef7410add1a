// independent_iterations: tests whether the iterations of a kernel that the program wrote access different elements of the
// tensors that they change.
//
// If the test succeeds, kernel_claims also asks Z3 whether the iterations are independent. Otherwise compiler/races alone
// has proven the independence, on the tensor-level program. The test requires that each iteration accesses a block of its
// own: all accesses to a written tensor are at m * (row-major number of the iteration, axes in some order) + rest, and the
// rests of all accesses differ by less than m. Atomic operations may access any element if no load or store accesses the
// tensor. The test is conservative: false may mean "not known".
#pragma once

#include <span>

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

// ranges: of the kernel, outermost first. Requires: K level, no atomic operations that serial_atomics replaces.
bool iterations_are_independent(Graph& g, Id sink, std::span<const Id> ranges, const Facts& facts);

}  // namespace kiln::compiler
