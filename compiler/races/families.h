// Accesses of a kernel by what their places have in common: those that differ by constants can be asked about together.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/races/accesses.h"
#include "compiler/races/position_forms.h"

namespace kiln::compiler {

// An access as index arithmetic, at one position.
struct Touch {
  const PositionAccess* access = nullptr;
  std::vector<Id> index;
  Conditions holds;
};

// Touches of one memory whose places differ by constants: y(8 * i), y(8 * i + 1), ...
struct Family {
  std::vector<const Touch*> members;
  std::vector<Id> base;  // the places without their constants
  struct Offsets {
    std::int64_t least, most, step;
  };
  std::vector<Offsets> offsets;  // on each axis
  Conditions holds;              // where any member happens
};

// Every touch is in one family; both in the order of the touches.
std::vector<Family> families_of(Graph& g, const std::vector<Touch>& touches);

}  // namespace kiln::compiler
