#include "compiler/autodiff/forward.h"

#include <algorithm>
#include <numeric>

#include "compiler/autodiff/custom.h"
#include "compiler/autodiff/partials.h"
#include "compiler/autodiff/reverse.h"
#include "compiler/autodiff/scans.h"
#include "compiler/autodiff/transpose.h"
#include "compiler/autodiff/twins.h"
#include "compiler/ir/scopes.h"

namespace kiln::compiler::autodiff {
namespace {

// The rule of one node.
class NodeTangent {
 public:
  // lead: the extent of the axis of directions; no_id: there is no such axis.
  NodeTangent(Rules& rules, Id derivative, Id lead)
      : rules_(rules), e_(rules.e), g_(rules.e.g), derivative_(derivative), lead_(lead), shift_(lead == no_id ? 0 : 1) {}

  // The sum of a term for each edge.
  Id of(const NodeOfPath& at, const std::unordered_map<Id, Id>& tangents) {
    in_kernel_ = at.in_kernel;
    std::vector<Id> terms;
    for (const Edge& edge : at.edges) terms.push_back(term(at.node, edge, tangents.at(edge.from)));
    const Id total = e_.sum(terms);
    return e_.b.broadcast_to(total, with_lead(e_.shape(at.node)));
  }

 private:
  Extents with_lead(Extents shape) const {
    if (shift_ != 0) shape.insert(shape.begin(), lead_);
    return shape;
  }
  // The axes of a tangent that belong to these axes of the value.
  Axes shifted(std::span<const std::int64_t> axes) const {
    Axes out(axes.begin(), axes.end());
    for (std::int64_t& a : out) a += shift_;
    return out;
  }
  Extents behind(Id first, std::span<const Id> rest) const {
    Extents out(rest.begin(), rest.end());
    if (shift_ != 0) out.insert(out.begin(), first);
    return out;
  }
  // A tangent of rank 0 and its directions, so that it broadcasts with tensors of this rank.
  Id aligned(Id t, std::size_t rank) {
    if (shift_ == 0 || e_.rank(t) != 1 || rank == 0) return t;
    Extents to(rank + 1, g_.index(1));
    to[0] = lead_;
    return e_.reshape(t, to);
  }
  // The axis of directions as the last axis, and back.
  Id lead_to_back(Id t) {
    if (shift_ == 0) return t;
    Axes order(e_.rank(t));
    std::iota(order.begin(), order.end(), 1);
    order.back() = 0;
    return e_.permute(t, order);
  }
  Id lead_to_front(Id t) {
    if (shift_ == 0) return t;
    Axes order(e_.rank(t));
    std::iota(order.begin(), order.end(), -1);
    order[0] = std::ssize(order) - 1;
    return e_.permute(t, order);
  }

  // What the operand of an edge adds to the tangent of a node.
  Id term(Id node, const Edge& edge, Id t) {
    const Op op = g_.op(node);
    if (is_elementwise(op) && op != Op::BITCAST && is_float(g_.dtype(node)))
      return times_partial(e_, node, edge.place, aligned(t, e_.rank(node)), false);
    switch (op) {
      case Op::RESHAPE: return e_.reshape(t, with_lead(e_.shape(node)));
      case Op::EXPAND: return e_.b.expand(t, with_lead(e_.shape(node)));
      case Op::PERMUTE: {
        Axes axes = shifted(g_.args(node));
        if (shift_ != 0) axes.insert(axes.begin(), 0);
        return e_.permute(t, axes);
      }
      case Op::SLICE: return slice(node, t);
      case Op::PAD: return edge.place == 1 ? border(node, t) : pad(node, t);
      case Op::CONCAT: return part(node, edge.place, t);
      case Op::SHEAR:
      case Op::UNSHEAR: {
        Axes a = shifted(g_.args(node).first(2));
        const Id extent = g_.src(node, 1);
        const auto make = op == Op::SHEAR ? &Builder::shear : &Builder::unshear;
        return (e_.b.*make)(t, a[0], a[1], g_.arg(node, 2), g_.arg(node, 3), extent);
      }
      case Op::STAGE:
      case Op::MARK:
      case Op::STRAIGHT: return t;
      case Op::SCAN: return scan_tangent(rules_, derivative_, lead_, node, t);
      case Op::REDUCE: return reduce(node, edge, t);
      case Op::GATHER: {
        const std::vector<Id> index = g_.sources(node, 1);
        return lead_to_front(e_.b.gather(lead_to_back(t), index));
      }
      case Op::INDEX: return element(node, t);
      case Op::GET: return scattered(node, t);
      case Op::CUSTOM: return custom(node, edge, t);
      default: refuse(node);
    }
  }

