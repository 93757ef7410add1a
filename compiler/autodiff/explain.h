// The remarks about derivatives: what a backward or forward pass is made of, and which values of the program it reads.
#pragma once

#include "compiler/autodiff/rules.h"

namespace kiln::compiler::autodiff {

// results: the derivatives that one pass has made; the derivative is their node in the program. before: the graph's size before
// the pass.
void explain(const Rules& rules, Id derivative, std::span<const Id> results, std::size_t before);

}  // namespace kiln::compiler::autodiff
