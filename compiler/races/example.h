// Two positions that do meet: what a message shows. A search through small values, so none found says nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/races/meeting.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

struct MeetingExample {
  std::vector<std::int64_t> first, second;                    // on each axis
  std::vector<std::pair<std::string, std::int64_t>> extents;  // where so
};

std::optional<MeetingExample> example_of(const Graph& g, const Facts& facts, const Meeting& m);

}  // namespace kiln::compiler
