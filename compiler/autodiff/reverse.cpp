#include "compiler/autodiff/reverse.h"

#include <map>
#include <unordered_set>

#include "compiler/autodiff/custom.h"
#include "compiler/autodiff/join_slices.h"
#include "compiler/autodiff/partials.h"
#include "compiler/autodiff/transpose.h"
#include "compiler/ir/nth.h"

namespace kiln::compiler::autodiff {
namespace {

// The branches of selects that a node belongs to, as a tree. Branch 0 is outside of all selects. A branch is an operand of one
// select, or a union: of nodes that several branches use and nothing else.
class Branches {
 public:
  explicit Branches(Emit& e) : e_(e), list_{{0, no_id, 0, 0, no_id}} {}

  int inside(int parent, Id select, std::size_t operand) {
    const auto [it, fresh] = known_.try_emplace({select, operand}, count());
    if (fresh) list_.push_back({parent, select, operand, nth(list_, parent).depth + 1, no_id});
    return it->second;
  }
  int common(int a, int b) const {
    while (a != b) {
      int& deeper = nth(list_, a).depth >= nth(list_, b).depth ? a : b;
      deeper = nth(list_, deeper).parent;
    }
    return a;
  }
  // Whether the selects from `inner` to before `outer` have this shape. They all have one, because a select that is inside of a
  // branch has the shape of the select around it.
  bool have_shape(int inner, int outer, const Extents& shape) {
    return inner == outer || e_.shape(nth(list_, inner).select) == shape;
  }

  // The condition under which all branches from `inner` to before `outer` are taken. inner != outer.
  Id condition(int inner, int outer) {
    std::vector<int> missing;
    int at = inner;
    while (at != outer && !conditions_.contains({at, outer})) {
      missing.push_back(at);
      at = nth(list_, at).parent;
    }
    Id all = at == outer ? no_id : conditions_.at({at, outer});
    for (auto b = missing.rbegin(); b != missing.rend(); ++b) {
      const Id c = own_condition(*b);
      all = all == no_id || all == c ? c : e_.both(all, c);
      conditions_[{*b, outer}] = all;
    }
    return all;
  }

  // The union of branches inside of `parent`, or `parent` itself if they are the two operands of a select.
  int united(int parent, const std::vector<int>& branches) {
    std::vector<Id> conditions;
    for (const int b : branches) {
      const Branch& one = nth(list_, b);
      for (const int other : branches)
        if (one.parent == parent && nth(list_, other).parent == parent && one.select == nth(list_, other).select &&
            one.operand + nth(list_, other).operand == 3)
          return parent;
      const Id c = condition(b, parent);
      if (std::ranges::find(conditions, c) == conditions.end()) conditions.push_back(c);
    }
    Id any = conditions[0];
    for (std::size_t i = 1; i < conditions.size(); ++i) any = e_.b.elementwise(Op::OR, {any, conditions[i]});
    list_.push_back({parent, nth(list_, branches[0]).select, 0, nth(list_, parent).depth + 1, any});
    return count() - 1;
  }

 private:
  struct Branch {
    int parent;
    Id select;
    std::size_t operand;
    int depth;
    Id any;  // of a union: the condition that one of its branches is taken
  };
  int count() const { return static_cast<int>(list_.size()); }
  Id own_condition(int branch) {
    const Branch& b = nth(list_, branch);
    if (b.any != no_id) return b.any;
    const Id c = e_.g.condition(b.select);
    return b.operand == 1 ? c : e_.b.elementwise(Op::NOT, {c});
  }
  Emit& e_;
  std::vector<Branch> list_;
  std::map<std::pair<Id, std::size_t>, int> known_;
  std::map<std::pair<int, int>, Id> conditions_;  // by inner and outer branch
};

class Sweep {
 public:
  Sweep(Rules& rules, Id derivative, std::span<const Id> xs)
      : rules_(rules), e_(rules.e), g_(rules.e.g), derivative_(derivative), xs_(xs.begin(), xs.end()), branches_(rules.e) {}

  void run(const Path& path, Id y, Id cotangent) {
    arrived_[y].push_back({cotangent, 0});
    for (auto it = path.nodes().rbegin(); it != path.nodes().rend(); ++it) {
      const LocScope of_node(g_, g_.loc(*it));
      visit(*it, path.edges(*it));
    }
  }
  Id result(Id x) const {
    const auto at = results_.find(x);
    return at == results_.end() ? no_id : at->second;
  }

