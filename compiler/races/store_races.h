// store_races: what the positions of a kernel do to one tensor must not depend on their order, nor what those of a group do to
// it or to an array of the group between two barriers.
//
// before: a tensor-level program. after: the same. Throws Diagnostic E-race, at the store, where it cannot be shown that no two
// positions (of a KERNEL; of a FOR over those of a group) store to one element, that none reads what another one writes, and
// that an element is changed by atomics only or not at all by them. Stores that the program promised to be unique are taken to
// be so.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void store_races(Graph& g, const Program& p);

}  // namespace kiln::compiler
