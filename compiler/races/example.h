// Two positions that do meet: what a message shows. A search through small values, so none found says nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>

#include "compiler/ir/graph.h"
#include "compiler/races/meeting.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

using MeetingValues = std::unordered_map<Id, std::int64_t>;  // of SYMs, RANGEs and axes

// Values that satisfy the meeting and of which is_real holds.
std::optional<MeetingValues> example_of(const Graph& g, const Facts& facts, const Meeting& m,
                                        const std::function<bool(const MeetingValues&)>& is_real);

}  // namespace kiln::compiler
