#include "compiler/ir/symbols.h"

#include <algorithm>

namespace kiln::compiler {

SymbolIndex::SymbolIndex(std::span<const Symbol> symbols) : symbols_(symbols) {
  for (std::size_t i = 0; i < symbols.size(); ++i) numbers_.emplace(symbols[i].name, i);
}

std::optional<std::size_t> SymbolIndex::find(std::string_view name) const {
  const auto it = numbers_.find(name);
  return it == numbers_.end() ? std::nullopt : std::optional(it->second);
}

std::vector<std::size_t> SymbolIndex::numbers_in(const Graph& g, std::span<const Id> roots) const {
  std::vector<std::size_t> out;
  for (const Id id : g.reachable(roots))
    if (const auto n = g.op(id) == Op::SYM ? find(g.name(id)) : std::nullopt) out.push_back(*n);
  std::ranges::sort(out);
  return out;
}

std::vector<Symbol> SymbolIndex::in(const Graph& g, std::span<const Id> roots) const {
  std::vector<Symbol> out;
  for (const std::size_t n : numbers_in(g, roots)) out.push_back(symbols_[n]);
  return out;
}

}  // namespace kiln::compiler
