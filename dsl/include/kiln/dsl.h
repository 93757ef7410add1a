// The Kiln DSL: programs over tensors, captured at compile time. Guide: docs/guide. Nothing of it reaches an application.
// All headers are listed, in order of dependence, so that diagnostics name one level of inclusion only.
#pragma once

// clang-format off
#include "kiln/record.h"
#include "kiln/dsl/str.h"
#include "kiln/dsl/polynomial.h"
#include "kiln/dsl/extent.h"
#include "kiln/dsl/error.h"
#include "kiln/dsl/dtype.h"
#include "kiln/dsl/shape.h"
#include "kiln/dsl/builder.h"
#include "kiln/dsl/expr.h"
#include "kiln/dsl/operators.h"
#include "kiln/dsl/branches.h"
#include "kiln/dsl/subscript.h"
#include "kiln/dsl/element.h"
#include "kiln/dsl/elements.h"
#include "kiln/dsl/misuse.h"
#include "kiln/dsl/variable.h"
#include "kiln/dsl/math.h"
#include "kiln/dsl/movement.h"
#include "kiln/dsl/slice.h"
#include "kiln/dsl/join.h"
#include "kiln/dsl/reduce.h"
#include "kiln/dsl/contract.h"
#include "kiln/dsl/window.h"
#include "kiln/dsl/index.h"
#include "kiln/dsl/nn.h"
#include "kiln/dsl/reflect.h"
#include "kiln/dsl/scope.h"
#include "kiln/dsl/program.h"
// clang-format on
