// What is known of symbolic extents: checked once at a program's entry, trusted by every pass after.
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
  std::map<std::string, SymFact, std::less<>> syms;  // a name that is missing has the defaults
  std::vector<Id> nonnegative;                       // index values of the graph that are >= 0: what relates several symbols
  int conditions = 0;                                // how many conditions around a branch are assumed

  SymFact of(std::string_view name) const {
    const auto it = syms.find(name);
    return it == syms.end() ? SymFact{} : it->second;
  }
};

// Adds what a condition on symbols says; parts that are not comparisons of sums, and remainders other than x % c == 0, are
// ignored.
void assume(Graph& g, Facts& facts, Id condition);

Facts facts_of(std::span<const Symbol> symbols);
inline Facts facts_of(const Program& p) { return facts_of(p.symbols); }

}  // namespace kiln::compiler
