// Finds the symbols of a program by name. A long program has a symbol for each loop. A pass that works on one segment or kernel
// reads only the symbols in it, so its cost depends on the segment.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/ir/program.h"

namespace kiln::compiler {

// Refers to `symbols`, which must not move.
class SymbolIndex {
 public:
  explicit SymbolIndex(std::span<const Symbol> symbols);

  std::optional<std::size_t> find(std::string_view name) const;
  // Indices of the symbols that the roots depend on, ascending.
  std::vector<std::size_t> numbers_in(const Graph& g, std::span<const Id> roots) const;
  std::vector<Symbol> in(const Graph& g, std::span<const Id> roots) const;

 private:
  std::span<const Symbol> symbols_;
  std::unordered_map<std::string_view, std::size_t> numbers_;  // by name; never iterated
};

}  // namespace kiln::compiler
