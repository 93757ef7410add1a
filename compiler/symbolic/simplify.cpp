#include "compiler/symbolic/simplify.h"

#include "compiler/symbolic/rules.h"

namespace kiln::compiler {
namespace {

std::vector<std::span<const Rule>> families() {
  using namespace symbolic;
  return {algebra_rules(), divmod_rules(), divmod_symbolic_rules(), compare_rules(), logic_rules()};
}

}  // namespace

struct Simplifier::State {
  State(Graph& graph, const Facts& facts)
      : g(graph), bounds(graph, facts), engine(graph, bounds, families(), symbolic::simplify_chains()) {}
  Graph& g;
  Bounds bounds;
  RewriteEngine engine;
};

Simplifier::Simplifier(Graph& g, const Facts& facts) : state_(std::make_unique<State>(g, facts)) {}
Simplifier::~Simplifier() = default;

Id Simplifier::operator()(Id root) {
  const Id r = state_->engine.run(root);
  if (!symbolic::is_index(state_->g, r)) return r;
  const Interval i = state_->bounds(r);  // a RANGE of one iteration is left to its user: here, the root
  return i.single() ? state_->g.index(i.min) : r;
}

void Simplifier::disable(std::string_view rule) { state_->engine.disable(rule); }
void Simplifier::observe(Observer o) {
  state_->engine.observe([o = std::move(o)](const Rule& r, Id before, Id after) { o(r.name, before, after); });
}
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
  for (const auto& family : families())
    for (const Rule& r : family) out.push_back(r.name);
  return out;
}

}  // namespace kiln::compiler
