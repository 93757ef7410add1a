// import_program: translates the constant tables of a captured program into a Graph and a tensor-level Program.
//
// Before: record::program, as the DSL made it.
// After: a Program that the verifier accepts. Every node has the user's location. There is one STORE for each assigned
//   parameter, in slot order. A read of a parameter after a store gives the stored value. Broadcasting is explicit.
// Requires: the tables are well formed, as the DSL's static checks ensure.
// Ensures: nodes are in the order of operands, because the C++ compiler chooses the order in which a body's expressions are
//   evaluated (`t(i) = x(j)`).
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/ir/program.h"
#include "generator/record.h"

namespace kiln::generator {

// `g`: a graph for this program only. Throws compiler::Diagnostic for mistakes that the user can correct, std::logic_error for
// tables that contradict themselves.
compiler::Program import_program(compiler::Graph& g, const record::program& p);

}  // namespace kiln::generator
