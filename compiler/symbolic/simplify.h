// Simplification of index arithmetic and of conditions on it.
//
// before: index and bool expressions of a kernel graph in any shape. after: sums are canonical (equal sums are one node),
// division and remainder are folded as far as bounds allow, conditions that always or never hold are constants. precondition:
// well-typed nodes. postcondition: same value wherever every RANGE used is inside its loop and SYMs obey the facts; values of
// other dtypes keep their operations (WHERE of a constant condition becomes its branch). RANGE nodes keep their ids.
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

// Keeps what it has simplified: cheaper than simplify() when many roots share nodes.
class Simplifier {
 public:
  Simplifier(Graph& g, const Facts& facts);
  ~Simplifier();
  Id operator()(Id root);
  void disable(std::string_view rule);  // by name; an unknown name is a Diagnostic E-rule
  using Observer = std::function<void(std::string_view rule, Id before, Id after)>;
  void observe(Observer o);  // called for each rewrite
  void check_matches();      // for tests: see RewriteEngine
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
