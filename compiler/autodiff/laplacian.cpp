#include "compiler/autodiff/laplacian.h"

#include <numeric>

#include "compiler/autodiff/forward.h"
#include "compiler/autodiff/partials.h"
#include "compiler/autodiff/twins.h"

namespace kiln::compiler::autodiff {
namespace {

class Laplacian : public Twins {
 public:
  // directions: the unit vectors, [K, shape of x].
  Laplacian(Rules& rules, Id derivative, Id directions)
      : Twins(rules, derivative, {rules.e.shape(directions)[0], no_id}),
        directions_(directions),
        lead_(rules.e.shape(directions)[0]),
        first_(parts_[0]),
        second_(parts_[1]) {}

 protected:
  void begin(Id x) override {
    first_[x] = directions_;
    second_[x] = e_.zeros(g_.dtype(x), e_.shape(x));
  }
  void visit(Id node, const std::vector<Edge>& edges, bool in_kernel) override {
    if (g_.op(node) == Op::CUSTOM)
      fail_derivative(g_, derivative_, "expected a `laplacian` without custom derivatives, got " + rules_.at(node));
    const Id first = tangent_of_node(rules_, derivative_, lead_, {node, edges, in_kernel}, first_);
    first_[node] = first;
    Id sum = tangent_of_node(rules_, derivative_, no_id, {node, edges, in_kernel}, second_);
    const Id squares = second_order(node, edges);
    if (squares != no_id) sum = e_.add(sum, squares);
    second_[node] = sum;
  }

 private:
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
    if (op != Op::REDUCE && op != Op::SCAN) return no_id;
    const ReduceKind kind = op == Op::SCAN ? g_.scan_kind(node) : g_.reduce_kind(node);
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

  Id directions_, lead_;
  std::unordered_map<Id, Id>&first_, &second_;
};

// [K, shape of x]: direction k is 1 at element k of the axes that y lacks, for all elements of the other axes.
Id unit_directions(Rules& rules, Id derivative, Id x, std::size_t outer) {
  Emit& e = rules.e;
  Graph& g = e.g;
  const Extents all = e.shape(x), inner(all.begin() + static_cast<std::ptrdiff_t>(outer), all.end());
  const Id count = index_product(g, inner);
  const auto n = index_value(g, count);
  if (!n || *n < 1)
    fail_derivative(g, derivative, "expected constant extents of the axes that y lacks, got " + e.b.shape_text(inner));
  const Id line = e.b.iota(DType::i64, count);
  const Id rows = e.reshape(line, {count, g.index(1)}), columns = e.reshape(line, {g.index(1), count});
  const Id same = e.equal(rows, columns);
  Extents to(outer + 1, g.index(1));
  to[0] = count;
  to.insert(to.end(), inner.begin(), inner.end());
  const Id ones = e.reshape(e.b.cast(same, g.dtype(x)), to);
  Extents whole = all;
  whole.insert(whole.begin(), count);
  return e.b.broadcast_to(ones, whole);
}

}  // namespace

Id laplacian(Rules& rules, Id derivative, Id y, Id x) {
  const Id directions = unit_directions(rules, derivative, x, rules.e.rank(y));
  Laplacian sweep(rules, derivative, directions);
  const Id xs[] = {x};
  sweep.run(y, xs);
  return sweep.part(1, y);
}

}  // namespace kiln::compiler::autodiff
