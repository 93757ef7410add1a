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

// Kernel level: each kernel's nodes, buffers, dependencies; every RANGE that reaches a STORE is ended there, once. Lowered
// kernels: their nodes, at program level.
void verify(Graph& g, const Schedule& s);

// The rules, for documentation and tests: level letters, rule name, text.
struct VerifyRule {
  std::string_view levels, name, text;
};
std::span<const VerifyRule> verify_rules();

}  // namespace kiln::compiler
