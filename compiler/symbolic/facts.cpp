#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

Facts facts_of(std::span<const Symbol> symbols) {
  Facts f;
  for (const Symbol& s : symbols) f.syms[s.name] = SymFact{s.min, s.max, s.multiple_of};
  return f;
}

}  // namespace kiln::compiler
