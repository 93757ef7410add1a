#include "compiler/symbolic/rewrite_engine.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/scopes.h"
#include "compiler/symbolic/guard.h"
#include "compiler/symbolic/rules.h"
#include "compiler/symbolic/template.h"

namespace kiln::compiler {
namespace {

using symbolic::CompiledRule;

constexpr std::uint64_t fuel_per_run = 10000, fuel_per_node = 64;

std::string place(const Graph& g, Id id) {
  const SourceLoc l = g.loc(id);
  if (l.line == 0) return {};
  return std::string(g.string(l.file)) + ":" + std::to_string(l.line) + ":" + std::to_string(l.column);
}

// Operations whose RANGE sources name loops, not values.
bool binds_ranges(Op op) {
  return op == Op::END || op == Op::REDUCE || op == Op::STAGE || op == Op::FOR || op == Op::CARRY || op == Op::KERNEL;
}

// Nodes that an index expression reads from: memory, and values that loops compute. Simplification stops at them, because other
// users share their effects and loops, and a second form of these must not exist.
bool is_shared(Op op) {
  return op == Op::GET || op == Op::CARRY || op == Op::OLD || op == Op::INDEX || op == Op::LOAD || is_write(op) || is_scope(op);
}

}  // namespace

RewriteEngine::RewriteEngine(Graph& g, Bounds& bounds, const symbolic::RuleSet& rules, std::span<const Chain> chains,
                             RewriteMode mode)
    : context_(g, bounds), rules_(rules), chains_(chains), mode_(mode), disabled_(rules.rules.size(), false) {
  context_.simplified = [this](const Facts& facts, Id id) {
    Bounds inner_bounds(context_.g, facts);
    RewriteEngine inner(context_.g, inner_bounds, rules_, chains_);
    inner.disabled_ = disabled_;
    inner.checked_ = checked_;
    const Id result = inner.run(id);
    const bool is_number = context_.g.dtype(result) == DType::index && !symbolic::is_gated(context_.g, result);
    const Interval i = is_number ? inner_bounds(result) : anything;
    return i.single() ? context_.g.index(i.min) : result;
  };
}

std::vector<std::string_view> RewriteEngine::names() const {
  std::vector<std::string_view> out;
  for (const CompiledRule& r : rules_.rules) out.push_back(r.rule->name);
  return out;
}

void RewriteEngine::disable(std::string_view rule) {
  for (std::size_t i = 0; i < disabled_.size(); ++i) {
    if (rules_.rules[i].rule->name != rule || disabled_[i]) continue;
    disabled_[i] = true;
    return;
  }
  throw Diagnostic("E-rule", {}, "no rewrite rule is named '" + std::string(rule) + "' (or it is disabled already)");
}

const Chain* RewriteEngine::chain_of(Id id) const {
  for (const Chain& c : chains_)
    if (c.covers(context_.g, id)) return &c;
  return nullptr;
}

Id RewriteEngine::run(Id root) {
  known_ = context_.g.size();
  fuel_ = fuel_per_run;
  ++run_;
  is_expression_ = context_.g.dtype(root) == DType::index || context_.g.dtype(root) == DType::boolean;
  const LocScope restored(context_.g);
  stack_.assign(1, {root, no_id, false});
  while (!stack_.empty()) {
    const Frame f = stack_.back();
    if (final_.contains(f.id)) {
      stack_.pop_back();
    } else if (!f.opened) {
      stack_.back().opened = true;
      open(f);
    } else {
      stack_.pop_back();
      context_.g.set_loc(context_.g.loc(f.id));
      close(f);
    }
  }
  return final_.at(root);
}

// Pushes the nodes that must be final before this node can be rewritten.
void RewriteEngine::open(Frame f) {
  const Id id = f.id;
  if (const std::uint64_t* run = in_progress_.find(id); run != nullptr && *run == run_) unsettled(id);
  in_progress_.set(id, run_);
  if (id < known_) fuel_ += fuel_per_node;
  const auto src = context_.g.src(id);
  if (context_.g.op(id) == Op::RANGE || src.empty() || (is_expression_ && is_shared(context_.g.op(id)))) {
    final_.set(id, id);
    return;
  }
  if (mode_ == RewriteMode::top_down) {
    if (const Id next = apply_rules(id); next != no_id) {
      stack_.back().waits_for = next;
      stack_.push_back({next, no_id, false});
      return;
    }
  }
  scratch_.clear();
  if (const Chain* c = chain_of(id))
    c->leaves(context_.g, id, scratch_);
  else
    scratch_.assign(src.begin(), src.end());
  for (Id s : scratch_)
    if (!final_.contains(s)) stack_.push_back({s, no_id, false});
}

void RewriteEngine::close(Frame f) {
  if (f.waits_for != no_id) {
    final_.set(f.id, final_.at(f.waits_for));
    return;
  }
  const Id built = rebuild(f.id);
  if (const Id* done = final_.find(built); done != nullptr && built != f.id) {
    final_.set(f.id, *done);
    return;
  }
  const Id next = apply_rules(built);
  if (next == no_id || mode_ == RewriteMode::walk) {
    final_.set(built, built);
    final_.set(f.id, next == no_id ? built : next);
    return;
  }
  if (built != f.id) stack_.push_back({built, next, true});
  stack_.push_back({f.id, next, true});
  stack_.push_back({next, no_id, false});
}

Id RewriteEngine::rebuild(Id id) {
  if (const Chain* c = chain_of(id)) {
    const Id built = c->rebuild(context_, id, final_);
    if (built != id && observer_) observer_(c->rule, id, built);
    return built;
  }
  Graph& g = context_.g;
  const bool binds = binds_ranges(g.op(id));
  const auto src = g.src(id);
  scratch_.assign(src.begin(), src.end());
  for (Id& s : scratch_) {
    s = final_.at(s);
    if ((g.op(s) != Op::RANGE && g.op(s) != Op::SYM) || binds || g.dtype(s) != DType::index) continue;
    if (const Interval i = context_.bounds(s); i.single())
      s = g.index(i.min);  // a loop of one iteration, or an extent with one value
  }
  return g.with_src(id, scratch_);
}

// Binds the variables and proves the guard. False: the rule does not fit in any order of operands.
bool RewriteEngine::fits(const CompiledRule& r, Id id, Match& m) {
  const auto proven = [&] {
    return std::ranges::all_of(r.guard, [&](const symbolic::Template& part) { return prove(context_, part, m, id); });
  };
  if (r.rule->find != nullptr) return r.rule->find(context_, id, m) && proven();
  for (unsigned order = 0; order < r.orders; ++order)
    if (match(context_.g, r.lhs, order, id, m) && proven()) return true;
  return false;
}

Id RewriteEngine::apply_rules(Id id) {
  Match m;
  const Graph& g = context_.g;
  for (const std::uint16_t i : rules_.at(g.op(id), g.dtype(id))) {
    const CompiledRule& r = rules_.rules[i];
    if (!may_match(g, r, id) || disabled_[i] || !fits(r, id, m)) continue;
    const Id next = instantiate(context_.g, r.rhs, m);
    if (next == id) continue;
    if (checked_) check(r, m, id, next);
    spend(*r.rule, id, next);
    return next;
  }
  return no_id;
}

void RewriteEngine::check(const CompiledRule& r, const Match& m, Id id, Id next) {
  const Id lhs = instantiate(context_.g, r.lhs, m);
  if (!context_.samples().differ(lhs, id) && !context_.samples().differ(next, id)) return;
  throw std::logic_error("rule " + std::string(r.rule->name) + ": its lhs or rhs as bound is not the node it was bound at");
}

void RewriteEngine::spend(const Rule& rule, Id id, Id next) {
  ++applied_;
  if (last_rules_.size() < history)
    last_rules_.push_back(rule.name);
  else
    last_rules_[applied_ % history] = rule.name;
  if (observer_) observer_(rule, id, next);
  if (fuel_-- == 0) unsettled(id);
}

void RewriteEngine::unsettled(Id id) const {
  std::string names;
  for (std::size_t i = 0; i < last_rules_.size(); ++i)
    names += (i == 0 ? "" : ", ") + std::string(last_rules_[(applied_ + 1 + i) % last_rules_.size()]);
  throw Diagnostic("E-fuel", place(context_.g, id), "rewriting does not settle; last rules: " + names);
}

}  // namespace kiln::compiler