 private:
  struct Arrival {
    Adjoint adjoint;
    int branch;
  };

  // Operations that keep each element in its place.
  static bool keeps_places(Op op) { return is_elementwise(op) || op == Op::MARK || op == Op::STRAIGHT; }

  // The branch of a node, and the one to which its arrivals are masked: another one if the node belongs to a union.
  std::pair<int, int> branch_of(Id node, const std::vector<Arrival>& arrivals) {
    int common = arrivals[0].branch;
    for (const Arrival& a : arrivals) common = branches_.common(common, a.branch);
    if (xs_.contains(node) || !keeps_places(g_.op(node))) return {0, 0};
    const Extents shape = e_.shape(node);
    if (!branches_.have_shape(common, 0, shape)) return {0, 0};
    std::vector<int> inner;
    for (const Arrival& a : arrivals) {
      if (a.branch == common || !branches_.have_shape(a.branch, common, shape)) return {common, common};
      if (std::ranges::find(inner, a.branch) == inner.end()) inner.push_back(a.branch);
    }
    return {branches_.united(common, inner), common};
  }

  // The adjoint of a node: the sum of what arrived, masked by the selects that it left.
  Adjoint total(Id node, const std::vector<Arrival>& arrivals, int outer) {
    if (arrivals.size() == 1 && std::holds_alternative<Product>(arrivals[0].adjoint)) return arrivals[0].adjoint;
    std::vector<Id> terms;
    for (const Arrival& a : arrivals) {
      Id term = value_of(e_, a.adjoint);
      if (a.branch != outer) {
        const Id taken = branches_.condition(a.branch, outer);
        term = e_.masked(taken, term);
      }
      const std::size_t rank = e_.rank(term);
      terms.push_back(rank > e_.rank(node) ? e_.sum_all(term) : term);
    }
    return e_.sum(join_slices(e_, std::move(terms)));
  }

  void visit(Id node, const std::vector<Edge>& edges) {
    const auto at = arrived_.find(node);
    if (at == arrived_.end()) return;
    const std::vector<Arrival> arrivals = std::move(at->second);
    const auto [branch, outer_branch] = branch_of(node, arrivals);
    Adjoint adjoint = total(node, arrivals, outer_branch);
    if (xs_.contains(node)) {
      const Id value = value_of(e_, adjoint);
      results_[node] = value;
      adjoint = value;
    }
    if (edges.empty()) return;
    const Op op = g_.op(node);
    if (is_elementwise(op) && op != Op::BITCAST && is_float(g_.dtype(node))) {
      const Id y = value_of(e_, adjoint);
      for (const Edge& edge : edges) {
        const bool chosen = op == Op::WHERE;
        const int inner = chosen ? branches_.inside(branch, node, edge.place) : branch;
        const Id c = chosen ? y : times_partial(e_, node, edge.place, y, true);
        arrived_[edge.from].push_back({c, inner});
      }
      return;
    }
    const int outer = keeps_places(op) ? branch : 0;
    if (op == Op::CUSTOM) adjoint = value_of(e_, adjoint);
    for (const Edge& edge : edges) {
      Adjoint c = op == Op::CUSTOM ? Adjoint(custom_adjoint(rules_, node, edge.place, std::get<Id>(adjoint)))
                                   : transposed(rules_, derivative_, node, edge, adjoint);
      arrived_[edge.from].push_back({std::move(c), outer});
    }
  }

  Rules& rules_;
  Emit& e_;
  Graph& g_;
  Id derivative_;
  std::unordered_set<Id> xs_;
  Branches branches_;
  std::unordered_map<Id, std::vector<Arrival>> arrived_;
  std::unordered_map<Id, Id> results_;
};

}  // namespace

std::vector<Id> gradients(Rules& rules, Id derivative, Id y, Id cotangent, std::span<const Id> xs) {
  const Path path(rules, y, xs, true);
  Sweep sweep(rules, derivative, xs);
  sweep.run(path, y, cotangent);
  std::vector<Id> out;
  for (const Id x : xs) out.push_back(sweep.result(x));
  return out;
}

}  // namespace kiln::compiler::autodiff
