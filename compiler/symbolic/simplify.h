// simplify: simplifies index arithmetic and conditions on it.
//
// Before: index and bool expressions of a kernel graph in any form.
// After: sums are canonical, so equal sums are one node. Divisions and remainders are folded as far as bounds allow. Conditions
//   that always or never hold are constants. The value is the same whenever every used RANGE is inside its loop and SYMs obey
//   the facts. Operations on other dtypes stay, except that WHERE of a constant condition becomes its branch. RANGEs keep their
//   ids.
// Requires: well-typed nodes.
// Example: (4 * i + j) // 4 with 0 <= j < 4  ->  i
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/symbolic/bounds.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

class RewriteEngine;

// Keeps its results, so it is cheaper than simplify() if many roots share nodes.
class Simplifier {
 public:
  Simplifier(Graph& g, const Facts& facts);
  ~Simplifier();
  Id operator()(Id root);
  void disable(std::string_view rule);  // an unknown name throws Diagnostic E-rule
  using Observer = std::function<void(std::string_view rule, Id before, Id after)>;
  void observe(Observer o);  // called for each rewrite
  void check_matches();      // for tests (rewrite_engine.h)
  Bounds& bounds();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Id simplify(Graph& g, Id root, const Facts& facts);
std::vector<Id> simplify_all(Graph& g, std::span<const Id> roots, const Facts& facts);

// Names of all rules, in order of trial.
std::vector<std::string_view> simplify_rule_names();

}  // namespace kiln::compiler
