// The Kiln DSL: programs over tensors, captured at compile time. Guide: docs/guide. An application links nothing of it.
// Every header is in this list, in order of dependence, so that a diagnostic names one level of inclusion only.
//
// Namespaces:
//   kiln               the words of declarations (names.h); `using namespace kiln` takes these names and no others
//   kiln::dsl          the words of bodies, found by their tensors; types of captured values, such as expr_, end in '_'
//   kiln::dsl::detail  internals; a namespace kiln::detail would take the name `detail` from users
// No captured value has a base or a template argument of kiln::dsl::detail, so that a call in a body finds no internal
// function. Internal functions are called as detail::f(x): an argument may be of a user's type, whose namespace has functions
// too. Members that a program inherits begin with kiln_, except for the words of bodies.
#pragma once

// clang-format off
#include "kiln/record.h"
#include "kiln/dsl/str.h"
#include "kiln/dsl/polynomial.h"
#include "kiln/dsl/error.h"
#include "kiln/dsl/extent.h"
#include "kiln/dsl/dtype.h"
#include "kiln/dsl/shape.h"
#include "kiln/dsl/builder.h"
#include "kiln/dsl/expr.h"
#include "kiln/dsl/tensor.h"
#include "kiln/dsl/operators.h"
#include "kiln/dsl/branches.h"
#include "kiln/dsl/subscript.h"
#include "kiln/dsl/element.h"
#include "kiln/dsl/elements.h"
#include "kiln/dsl/misuse.h"
#include "kiln/dsl/foreign.h"
#include "kiln/dsl/elsewhere.h"
#include "kiln/dsl/variable.h"
#include "kiln/dsl/math.h"
#include "kiln/dsl/movement.h"
#include "kiln/dsl/slice.h"
#include "kiln/dsl/join.h"
#include "kiln/dsl/reduce.h"
#include "kiln/dsl/scan.h"
#include "kiln/dsl/contract.h"
#include "kiln/dsl/window.h"
#include "kiln/dsl/index.h"
#include "kiln/dsl/mark.h"
#include "kiln/dsl/nn.h"
#include "kiln/dsl/numeric.h"
#include "kiln/dsl/reflect.h"
#include "kiln/dsl/derivative.h"
#include "kiln/dsl/custom_derivative.h"
#include "kiln/dsl/scope_body.h"
#include "kiln/dsl/scope_nodes.h"
#include "kiln/dsl/scope.h"
#include "kiln/dsl/symbols.h"
#include "kiln/dsl/program.h"
#include "kiln/dsl/verdict.h"
#include "kiln/dsl/exported.h"
#include "kiln/dsl/names.h"
// clang-format on
