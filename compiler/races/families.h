// families_of: groups accesses whose indices differ by constants only, so that one dependence test can clear them all.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/races/accesses.h"
#include "compiler/races/index_forms.h"

namespace kiln::compiler {

// The indices and conditions of an access as index forms (index_forms.h) for one work item.
struct AccessForm {
  const WorkItemAccess* access = nullptr;
  std::vector<Id> index;
  Conditions holds;
};

// Accesses of one memory whose indices differ by constants: y(8 * i), y(8 * i + 1), ...
struct Family {
  std::vector<const AccessForm*> members;
  std::vector<Id> base;  // the indices without their constants
  struct Offsets {
    std::int64_t least, most, step;
  };
  std::vector<Offsets> offsets;  // by axis: bounds and common step of the constants
  Conditions holds;              // conditions that all members share
};

// Each form belongs to exactly one family. Families and their members keep the order of `forms`.
std::vector<Family> families_of(Graph& g, const std::vector<AccessForm>& forms);

}  // namespace kiln::compiler
