// Checks what passes may rely on: one table of rules per level, run between passes in tests and under a flag. Linear,
// iterative. A violation throws Diagnostic E-verify naming the node, the rule and what was found.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/program.h"

namespace kiln::compiler {

enum class Level : char { tensor = 'T', kernel = 'K', program = 'P' };

// Every node reachable from the roots. At tensor level shapes are checked too (extent nodes may be created, hence Graph&); the
// bounds of slices and pads depend on declared facts: verify(Program) proves them.
void verify_nodes(Graph& g, Level level, std::span<const Id> roots);
void verify(Graph& g, Id root, Level level);
void verify(const Graph& g, Id root, Level level);  // kernel and program level

// Tensor level: nodes, stores against parameters, symbols: each is declared once and is given by some parameter's extent
// (call_symbols.h).
void verify(Graph& g, const Program& p);

// What a schedule holds, in the order in which passes make it so.
enum class Form : std::uint8_t {
  tensors,  // operations on whole tensors, as one program or in pieces
  ranges,   // values at positions of RANGEs, and STAGEs for what needs storage
  kernels,  // kernels over buffers, still in pieces
  ordered,  // one list of kernels in loops; each kernel lists the kernels that it depends on
  planned,  // temporaries have a place in the workspace
  lowered   // kernels are loops over scalars and vectors
};

// Checks the statements, and the nodes of each kernel or piece. Every later pass takes a schedule that verify accepts.
void verify(Graph& g, const Schedule& s, Form form);
void verify(Graph& g, const Schedule& s);  // in the form that its statements say

// The rules, for documentation and tests: level letters, rule name, text.
struct VerifyRule {
  std::string_view levels, name, text;
};
std::span<const VerifyRule> verify_rules();

}  // namespace kiln::compiler
