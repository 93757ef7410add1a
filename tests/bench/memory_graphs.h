// Networks and image programs of typical shapes, for measurements of graph-level passes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/ir/program.h"

namespace kiln::compiler::testing {

struct NamedGraph {
  std::string name;
  std::function<Program(Graph&)> make;
};
std::vector<NamedGraph> memory_graphs();

}  // namespace kiln::compiler::testing
