// The rewrite engine. A rule is data: the engine matches `lhs` at a node, proves every conjunct of `guard` on the bindings and
// puts `rhs` in the node's place, so the texts are exactly what runs. Explicit stack, one memo per engine, and fuel, so that a
// rule set that never settles is a Diagnostic E-fuel instead of a hang.
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
#include "compiler/symbolic/context.h"
#include "compiler/symbolic/id_map.h"

namespace kiln::compiler {

namespace symbolic {
class RuleSet;
struct CompiledRule;
}  // namespace symbolic

// What the variables of a rule stand for, in order of first appearance in lhs, then guard, then rhs.
struct Match {
  static constexpr std::size_t max_variables = 10;
  std::array<Id, max_variables> ids;

  bool bind(std::initializer_list<Id> values) {
    std::ranges::copy(values, ids.begin());
    return true;
  }
};

// Texts in the language of infix.h, variables are integers unless one is used as a condition anywhere in the rule.
// find: binds the variables at a node where matching lhs operation by operation is not enough, so that lhs with these bindings
// is the node up to the normal form of sums and of comparisons of sums. False: the rule does not fit. It need not check the
// guard. nullptr: lhs is matched as it is written, commutative operations both ways.
struct Rule {
  std::string_view name, lhs, guard, rhs;
  bool (*find)(RewriteContext&, Id node, Match&) = nullptr;
};

// Chains of one associative operation are rewritten from their root as a whole: visiting every partial sum would be quadratic.
struct Chain {
  Rule rule;  // for listing: its name
  bool (*covers)(const Graph&, Id node);
  void (*leaves)(const Graph&, Id root, std::vector<Id>& out);
  Id (*rebuild)(RewriteContext&, Id root, const IdMap<Id>& final);
};

// bottom_up: a node's sources are final before a rule sees it, and every replacement is rewritten in turn. top_down: besides,
// rules are tried at a node before its sources. walk: bottom up, at most one rule at a node, replacements are not entered.
enum class RewriteMode { bottom_up, top_down, walk };

class RewriteEngine {
 public:
  // The rules and chains must outlive the engine.
  RewriteEngine(Graph& g, Bounds& bounds, const symbolic::RuleSet& rules, std::span<const Chain> chains,
                RewriteMode mode = RewriteMode::bottom_up);

  Id run(Id root);
  void disable(std::string_view rule);  // an unknown name is a Diagnostic E-rule
  std::vector<std::string_view> names() const;
  // Called for each application of a rule, with the node before and after; before's location is where its user wrote it.
  using Observer = std::function<void(const Rule&, Id before, Id after)>;
  void observe(Observer o) { observer_ = std::move(o); }
  // For tests: every application evaluates lhs, rhs and the node at a few points; a difference is a std::logic_error.
  void check_matches() { checked_ = true; }

 private:
  struct Frame {
    Id id;
    Id waits_for;  // a replacement that is being rewritten, or no_id
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
  IdMap<std::uint64_t> in_progress_;  // by run: a node that needs itself is a rule set that never settles
  std::vector<Frame> stack_;
  std::vector<Id> scratch_;
  std::size_t known_ = 0;       // graph size when run() began: only nodes that were there bring fuel
  bool is_expression_ = false;  // the root is an index or a condition: what it reads stays as it is
  std::uint64_t fuel_ = 0, applied_ = 0, run_ = 0;
  std::vector<std::string_view> last_rules_;
  Observer observer_;
};

}  // namespace kiln::compiler
