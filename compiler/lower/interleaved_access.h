// interleaved_access: accesses with a small stride -> contiguous ones, and shuffles.
//
// before: LOADs and STOREs at RAMP{base} of stride s, as lanes over rows make them of the components of a row. after: LOADs of
// the same addresses side by side, of which a SHUFFLE takes each component's lanes; STOREs of all s components, SHUFFLEd into
// the order of memory. precondition: loops are made, indices exact. postcondition: the same elements are stored; what is loaded
// lies between the first and the last element that one LOAD or its neighbours ask for. Accesses with gates stay.
#pragma once

#include "compiler/lower/rewrite.h"
#include "compiler/lower/target.h"

namespace kiln::compiler {

Id interleaved_access(Graph& g, Id sink, const Target& target);

}  // namespace kiln::compiler
