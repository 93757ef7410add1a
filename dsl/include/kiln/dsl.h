// The Kiln DSL: programs over tensors, captured at compile time. Guide: docs/guide. Nothing of it reaches an application.
#pragma once

#include "kiln/dsl/nn.h"
#include "kiln/dsl/program.h"
