#include "compiler/symbolic/simplify.h"

#include "compiler/symbolic/rules.h"
#include "compiler/symbolic/template.h"

namespace kiln::compiler {
namespace symbolic {

std::span<const std::span<const Rule>> simplify_families() {
  static const std::span<const Rule> families[] = {algebra_rules(), where_rules(),   divmod_rules(), sum_rules(),
                                                   bit_rules(),     compare_rules(), logic_rules()};
  return families;
}

std::span<const Rule> all_rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> out;
    for (const auto& family : simplify_families()) out.insert(out.end(), family.begin(), family.end());
    out.insert(out.end(), concrete_rules().begin(), concrete_rules().end());
    return out;
  }();
  return all;
}

}  // namespace symbolic

namespace {

const symbolic::RuleSet& simplify_rules() {
  static const symbolic::RuleSet rules(symbolic::simplify_families());
  return rules;
}

}  // namespace

struct Simplifier::State {
  State(Graph& graph, const Facts& facts)
      : g(graph), bounds(graph, facts), engine(graph, bounds, simplify_rules(), symbolic::simplify_chains()) {}
  Graph& g;
  Bounds bounds;
  RewriteEngine engine;
};

Simplifier::Simplifier(Graph& g, const Facts& facts) : state_(std::make_unique<State>(g, facts)) {}
Simplifier::~Simplifier() = default;

Id Simplifier::operator()(Id root) {
  const Id r = state_->engine.run(root);
  if (!symbolic::is_index(state_->g, r) || symbolic::is_gated(state_->g, r)) return r;
  const Interval i = state_->bounds(r);  // the user of a RANGE of one iteration replaces it; here the root has no user
  return i.single() ? state_->g.index(i.min) : r;
}

void Simplifier::disable(std::string_view rule) { state_->engine.disable(rule); }
void Simplifier::observe(Observer o) {
  state_->engine.observe([o = std::move(o)](const Rule& r, Id before, Id after) { o(r.name, before, after); });
}
void Simplifier::check_matches() { state_->engine.check_matches(); }
Bounds& Simplifier::bounds() { return state_->bounds; }

Id simplify(Graph& g, Id root, const Facts& facts) {
  if (g.src(root).empty()) return root;
  return Simplifier(g, facts)(root);
}

std::vector<Id> simplify_all(Graph& g, std::span<const Id> roots, const Facts& facts) {
  Simplifier s(g, facts);
  std::vector<Id> out;
  for (Id r : roots) out.push_back(s(r));
  return out;
}

std::vector<std::string_view> simplify_rule_names() {
  std::vector<std::string_view> out;
  for (const symbolic::CompiledRule& r : simplify_rules().rules) out.push_back(r.rule->name);
  return out;
}

}  // namespace kiln::compiler
