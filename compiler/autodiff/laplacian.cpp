#include "compiler/autodiff/laplacian.h"

#include <numeric>

#include "compiler/autodiff/forward.h"
#include "compiler/autodiff/partials.h"

namespace kiln::compiler::autodiff {
namespace {

class Laplacian {
 public:
  Laplacian(Rules& rules, Id derivative) : rules_(rules), e_(rules.e), g_(rules.e.g), derivative_(derivative) {}

  Id of(Id y, Id x) {
    const Extents all = e_.shape(x), outer = e_.shape(y);
    const Id directions = unit_directions(x, all, outer.size());
    const Id xs[] = {x};
    const Path path(rules_, y, xs, false);
    if (path.nodes().empty()) return no_id;
    first_[x] = directions;
    second_[x] = e_.zeros(g_.dtype(x), all);
    for (const Id node : path.nodes()) {
      if (node == x) continue;
      const LocScope of_node(g_, g_.loc(node));
      step(node, path.edges(node));
    }
    return second_.at(y);
  }

 private:
  // [K, shape of x]: direction k is 1 at element k of the axes that y lacks, for all elements of the other axes.
  Id unit_directions(Id x, const Extents& all, std::size_t outer) {
    const Extents inner(all.begin() + static_cast<std::ptrdiff_t>(outer), all.end());
    const Id count = index_product(g_, inner);
    const auto n = index_value(g_, count);
    if (!n || *n < 1)
      fail_derivative(g_, derivative_, "expected constant extents of the axes that y lacks, got " + e_.b.shape_text(inner));
    lead_ = count;
    const Id line = e_.b.iota(DType::i64, count);
    const Id rows = e_.reshape(line, {count, g_.index(1)}), columns = e_.reshape(line, {g_.index(1), count});
    const Id same = e_.equal(rows, columns);
    Extents to(outer + 1, g_.index(1));
    to[0] = count;
    to.insert(to.end(), inner.begin(), inner.end());
    const Id ones = e_.reshape(e_.b.cast(same, g_.dtype(x)), to);
    Extents whole = all;
    whole.insert(whole.begin(), count);
    return e_.b.broadcast_to(ones, whole);
  }

  void step(Id node, const std::vector<Edge>& edges) {
    if (g_.op(node) == Op::CUSTOM)
      fail_derivative(g_, derivative_, "expected a `laplacian` without custom derivatives, got " + rules_.at(node));
    first_[node] = tangent_of_node(rules_, derivative_, lead_, node, edges, first_);
    Id sum = tangent_of_node(rules_, derivative_, no_id, node, edges, second_);
    const Id squares = second_order(node, edges);
    if (squares != no_id) sum = e_.add(sum, squares);
    second_[node] = sum;
  }

  Id repeated(Id x) {
    Extents to = e_.shape(x);
    to.insert(to.begin(), g_.index(1));
    const Id one = e_.reshape(x, to);
    return e_.repeat_axis(one, 0, lead_);
  }
  Id sum_of_directions(Id x) { return e_.sum_over(x, {0}); }

  // The sum over the directions and pairs of operands of second derivatives times both first derivatives; no_id: 0.
  Id second_order(Id node, const std::vector<Edge>& edges) {
    const Op op = g_.op(node);
    if (is_elementwise(op)) return elementwise(node, edges);
    if (op != Op::REDUCE) return no_id;
    const ReduceKind kind = g_.reduce_kind(node);
    if (operands_of(kind) == 2) return edges.size() == 2 ? of_product(node, kind, edges) : no_id;
    if (kind == ReduceKind::prod)
      fail_derivative(g_, derivative_,
                      "expected a `laplacian` without products of a tensor's elements, got " + rules_.at(node));
    return no_id;
  }

  // d2 (a b) = 2 da db
  Id of_product(Id node, ReduceKind kind, const std::vector<Edge>& edges) {
    Axes axes(g_.args(node).begin() + 1, g_.args(node).end());
    for (std::int64_t& a : axes) ++a;
    const Id products = e_.b.reduce(kind, first_.at(edges[0].from), first_.at(edges[1].from), axes);
    const Id sum = sum_of_directions(products);
    return e_.mul(e_.number(g_.dtype(node), 2), sum);
  }

  // The tangent of the tangent, with operands that are repeated for each direction.
  Id elementwise(Id node, const std::vector<Edge>& edges) {
    const Op op = g_.op(node);
    if (op == Op::NEG || op == Op::ADD || op == Op::SUB || op == Op::WHERE || op == Op::CAST || op == Op::ABS ||
        op == Op::MIN || op == Op::MAX)
      return no_id;
    std::vector<Id> operands = g_.sources(node), x_and_v;
    const std::size_t rank = e_.rank(node);
    for (const Edge& edge : edges) {
      const Id own = e_.rank(edge.from) == 0 && rank > 0 ? e_.b.broadcast_to(edge.from, e_.shape(node)) : edge.from;
      Id t = first_.at(edge.from);
      if (e_.rank(edge.from) == 0 && rank > 0) {
        Extents to(rank + 1, g_.index(1));
        to[0] = lead_;
        Extents whole = e_.shape(node);
        whole.insert(whole.begin(), lead_);
        t = e_.b.broadcast_to(e_.reshape(t, to), whole);
      }
      // The place makes operands that are one value two, each with its own derivative.
      const Id copy = e_.b.mark(repeated(own), MarkKind::independent, static_cast<std::int64_t>(edge.place));
      operands[edge.place] = copy;
      x_and_v.push_back(copy);
      x_and_v.push_back(t);
    }
    const Id wide = e_.b.elementwise(op, operands);
    const Id first = tangent(rules_, derivative_, wide, x_and_v);
    const Id second = tangent(rules_, derivative_, first, x_and_v);
    return second == no_id ? no_id : sum_of_directions(second);
  }

  Rules& rules_;
  Emit& e_;
  Graph& g_;
  Id derivative_, lead_ = no_id;
  std::unordered_map<Id, Id> first_, second_;
};

}  // namespace

Id laplacian(Rules& rules, Id derivative, Id y, Id x) { return Laplacian(rules, derivative).of(y, x); }

}  // namespace kiln::compiler::autodiff
