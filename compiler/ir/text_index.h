// Index expressions in readable infix: `2*H*W + N - 1`, `((N + 1) // 2)`, `(N % 4)`, `min(N, 8)`, `%12`.
//   sum = [-] product {(+ | -) product};  product = part {* part};  part = atom {(// | %) atom}
// `//` and `%` bind tighter than `*`, so that `2*(N)//2` is twice the half.
#pragma once

#include <functional>
#include <string_view>

#include "compiler/ir/graph.h"
#include "compiler/ir/text_scan.h"

namespace kiln::compiler {

// Functions that give the ids of %n and of a symbol's name; both may throw. scan_index builds canonical index arithmetic.
struct IndexNames {
  std::function<Id(std::uint64_t)> node;
  std::function<Id(std::string_view)> symbol;
};
Id scan_index(Scanner& s, Graph& g, const IndexNames& names);

// Reads a whole text, such as an extent of a record table. Creates symbols as needed. `file` is for E-text.
Id read_index(Graph& g, std::string_view text, std::string_view file = "extent");

}  // namespace kiln::compiler
