// The rewrite engine: rules as named data, tried in order at every node once its sources are final, until none applies. Explicit
// stack, one memo per engine, and fuel, so that a rule set that never settles is a Diagnostic E-fuel instead of a hang.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/symbolic/bounds.h"

namespace kiln::compiler {

struct RewriteContext {
  Graph& g;
  Bounds& bounds;
};

struct Rule {
  std::string_view name;
  Op root;
  Id (*apply)(RewriteContext&, Id node);  // the replacement, or no_id when the rule does not fit
};

// Chains of one associative operation are rewritten from their root as a whole: visiting every partial sum would be quadratic.
struct Chain {
  bool (*covers)(const Graph&, Id node, Id user);                  // node belongs to user's chain (user == node: starts one)
  void (*leaves)(const Graph&, Id root, std::vector<Id>& out);
  Id (*rebuild)(RewriteContext&, Id root, const std::unordered_map<Id, Id>& final);
};

class RewriteEngine {
 public:
  RewriteEngine(Graph& g, Bounds& bounds, std::span<const std::span<const Rule>> families, std::span<const Chain> chains);

  Id run(Id root);
  void disable(std::string_view rule);  // an unknown name is a Diagnostic E-rule
  std::vector<std::string_view> names() const;
  // Called for each application of a rule, with the node before and after.
  using Observer = std::function<void(const Rule&, Id before, Id after)>;
  void observe(Observer o) { observer_ = std::move(o); }
  std::uint64_t applications() const { return applied_; }

 private:
  struct Frame {
    Id id;
    Id waits_for;  // a replacement that is being rewritten, or no_id
    bool opened;
  };
  void open(Frame& f);
  void close(Frame f);
  Id rebuild(Id id);
  Id apply_rules(Id id);
  void spend(const Rule& rule, Id id);
  [[noreturn]] void unsettled(Id id) const;
  const Chain* chain_of(Id id) const;

  static constexpr std::size_t n_ops = static_cast<std::size_t>(Op::SHUFFLE) + 1;
  static constexpr std::size_t history = 8;

  RewriteContext context_;
  std::vector<std::span<const Rule>> families_;
  std::span<const Chain> chains_;
  std::array<std::vector<const Rule*>, n_ops> by_op_;
  std::unordered_map<Id, Id> final_;
  std::unordered_set<Id> in_progress_;  // a node that needs itself is a rule set that never settles
  std::vector<Frame> stack_;
  std::vector<Id> scratch_;
  std::size_t known_ = 0;  // graph size when run() began: only nodes that were there bring fuel
  std::uint64_t fuel_ = 0, applied_ = 0;
  std::vector<std::string_view> last_rules_;
  Observer observer_;
};

}  // namespace kiln::compiler
