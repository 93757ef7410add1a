// Proofs that extents and offsets are in range, from the declared facts of symbols.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// A symbol's declared least and greatest value. Unlisted symbols are >= 0.
struct SymbolFacts {
  std::string_view name;
  std::int64_t min = 0;
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
  SourceLoc needed_at = {};  // of the operation that raised the minimum above the declared one
};

// True only when the value is >= 0 for every value of the symbols that satisfies the facts.
bool proves_nonnegative(const Graph& g, Id id, std::span<const SymbolFacts> facts);

// The smallest raised minimum that makes the value >= 0: for one symbol exactly, for a product of several symbols and a
// constant the least for each. nullopt when no minimum makes it so. A value that is >= 0 anyway raises nothing.
std::optional<std::vector<SymbolFacts>> minimums_for_nonnegative(const Graph& g, Id id, std::span<const SymbolFacts> facts);

}  // namespace kiln::compiler
