// The facts about symbolic extents. A program's entry checks them once; every pass may trust them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/program.h"

namespace kiln::compiler {

struct SymFact {
  std::int64_t min = 0;
  std::int64_t max = std::int64_t{1} << 40;
  std::int64_t multiple_of = 1;
  bool operator==(const SymFact&) const = default;
};

struct Facts {
  std::map<std::string, SymFact, std::less<>> syms;  // a symbol that is missing has the default values
  std::vector<Id> nonnegative;                       // index values that are >= 0, for relations between symbols
  int conditions = 0;                                // number of assumed conditions, one for each choice around a branch

  SymFact of(std::string_view name) const {
    const auto it = syms.find(name);
    return it == syms.end() ? SymFact{} : it->second;
  }
};

// Adds the facts that follow from a condition. Ignores parts that are not comparisons of sums or of the form x % c == 0.
void assume(Graph& g, Facts& facts, Id condition);

Facts facts_of(std::span<const Symbol> symbols);
inline Facts facts_of(const Program& p) { return facts_of(p.symbols); }

}  // namespace kiln::compiler
