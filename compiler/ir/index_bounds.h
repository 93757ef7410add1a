// Proves that extents and offsets are in range, by the declared facts of symbols.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// A symbol's least and greatest value. Symbols that are not listed are >= 0.
struct SymbolFacts {
  std::string_view name;
  std::int64_t min = 0;
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
  SourceLoc needed_at = {};  // the operation that raised the minimum
};

// True: the value is >= 0 for all values of the symbols that satisfy the facts. False: not proven.
bool proves_nonnegative(const Graph& g, Id id, std::span<const SymbolFacts> facts);

// Minimums of symbols that make the value >= 0. For one symbol: the smallest such minimum. For a product of several symbols
// plus a constant: minimums none of which can be lowered alone. Empty: the value is >= 0 already. nullopt: there are none.
std::optional<std::vector<SymbolFacts>> minimums_for_nonnegative(const Graph& g, Id id, std::span<const SymbolFacts> facts);

}  // namespace kiln::compiler
