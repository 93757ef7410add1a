// The Kiln DSL: programs over tensors, captured at compile time. Guide: docs/guide. Nothing of it reaches an application.
#pragma once

#include "kiln/dsl/operators.h"
#include "kiln/dsl/program.h"
