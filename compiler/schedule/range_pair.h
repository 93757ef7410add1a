// What becomes of index expressions when two nested ranges turn into one: a, outer, and b, of end n, inside it; m is a*n + b.
#pragma once

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

  // Each expression in terms of m. nullopt: not worth it. An expression that adds multiples of a and b must be a multiple of
  // a*n + b; one that divides must not divide more often than before.
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
  std::size_t divisions(Id index) const;
  std::vector<Id> nodes_of(Id root) const;

  Graph& g_;
  Simplifier& simplify_;
  Id a_, b_, m_;
};

}  // namespace kiln::compiler
