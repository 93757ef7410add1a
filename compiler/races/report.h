// report_race: throws E-race for two accesses that may touch the same element. The message names the memory, both places and,
// if the search finds one, an example.
#pragma once

#include <map>
#include <unordered_map>

#include "compiler/ir/program.h"
#include "compiler/ir/regions.h"
#include "compiler/races/dependence_test.h"
#include "compiler/races/families.h"
#include "compiler/races/index_forms.h"
#include "compiler/races/work_items.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

// The work items of a race test, and the forms of their accesses.
struct TestedWorkItems {
  const Program& program;
  const Regions& regions;
  const std::map<Id, Id>& loops;  // by RANGE: its FOR
  const WorkItems& work_items;
  const Facts& facts;
  const IndexForms& forms;
  const std::unordered_map<Id, Id>& second;  // by RANGE or name of the first work item: that of the second one
};

// problem: the equations and conditions that hold if both work items make their access and touch one element.
[[noreturn]] void report_race(Graph& g, const TestedWorkItems& tested, const AccessForm& a, const AccessForm& b,
                              const DependenceProblem& problem);

}  // namespace kiln::compiler
