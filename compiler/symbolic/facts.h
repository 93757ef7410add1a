// What is known of symbolic extents: checked once at a program's entry, trusted by every pass after.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "compiler/ir/program.h"

namespace kiln::compiler {

struct SymFact {
  std::int64_t min = 0;
  std::int64_t max = std::int64_t{1} << 40;
  std::int64_t multiple_of = 1;
};

struct Facts {
  std::map<std::string, SymFact, std::less<>> syms;  // a name that is missing has the defaults

  SymFact of(std::string_view name) const {
    const auto it = syms.find(name);
    return it == syms.end() ? SymFact{} : it->second;
  }
};

Facts facts_of(std::span<const Symbol> symbols);
inline Facts facts_of(const Program& p) { return facts_of(p.symbols); }

}  // namespace kiln::compiler
