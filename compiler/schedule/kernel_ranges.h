// The loops of a kernel, as passes on them read and write them: END is {STORE, LOOP RANGEs...}, the same in all ENDs.
#pragma once

#include <unordered_map>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {

std::vector<Id> loop_ranges_of(const Graph& g, const Kernel& k);

// Index expressions as their users outside index arithmetic see them, in order of first use by `nodes`.
std::vector<Id> index_roots(const Graph& g, const std::vector<Id>& nodes);

struct RangeChange {
  std::unordered_map<Id, Id> values;              // index expressions (or ranges) and what takes their place
  std::unordered_map<Id, std::vector<Id>> loops;  // RANGEs and the ones that END and REDUCE close instead
  Id outermost = no_id;                           // a new LOOP range around all
};
void rewrite_kernel(Graph& g, Kernel& k, const RangeChange& change);

// Index expressions become simple where other nodes use them. Loops stay, and so do their ends: what a range is counted up to
// is part of what it is.
void simplify_uses(Graph& g, Kernel& k, Simplifier& simplify);

// LOOP ids count from 0, outermost first; REDUCE ids go on from there.
void number_ranges(Graph& g, Kernel& k);

}  // namespace kiln::compiler
