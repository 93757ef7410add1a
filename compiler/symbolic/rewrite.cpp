#include "compiler/symbolic/rewrite.h"

#include <algorithm>
#include <string>

#include "compiler/ir/diagnostic.h"

namespace kiln::compiler {
namespace {

constexpr std::uint64_t fuel_per_run = 10000, fuel_per_node = 64;

std::string place(const Graph& g, Id id) {
  const SourceLoc l = g.loc(id);
  if (l.line == 0) return {};
  return std::string(g.string(l.file)) + ":" + std::to_string(l.line) + ":" + std::to_string(l.column);
}

// Operations whose RANGE sources name loops, not values.
bool binds_ranges(Op op) { return op == Op::END || op == Op::REDUCE || op == Op::STAGE || op == Op::FOR || op == Op::CARRY; }

}  // namespace

RewriteEngine::RewriteEngine(Graph& g, Bounds& bounds, std::span<const std::span<const Rule>> families,
                             std::span<const Chain> chains)
    : context_{g, bounds}, families_(families.begin(), families.end()), chains_(chains) {
  for (const auto& family : families_)
    for (const Rule& r : family) by_op_[static_cast<std::size_t>(r.root)].push_back(&r);
}

std::vector<std::string_view> RewriteEngine::names() const {
  std::vector<std::string_view> out;
  for (const auto& family : families_)
    for (const Rule& r : family)
      if (std::ranges::find(out, r.name) == out.end()) out.push_back(r.name);
  return out;
}

void RewriteEngine::disable(std::string_view rule) {
  std::size_t found = 0;
  for (auto& rules : by_op_) found += std::erase_if(rules, [&](const Rule* r) { return r->name == rule; });
  if (found == 0) throw Diagnostic("E-rule", {}, "no rewrite rule is named '" + std::string(rule) + "' (or it is disabled already)");
}

const Chain* RewriteEngine::chain_of(Id id) const {
  for (const Chain& c : chains_)
    if (c.covers(context_.g, id, id)) return &c;
  return nullptr;
}

Id RewriteEngine::run(Id root) {
  known_ = context_.g.size();
  fuel_ = fuel_per_run;
  const SourceLoc saved = context_.g.loc();
  stack_.assign(1, {root, no_id, false});
  in_progress_.clear();
  while (!stack_.empty()) {
    Frame& top = stack_.back();
    if (final_.contains(top.id)) {
      stack_.pop_back();
    } else if (!top.opened) {
      open(top);
    } else {
      const Frame f = top;
      stack_.pop_back();
      context_.g.set_loc(context_.g.loc(f.id));
      close(f);
    }
  }
  context_.g.set_loc(saved);
  return final_.at(root);
}

// Asks for everything this node's rewriting needs first.
void RewriteEngine::open(Frame& f) {
  f.opened = true;
  const Id id = f.id;
  if (!in_progress_.insert(id).second) unsettled(id);
  if (id < known_) fuel_ += fuel_per_node;
  if (context_.g.op(id) == Op::RANGE) {
    final_[id] = id;
    return;
  }
  scratch_.clear();
  if (const Chain* c = chain_of(id)) {
    c->leaves(context_.g, id, scratch_);
  } else {
    const auto src = context_.g.src(id);
    scratch_.assign(src.begin(), src.end());
  }
  for (Id s : scratch_)
    if (!final_.contains(s)) stack_.push_back({s, no_id, false});
}

void RewriteEngine::close(Frame f) {
  if (f.waits_for != no_id) {
    final_[f.id] = final_.at(f.waits_for);
    return;
  }
  const Id built = rebuild(f.id);
  if (const auto it = final_.find(built); it != final_.end() && built != f.id) {
    final_[f.id] = it->second;
    return;
  }
  const Id next = apply_rules(built);
  if (next == no_id) {
    final_[built] = built;
    final_[f.id] = built;
    return;
  }
  if (built != f.id) stack_.push_back({built, next, true});
  stack_.push_back({f.id, next, true});
  stack_.push_back({next, no_id, false});
}

Id RewriteEngine::rebuild(Id id) {
  if (const Chain* c = chain_of(id)) return c->rebuild(context_, id, final_);
  Graph& g = context_.g;
  const bool binds = binds_ranges(g.op(id));
  const auto src = g.src(id);
  scratch_.assign(src.begin(), src.end());
  for (Id& s : scratch_) {
    s = final_.at(s);
    if ((g.op(s) != Op::RANGE && g.op(s) != Op::SYM) || binds) continue;
    if (const Interval i = context_.bounds(s); i.single()) s = g.index(i.min);  // a loop of one iteration, an extent that is known
  }
  return g.with_src(id, scratch_);
}

Id RewriteEngine::apply_rules(Id id) {
  for (const Rule* r : by_op_[static_cast<std::size_t>(context_.g.op(id))]) {
    const Id next = r->apply(context_, id);
    if (next == no_id || next == id) continue;
    spend(*r, id);
    if (observer_) observer_(*r, id, next);
    return next;
  }
  return no_id;
}

void RewriteEngine::spend(const Rule& rule, Id id) {
  ++applied_;
  if (last_rules_.size() < history)
    last_rules_.push_back(rule.name);
  else
    last_rules_[applied_ % history] = rule.name;
  if (fuel_-- == 0) unsettled(id);
}

void RewriteEngine::unsettled(Id id) const {
  std::string names;
  for (std::size_t i = 0; i < last_rules_.size(); ++i)
    names += (i == 0 ? "" : ", ") + std::string(last_rules_[(applied_ + 1 + i) % last_rules_.size()]);
  throw Diagnostic("E-fuel", place(context_.g, id), "rewriting does not settle; last rules: " + names);
}

}  // namespace kiln::compiler
