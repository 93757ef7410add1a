// RangePair: rewrites index expressions when two nested ranges, outer a and inner b of end n, become one range m = a*n + b.
//
// Example: a*n + b + 1 -> m + 1;   (a*n + b) // 4 -> m // 4;   a -> nullopt.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {

class RangePair {
 public:
  RangePair(Graph& g, Simplifier& simplify, Id a, Id b, Id m) : g_(g), simplify_(simplify), a_(a), b_(b), m_(m) {}

  // The expressions that change, in terms of m. nullopt: the merge does not pay. It pays if each linear expression contains
  // a and b only as a multiple of a*n + b, and every other expression has no more divisions than before, in all and over b: a
  // division over a alone takes place once for each row, and wraps rows, not elements.
  std::optional<std::unordered_map<Id, Id>> operator()(std::span<const Id> indices);

 private:
  // outer*a + inner*b + rest
  struct Linear {
    Id outer, inner, rest;
  };
  std::optional<Id> in_terms_of_m(Id index);
  std::optional<Linear> linear(Id root);
  std::optional<Linear> combine(Id id, const std::unordered_map<Id, Linear>& forms);
  std::optional<Id> by_division(Id index);
  // Divisions of an index; with `range`, only divisions of a number that depends on the range.
  std::ptrdiff_t divisions(Id index, Id range = no_id) const;
  std::vector<Id> nodes_of(Id root) const;

  Graph& g_;
  Simplifier& simplify_;
  Id a_, b_, m_;
};

}  // namespace kiln::compiler
