// Elementwise operations on scalars and vectors. There are no fast-math flags: each float operation rounds once.
#pragma once

#include <span>
#include <unordered_map>

#include "compiler/codegen/types.h"
#include "compiler/ir/graph.h"

namespace kiln::compiler {

// x: the emitted sources of the node, in order.
llvm::Value* emit_elementwise(LlvmBuilder& b, const Graph& g, Id node, std::span<llvm::Value* const> x);

// Emits an index expression over constants and the nodes in `known`. Adds its nodes to `known`.
llvm::Value* emit_expression(LlvmBuilder& b, const Graph& g, Id expression, std::unordered_map<Id, llvm::Value*>& known);

// Emits BROADCAST, RAMP, LANE, SHUFFLE or PAIRS.
llvm::Value* emit_lanes(LlvmBuilder& b, const Graph& g, Id node, std::span<llvm::Value* const> operands);

}  // namespace kiln::compiler
