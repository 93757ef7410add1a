// The rewrite engine. A rule is data: the engine matches `lhs` at a node, proves every conjunct of `guard` for the bindings,
// and replaces the node by `rhs`. So the texts that run are the texts that are proven. The engine uses an explicit stack, one
// memo, and fuel: a rule set that never settles gives Diagnostic E-fuel instead of a hang.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/symbolic/bounds.h"
#include "compiler/symbolic/id_map.h"
#include "compiler/symbolic/rewrite_context.h"

namespace kiln::compiler {

namespace symbolic {
class RuleSet;
struct CompiledRule;
}  // namespace symbolic

// The nodes that a rule's variables are bound to, in order of first appearance in lhs, then guard, then rhs.
struct Match {
  static constexpr std::size_t max_variables = 10;
  std::array<Id, max_variables> ids;

  bool bind(std::initializer_list<Id> values) {
    std::ranges::copy(values, ids.begin());
    return true;
  }
};

// The texts are in the language of infix.h. A variable is an integer unless the rule uses it as a condition somewhere.
//
// find: binds the variables if matching lhs operation by operation is not enough. lhs with these bindings must equal the node
// up to the normal form of sums and of comparisons of sums. Need not check the guard. False: the rule does not fit. nullptr:
// lhs is matched as written, commutative operations in both orders.
struct Rule {
  std::string_view name, lhs, guard, rhs;
  bool (*find)(RewriteContext&, Id node, Match&) = nullptr;
};

// A chain of one associative operation, which is rewritten as a whole from its root. A visit of every partial sum would be
// quadratic.
struct Chain {
  Rule rule;  // for lists of rules
  bool (*covers)(const Graph&, Id node);
  void (*leaves)(const Graph&, Id root, std::vector<Id>& out);
  Id (*rebuild)(RewriteContext&, Id root, const IdMap<Id>& final);
};

// bottom_up: the sources of a node are final before rules are tried at it, and replacements are rewritten too. top_down: in
// addition, rules are tried at a node before its sources. walk: bottom up, at most one rule for each node, replacements are not
// rewritten.
enum class RewriteMode { bottom_up, top_down, walk };

class RewriteEngine {
 public:
  // The rules and chains must outlive the engine.
  RewriteEngine(Graph& g, Bounds& bounds, const symbolic::RuleSet& rules, std::span<const Chain> chains,
                RewriteMode mode = RewriteMode::bottom_up);

  Id run(Id root);
  void disable(std::string_view rule);  // an unknown name throws Diagnostic E-rule
  std::vector<std::string_view> names() const;
  // Called for each application of a rule with the node before and after. `before` has a location in the program.
  using Observer = std::function<void(const Rule&, Id before, Id after)>;
  void observe(Observer o) { observer_ = std::move(o); }
  // For tests: every application evaluates lhs, rhs and the node at a few points. A difference throws std::logic_error.
  void check_matches() { checked_ = true; }

 private:
  struct Frame {
    Id id;
    Id waits_for;  // the replacement that is being rewritten, or no_id
    bool opened;
  };
  void open(Frame f);
  void close(Frame f);
  Id rebuild(Id id);
  Id apply_rules(Id id);
  bool fits(const symbolic::CompiledRule& rule, Id id, Match& m);
  void check(const symbolic::CompiledRule& rule, const Match& m, Id id, Id next);
  void spend(const Rule& rule, Id id, Id next);
  [[noreturn]] void unsettled(Id id) const;
  const Chain* chain_of(Id id) const;

  static constexpr std::size_t history = 8;

  RewriteContext context_;
  const symbolic::RuleSet& rules_;
  std::span<const Chain> chains_;
  RewriteMode mode_;
  bool checked_ = false;
  std::vector<bool> disabled_;
  IdMap<Id> final_;
  IdMap<std::uint64_t> in_progress_;  // by node: the run that rewrites it; if a node needs itself, the rules never settle
  std::vector<Frame> stack_;
  std::vector<Id> scratch_;
  std::size_t known_ = 0;       // size of the graph when run() began: only older nodes add fuel
  bool is_expression_ = false;  // the root is an index or a condition: loads and loops under it do not change
  std::uint64_t fuel_ = 0, applied_ = 0, run_ = 0;
  std::vector<std::string_view> last_rules_;
  Observer observer_;
};

}  // namespace kiln::compiler
