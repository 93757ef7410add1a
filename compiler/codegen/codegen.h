// generate: emits the LLVM IR, assembly and object bytes of one program from its lowered kernels, with all its variants.
//
// Before: for each variant a schedule and, for each of its kernels, structured loops over scalars and vectors (LoweredKernel).
// After: one relocatable, position-independent object. It defines only NAME (the C entry), NAME_desc and NAME_variants
//   (dispatch.h), and needs only kiln_call and kiln_selected_variant, where NAME = symbol_prefix + program name. The bytes
//   depend on the inputs alone. Results follow the IEEE and integer semantics of docs/reference/numbers.md bit for bit.
// Requires: operations of P level, no transcendental operations, a RANGE of its own for every loop; variants of one triple.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/ir/schedule.h"
#include "compiler/target/target.h"

namespace kiln::compiler {

// A program for one target. lowered[i] belongs to schedule.kernels[i].
struct CodegenVariant {
  const Target& target;
  const Graph& graph;
  const Schedule& schedule;
  std::span<const LoweredKernel> lowered;
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
std::vector<std::size_t> kernel_functions(const Graph& g, const Schedule& schedule, std::span<const LoweredKernel> lowered);

// variants: best first. Throws Diagnostic E-target if a target lacks an instruction that its kernels need.
CodegenResult generate(std::span<const CodegenVariant> variants, const std::string& symbol_prefix, CodegenOutputs outputs = {});

}  // namespace kiln::compiler
