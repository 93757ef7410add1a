// The nest of FORs of a reduction that carries values from element to element, in the order of the ranges.
#pragma once

#include <vector>

#include "compiler/lower/expand.h"
#include "compiler/lower/reduction.h"
#include "compiler/lower/rewrite.h"

namespace kiln::compiler {

struct CarriedLoops {
  std::vector<Id> ranges;
  std::vector<std::vector<Id>> inits;  // by loop: the initial values
  std::vector<Id> carries;             // CARRYs of the innermost loop
  Copy copy;
};

// Makes the RANGEs and the CARRYs, outermost first. init: the initial values.
CarriedLoops open_loops(Graph& g, RangeIds& loops, const Reduction& r, std::vector<Id> init);

// Makes the FORs, innermost first. yields: the carried values after one element. Returns the values after the last one.
std::vector<Id> close_loops(Graph& g, const CarriedLoops& n, std::vector<Id> yields);

}  // namespace kiln::compiler
