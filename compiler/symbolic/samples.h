// Values of nodes at a few points that the facts allow: a statement that is false at one of them need not be tried to prove.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/symbolic/facts.h"
#include "compiler/symbolic/id_map.h"
#include "compiler/symbolic/linear.h"

namespace kiln::compiler::symbolic {

class Samples {
 public:
  Samples(const Graph& g, const Facts& facts) : graph_(g), facts_(facts) {}

  // At a point where each of `inside` has a value: all loops they are in have iterations.
  bool some_negative(const Sum& p, std::span<const Id> inside);

  bool differ(Id a, Id b);  // at some point where both have a value

 private:
  static constexpr std::size_t points = 4;
  using Values = std::array<std::optional<std::int64_t>, points>;  // none: overflow, or a loop without iterations

  const Values& at(Id root);
  Values derive(Id id) const;
  std::optional<std::int64_t> leaf(Id id, std::size_t point) const;
  void choose_points();

  const Graph& graph_;
  const Facts& facts_;
  IdMap<Values> memo_;
  std::vector<Id> stack_;
  std::array<bool, points> allowed_{};
  bool chosen_ = false;
};

}  // namespace kiln::compiler::symbolic
