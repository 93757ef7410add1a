// Capture to compiler: the constant tables of a captured program become a Graph and a tensor-level Program.
//
// before: record::program, as the DSL froze it. after: a Program that the verifier accepts; every node has the user's location.
// precondition: the tables are well formed (the DSL's own static checks). postcondition: one STORE per assigned parameter, in
// slot order; a parameter read after a store to it is the stored value; broadcasting is explicit. The order of nodes is that of
// operands: in which order a body's C++ expressions are evaluated (`t(i) = x(j)`) is up to the C++ compiler.
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/ir/program.h"
#include "generator/record.h"

namespace kiln::generator {

// `g`: a graph of the program's own. Throws compiler::Diagnostic for what the user can mend, std::logic_error for tables that
// contradict themselves.
compiler::Program import_program(compiler::Graph& g, const record::program& p);

}  // namespace kiln::generator
