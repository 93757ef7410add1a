// The symbols of a program by name. A long program has one for each of its loops: what looks at one piece or at one kernel
// takes those that are in it, so that its cost is that of the piece.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/ir/program.h"

namespace kiln::compiler {

// Of symbols that stay where they are.
class SymbolIndex {
 public:
  explicit SymbolIndex(std::span<const Symbol> symbols);

  std::optional<std::size_t> find(std::string_view name) const;
  // Numbers of the symbols that these nodes depend on, ascending.
  std::vector<std::size_t> numbers_in(const Graph& g, std::span<const Id> roots) const;
  std::vector<Symbol> in(const Graph& g, std::span<const Id> roots) const;

 private:
  std::span<const Symbol> symbols_;
  std::unordered_map<std::string_view, std::size_t> numbers_;  // looked up only
};

}  // namespace kiln::compiler
