// The loops of passes that work on one kernel at a time. They restore the graph's location, which f may change.
#pragma once

#include <utility>
#include <vector>

#include "compiler/ir/schedule.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {

// Calls f(kernel, simplify) for each kernel that is neither explicit nor fused.
template <class F>
void for_each_plain_kernel(Graph& g, Schedule& s, F&& f) {
  const LocScope restored(g);
  const Facts facts = facts_of(s.program);
  Simplifier simplify(g, facts);
  for (Kernel& k : s.kernels)
    if (!k.is_explicit && !has_tile_steps(g, k.sink)) f(k, simplify);
}

// Calls f(kernel, facts, made) for each kernel. The kernels that f appends to `made` come before it.
template <class F>
void insert_kernels(Graph& g, Schedule& s, F&& f) {
  const LocScope restored(g);
  const Facts facts = facts_of(s.program);
  std::vector<Kernel> made;
  for (Kernel& k : s.kernels) {
    f(k, facts, made);
    made.push_back(std::move(k));
  }
  s.kernels = std::move(made);
}

}  // namespace kiln::compiler