  Id slice(Id node, Id t) {
    const std::size_t n = g_.args(node).size();
    const Extents src = g_.sources(node, 1);
    const Extents begin = behind(g_.index(0), std::span(src).first(n)), to = behind(lead_, std::span(src).subspan(n));
    Axes steps(g_.args(node).begin(), g_.args(node).end());
    if (shift_ != 0) steps.insert(steps.begin(), 1);
    return e_.b.slice(t, begin, steps, to);
  }

  Id pad(Id node, Id t) {
    const Extents src = g_.sources(node, 2);
    const std::size_t n = src.size() / 2;
    const Extents before = behind(g_.index(0), std::span(src).first(n)), to = behind(lead_, std::span(src).subspan(n));
    return e_.b.pad(t, e_.number(g_.dtype(t), 0), g_.pad_mode(node), before, to);
  }

  // The tangent of the value that a PAD fills with.
  Id border(Id node, Id t) {
    const Id x = g_.data(node);
    const Extents before = g_.sources(node, 2), all = e_.shape(node), inner = e_.shape(x);
    const Id yes = e_.b.constant(DType::boolean, 1), no = e_.b.constant(DType::boolean, 0);
    const Id there = e_.b.broadcast_to(yes, inner);
    const Extents widths(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(all.size()));
    const Id inside = e_.b.pad(there, no, PadMode::constant, widths, all);
    const Id zero = e_.number(g_.dtype(t), 0), value = aligned(t, all.size());
    return e_.where(inside, zero, value);
  }

  Id part(Id node, std::size_t place, Id t) {
    const std::size_t axis = g_.slot(node);
    Id begin = g_.index(0);
    for (std::size_t i = 0; i < place; ++i) {
      const Extents before = e_.shape(g_.src(node, i));
      begin = index_add(g_, begin, before[axis]);
    }
    const Extents all = e_.shape(node);
    return e_.pad_axis(t, axis + static_cast<std::size_t>(shift_), begin, all[axis]);
  }

  // x with the axes of the other operand's tangent.
  Id repeated(Id x) {
    if (shift_ == 0) return x;
    Extents to = e_.shape(x);
    to.insert(to.begin(), g_.index(1));
    const Id one = e_.reshape(x, to);
    return e_.repeat_axis(one, 0, lead_);
  }

  Id reduce(Id node, const Edge& edge, Id t) {
    const ReduceKind kind = g_.reduce_kind(node);
    const Axes axes(g_.args(node).begin() + 1, g_.args(node).end());
    if (operands_of(kind) == 2) {
      const Id other = repeated(g_.src(node, 1 - edge.place));
      return e_.b.reduce(kind, edge.place == 0 ? t : other, edge.place == 0 ? other : t, shifted(axes));
    }
    if (kind == ReduceKind::sum) return e_.b.reduce(kind, t, shifted(axes));
    if (kind != ReduceKind::prod) {
      const Id taken = is_extreme(e_, node, edge.from), chosen = e_.masked(taken, t);
      return e_.b.reduce(ReduceKind::sum, chosen, shifted(axes));
    }
    Id x = edge.from;
    for (std::size_t i = axes.size(); i-- > 0;) {  // one axis after another, from the last one
      const Id others = products_of_others(e_, x, static_cast<std::size_t>(axes[i]));
      t = e_.mul(t, others);
      const Axes axis{axes[i]};
      t = e_.b.reduce(ReduceKind::sum, t, shifted(axis));
      x = e_.b.reduce(kind, x, axis);
    }
    return t;
  }

  Id element(Id node, Id t) {
    const IndexGate gate = index_gate(g_, node);
    std::vector<Id> index = g_.sources(node, 1);
    if (!index.empty()) index[0] = gate.first;
    if (shift_ == 0) return e_.b.element(t, index, gate.gate);
    if (in_kernel_) return elements(t, index, gate.gate);
    std::vector<Id> places;
    for (const Id i : index) places.push_back(e_.b.cast(i, DType::i64));
    const Id back = lead_to_back(t);
    const Id read = places.empty() ? back : e_.b.gather(back, places);
    return gate.gate == no_id ? read : e_.masked(gate.gate, read);
  }

  // One read for each direction.
  Id elements(Id t, std::vector<Id> index, Id gate) {
    const auto n = few_directions(rules_, derivative_, lead_);
    index.insert(index.begin(), no_id);
    std::vector<Id> all;
    for (std::int64_t k = 0; k < n; ++k) {
      index[0] = g_.index(k);
      all.push_back(e_.b.element(t, index, gate));
    }
    return joined_directions(e_, all);
  }

