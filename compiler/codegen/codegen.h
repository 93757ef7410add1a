// Code generation: kernels at P level -> LLVM IR, assembly and object bytes of one program.
//
// before: a schedule and, for each of its kernels, structured loops over vectors (LoweredKernel).
// after: one relocatable, position-independent object that defines NAME (the C entry), NAME_desc (its description) and nothing
// else, and needs kiln_call only; NAME = symbol_prefix + program name. The bytes depend on the inputs alone.
// precondition: P-level operations; transcendentals are expanded; every loop has its own RANGE.
// postcondition: IEEE and integer semantics of docs/reference/numbers.md bit for bit.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/lower/target.h"

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

// Whose function each kernel runs: the first kernel with the same code.
std::vector<std::size_t> kernel_functions(const Schedule& schedule, std::span<const LoweredKernel> lowered);

// lowered[i] belongs to schedule.kernels[i].
CodegenResult generate(const Graph& graph, const Schedule& schedule, std::span<const LoweredKernel> lowered,
                       const CodegenOptions& options, CodegenOutputs outputs = {});

}  // namespace kiln::compiler
