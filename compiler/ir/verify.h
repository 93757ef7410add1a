// The verifier: checks the rules that passes rely on, one table for each level. It runs between passes in tests and under a
// flag. Linear and iterative. A violation throws Diagnostic E-verify with the node, the rule and the actual value.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/program.h"
#include "compiler/ir/schedule.h"

namespace kiln::compiler {

enum class Level : char { tensor = 'T', kernel = 'K', program = 'P' };

// Checks every node reachable from the roots, at tensor level with its shape (Graph& is not const because extent nodes may be
// created). verify(Program) also proves the bounds of slices and pads, which depend on declared facts.
void verify_nodes(Graph& g, Level level, std::span<const Id> roots);
void verify(Graph& g, Id root, Level level);
void verify(const Graph& g, Id root, Level level);  // kernel and program level

// Checks a program at tensor level: nodes, stores against parameters, and symbols. Each symbol must be declared once, and the
// extent of some parameter must determine it (call_symbols.h).
void verify(Graph& g, const Program& p);

// The forms of a schedule, in the order of the passes.
enum class Form : std::uint8_t {
  program,   // operations on whole tensors and their elements, in loops too
  tensors,   // operations on whole tensors, as one program or in segments
  ranges,    // values at indices of RANGEs, and STAGEs for values that need storage
  kernels,   // kernels over buffers, still in segments
  ordered,   // one list of kernels in loops; each kernel lists the kernels that it depends on
  planned,   // temporaries have an offset in the workspace
  lowering,  // between two steps of lowering: a text that can be read, but not compiled
  lowered    // kernels are loops over scalars and vectors
};

// Checks the statements, and the nodes of each kernel or segment. All later passes accept a schedule without a violation.
void verify(Graph& g, const Schedule& s, Form form);
void verify(Graph& g, const Schedule& s);  // finds the form from the statements

// The rules, for documentation and tests.
struct VerifyRule {
  std::string_view levels, name, text;
};
std::span<const VerifyRule> verify_rules();

}  // namespace kiln::compiler