  // The sum of a Scatter is linear in its values.
  Id scattered(Id node, Id t) {
    const auto s = rules_.scatters.find(node);
    if (s == rules_.scatters.end()) refuse(node);
    Scatter moved = s->second;
    moved.values = lead_to_back(t);
    if (shift_ == 0) return rules_.scatter(moved, node);
    Extents to = e_.shape(node);
    to.push_back(lead_);
    const Id like = e_.zeros(g_.dtype(node), to);
    return lead_to_front(rules_.scatter(moved, like));
  }

  // The derivative d of a CUSTOM is linear in its cotangent c. Its tangent is the transpose of d, applied to t: the derivative
  // of the sum of d * t by c.
  Id custom(Id node, const Edge& edge, Id t) {
    const Id c = cotangent_of(rules_, node);
    const Id d = g_.src(node, edge.place + g_.src(node).size() / 2);
    const Id xs[] = {c};
    if (shift_ == 0) {
      const Id made = gradients(rules_, derivative_, d, t, xs)[0];
      return made == no_id ? e_.zeros(g_.dtype(node), e_.shape(node)) : made;
    }
    const auto n = index_value(g_, lead_);
    if (!n || *n < 1) fail_derivative(g_, derivative_, "expected a constant number of directions for a custom derivative");
    std::vector<Id> parts;
    const Extents to = e_.shape(edge.from), result = e_.shape(node);
    for (std::int64_t k = 0; k < *n; ++k) {
      const Id at = g_.index(k), single = g_.index(1);
      const Id one = e_.slice_axis(t, 0, at, 1, single);
      const Id along = e_.reshape(one, to);
      const Id made = gradients(rules_, derivative_, d, along, xs)[0];
      Extents row = result;
      row.insert(row.begin(), g_.index(1));
      parts.push_back(made == no_id ? e_.zeros(g_.dtype(node), row) : e_.reshape(made, row));
    }
    return parts.size() == 1 ? parts[0] : e_.b.concat(parts, 0);
  }

  [[noreturn]] void refuse(Id node) {
    if (g_.op(node) == Op::BITCAST || is_int(g_.dtype(node)))
      fail_derivative(g_, derivative_,
                      "expected a derivative, got bits of a float by " + rules_.at(node) + "; write `stop_gradient`");
    fail_derivative(g_, derivative_, "expected an operation with a derivative, got " + rules_.at(node));
  }

  Rules& rules_;
  Emit& e_;
  Graph& g_;
  Id derivative_, lead_;
  std::int64_t shift_;
  bool in_kernel_ = false;
};

class Forward : public Twins {
 public:
  Forward(Rules& rules, Id derivative, Id lead, std::span<const Id> x_and_v)
      : Twins(rules, derivative, {lead}), rule_(rules, derivative, lead), x_and_v_(x_and_v) {}

 protected:
  void begin(Id x) override {
    std::vector<Id> terms;
    if (const auto at = parts_[0].find(x); at != parts_[0].end()) terms.push_back(at->second);
    for (std::size_t i = 0; i < x_and_v_.size(); i += 2)
      if (x_and_v_[i] == x) terms.push_back(x_and_v_[i + 1]);
    const Id total = e_.sum(terms);
    parts_[0][x] = total;
  }
  void visit(Id node, const std::vector<Edge>& edges, bool in_kernel) override {
    const Id made = rule_.of({node, edges, in_kernel}, parts_[0]);
    parts_[0][node] = made;
  }

 private:
  NodeTangent rule_;
  std::span<const Id> x_and_v_;
};

}  // namespace

Id tangent_of_node(Rules& rules, Id derivative, Id lead, const NodeOfPath& at, const std::unordered_map<Id, Id>& tangents) {
  return NodeTangent(rules, derivative, lead).of(at, tangents);
}

Id tangent(Rules& rules, Id derivative, Id y, std::span<const Id> x_and_v) {
  std::vector<Id> xs;
  for (std::size_t i = 0; i < x_and_v.size(); i += 2) xs.push_back(x_and_v[i]);
  const Extents x = rules.e.shape(x_and_v[0]), v = rules.e.shape(x_and_v[1]);
  Forward forward(rules, derivative, v.size() == x.size() ? no_id : v[0], x_and_v);
  forward.run(y, xs);
  return forward.part(0, y);
}

}  // namespace kiln::compiler::autodiff
