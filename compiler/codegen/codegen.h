// generate: emits the LLVM IR, assembly and object bytes of one program from its lowered kernels.
//
// Before: a schedule and, for each of its kernels, structured loops over scalars and vectors (LoweredKernel).
// After: one relocatable, position-independent object. It defines only NAME (the C entry) and NAME_desc (its description), and
//   needs only kiln_call, where NAME = symbol_prefix + program name. The bytes depend on the inputs alone. Results follow the
//   IEEE and integer semantics of docs/reference/numbers.md bit for bit.
// Requires: operations of P level, no transcendental operations, a RANGE of its own for every loop.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/ir/schedule.h"
#include "compiler/target/target.h"

namespace kiln::compiler {

struct CodegenOptions {
  Target target;
  std::string symbol_prefix;
};

struct CodegenOutputs {
  bool object = true;
  bool llvm_ir = false;
  bool assembly = false;
};

struct CodegenResult {
  std::string object, llvm_ir, assembly;
};

// By kernel: the first kernel with the same code, whose function it runs.
std::vector<std::size_t> kernel_functions(const Schedule& schedule, std::span<const LoweredKernel> lowered);

// lowered[i] belongs to schedule.kernels[i].
CodegenResult generate(const Graph& graph, const Schedule& schedule, std::span<const LoweredKernel> lowered,
                       const CodegenOptions& options, CodegenOutputs outputs = {});

}  // namespace kiln::compiler
