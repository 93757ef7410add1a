#include "compiler/autodiff/differentiate.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "compiler/autodiff/explain.h"
#include "compiler/autodiff/forward.h"
#include "compiler/autodiff/laplacian.h"
#include "compiler/autodiff/reverse.h"
#include "compiler/autodiff/written_values.h"
#include "compiler/ir/kernel_body.h"
#include "compiler/ir/open_ranges.h"
#include "compiler/ir/scopes.h"

namespace kiln::compiler {
namespace {

using namespace autodiff;

class Differentiation {
 public:
  Differentiation(Graph& g, Program& p, std::vector<Id> order)
      : g_(g), p_(p), order_(std::move(order)), rules_(g, p.sink), e_(rules_.e) {}

  void run() {
    const std::unordered_set<Id> origins = this->origins();
    for (const Id id : order_) {
      if (g_.op(id) == Op::GRADIENT) together_[{g_.src(id, 0), g_.src(id, 1)}].push_back(id);
      if (g_.op(id) != Op::FOR) continue;
      loops_[g_.range_number(g_.range_of(id))] = id;
      has_workgroups_ = has_workgroups_ || g_.range_kind(g_.range_of(id)) == RangeKind::workgroup;
    }
    for (const Id id : order_) {
      const LocScope of_node(g_, g_.loc(id));
      new_[id] = rewritten(id);
      if (origins.contains(id)) e_.origins.insert(new_[id] = own_value(rules_, new_.at(id)));
    }
    p_.sink = plain(new_.at(p_.sink));
  }

 private:
  static bool is_derivative(Op op) { return op == Op::GRADIENT || op == Op::TANGENT || op == Op::LAPLACIAN; }

  // The values that derivatives of derivatives are by. inner_ becomes the nodes of all values that have a derivative.
  std::unordered_set<Id> origins() {
    std::unordered_set<Id> derived, out;
    for (const Id id : order_) {
      const auto src = g_.src(id);
      const Op op = g_.op(id);
      if (is_derivative(op) && derived.contains(src[0])) {
        if (op == Op::GRADIENT) out.insert(src[2]);
        for (std::size_t i = 1; op != Op::GRADIENT && i < src.size(); i += 2) out.insert(src[i]);
      }
      if (is_derivative(op) || std::ranges::any_of(src, [&](Id s) { return derived.contains(s); })) derived.insert(id);
    }
    for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
      if (is_derivative(g_.op(*id))) inner_.insert(g_.src(*id, 0));
      if (inner_.contains(*id)) inner_.insert(g_.src(*id).begin(), g_.src(*id).end());
    }
    return out;
  }

  Id rewritten(Id id) {
    if (is_derivative(g_.op(id))) rules_.is_inner = inner_.contains(id);
    switch (g_.op(id)) {
      case Op::GRADIENT: return gradient(id);
      case Op::TANGENT: return tangent(id);
      case Op::LAPLACIAN: return laplacian(id);
      default: return g_.with_src(id, sources(id));
    }
  }

  std::vector<Id> sources(Id id) const {
    std::vector<Id> src = g_.sources(id);
    for (Id& s : src) s = new_.at(s);
    return src;
  }

  // One backward pass makes all gradients of the value whose x the walk has rewritten already. An x that the walk reaches later
  // is no source of the value.
  Id gradient(Id id) {
    if (const auto made = made_.find(id); made != made_.end()) return made->second;
    const Id y = new_.at(g_.src(id, 0)), cotangent = new_.at(g_.src(id, 1));
    std::vector<Id> nodes, xs;
    for (const Id other : together_.at({g_.src(id, 0), g_.src(id, 1)}))
      if (new_.contains(g_.src(other, 2)) && !made_.contains(other)) {
        nodes.push_back(other);
        xs.push_back(new_.at(g_.src(other, 2)));
        refuse_literal(other, g_.src(other, 2));
        refuse_shared(other, g_.src(other, 2));
        refuse_carried(other, y, g_.src(other, 2));
      }
    const std::size_t before = g_.size();
    xs.insert(xs.begin(), y);
    with_written_values(rules_, xs, true);
    const Id by_values = xs[0];
    xs.erase(xs.begin());
    std::vector<Id> results = gradients(rules_, id, by_values, cotangent, xs);
    for (std::size_t i = 0; i < results.size(); ++i)
      if (results[i] == no_id) results[i] = by_part(id, by_values, cotangent, xs[i]);
    std::vector<Id> found = results;
    std::erase(found, no_id);
    explain(rules_, id, found, before);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const LocScope of_node(g_, g_.loc(nodes[i]));
      made_[nodes[i]] = results[i] == no_id ? nothing(nodes[i], xs[i]) : results[i];
    }
    return made_.at(id);
  }

  // The gradient by an element or a part of a tensor on which y depends as a whole: that part of the gradient by the tensor.
  Id by_part(Id derivative, Id y, Id cotangent, Id x) {
    std::vector<Id> parts;
    for (Id t = x; is_part(t, y);) {
      parts.push_back(t);
      t = g_.src(t, whole_of(t));
      Id made = gradients(rules_, derivative, y, cotangent, std::span(&t, 1))[0];
      if (made == no_id) continue;
      for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        std::vector<Id> src = g_.sources(*part);
        src[whole_of(*part)] = made;
        made = g_.with_src(*part, src);
      }
      return made;
    }
    return no_id;
  }
  // The tangent along a direction of such a part: the tensor moves in the part alone.
  Id along_part(Id derivative, Id y, Id x, Id v) {
    for (Id t = x; is_part(t, y);) {
      t = g_.src(t, whole_of(t));
      const Id direction = gradients(rules_, derivative, x, v, std::span(&t, 1))[0];
      const Id x_and_v[] = {t, direction};
      if (const Id made = autodiff::tangent(rules_, derivative, y, x_and_v); made != no_id) return made;
    }
    return no_id;
  }
  bool is_part(Id x, Id y) const {
    const Op op = g_.op(x);
    if (op == Op::INDEX || is_guarded_element(x)) return !is_in_kernel(y);
    return op == Op::GATHER || op == Op::SLICE || op == Op::RESHAPE || op == Op::PERMUTE;
  }
  // An element of a tensor that may be empty is 0 if it is: the condition has extents only.
  bool is_guarded_element(Id x) const {
    if (g_.op(x) != Op::WHERE || g_.op(g_.src(x, 1)) != Op::INDEX || e_.constant_of(g_.src(x, 2)) != 0.0) return false;
    const Id condition[] = {g_.src(x, 0)};
    return std::ranges::all_of(g_.reachable(condition), [&](Id id) {
      return g_.dtype(id) == DType::boolean ? is_elementwise(g_.op(id)) || g_.is_const(id) : g_.dtype(id) == DType::index;
    });
  }
  // Which source of the part is the tensor, or a larger part of it.
  std::size_t whole_of(Id part) const { return g_.op(part) == Op::WHERE ? 1 : 0; }
  bool is_in_kernel(Id y) const {
    OpenRanges open(g_);
    for (const Id id : g_.reachable(y)) open.visit(id);
    return std::ranges::any_of(open.of(y), [&](Id range) { return rules_.is_in_kernel(range); });
  }

  Id tangent(Id id) {
    std::vector<Id> src = sources(id);
    for (std::size_t i = 1; i < src.size(); i += 2) {
      refuse_literal(id, g_.src(id, i));
      refuse_shared(id, g_.src(id, i));
      refuse_carried(id, src[0], g_.src(id, i));
    }
    const std::size_t before = g_.size();
    std::vector<Id> values{src[0]};
    for (std::size_t i = 1; i < src.size(); i += 2) values.push_back(src[i]);
    with_written_values(rules_, values, false);
    const Id y = values[0];
    for (std::size_t i = 1; i < values.size(); ++i) src[2 * i - 1] = values[i];
    Id made = autodiff::tangent(rules_, id, y, std::span(src).subspan(1));
    if (made == no_id && src.size() == 3) {
      const std::size_t rank = e_.rank(src[1]);
      if (rank == e_.rank(src[2])) made = along_part(id, y, src[1], src[2]);
    }
    if (made != no_id) return explained(id, made, before);
    Extents to = e_.shape(src[0]);
    if (const Extents x = e_.shape(src[1]), v = e_.shape(src[2]); v.size() > x.size()) to.insert(to.begin(), v[0]);
    return nothing(id, e_.zeros(g_.dtype(src[0]), to));
  }

  Id laplacian(Id id) {
    const std::vector<Id> src = sources(id);
    refuse_carried(id, src[0], g_.src(id, 1));
    const std::size_t before = g_.size();
    const Id made = autodiff::laplacian(rules_, id, src[0], src[1]);
    return made == no_id ? nothing(id, src[0]) : explained(id, made, before);
  }
  Id explained(Id derivative, Id made, std::size_t before) {
    explain(rules_, derivative, std::span(&made, 1), before);
    return with_copies(made);
  }

  // Forward mode has built some scopes again. The new scopes compute the old results too, so they take the place of the old
  // ones, except where a tangent depends on an old result, or on a loop that is not around the old scope.
  Id with_copies(Id result) {
    for (std::size_t i = 0; i < rules_.rebuilt.size(); ++i) {
      const auto [old, made] = rules_.rebuilt[i];
      const std::vector<Id> below = g_.reachable(made);
      if (std::ranges::binary_search(below, old)) continue;
      OpenRanges open(g_);
      for (const Id id : below) open.visit(id);
      const std::vector<Id> around = open.of(made);
      for (const Id id : g_.reachable(old))
        if (!std::ranges::binary_search(below, id)) open.visit(id);
      if (open.of(old) == around) replace(old, made, result, i + 1);
    }
    rules_.rebuilt.clear();
    return result;
  }

  // Puts `made`, which does not depend on `old`, in its place in all values.
  void replace(Id old, Id made, Id& result, std::size_t first_copy) {
    std::vector<Id> roots{result};
    for (const auto& [id, value] : new_) roots.push_back(value);
    for (const auto& [id, value] : made_) roots.push_back(value);
    for (std::size_t i = first_copy; i < rules_.rebuilt.size(); ++i)
      roots.insert(roots.end(), {rules_.rebuilt[i].first, rules_.rebuilt[i].second});
    std::unordered_map<Id, Id> now{{old, made}};
    const auto moved = [&](Id& id) {
      const auto at = now.find(id);
      if (at == now.end()) return false;
      id = at->second;
      return true;
    };
    for (const Id id : g_.reachable(roots)) {
      if (id == old) continue;
      std::vector<Id> src = g_.sources(id);
      bool changes = false;
      for (Id& s : src) changes = moved(s) || changes;
      if (!changes) continue;
      const LocScope of_node(g_, g_.loc(id));
      now[id] = g_.with_src(id, src);
      if (const auto s = rules_.scatters.find(id); s != rules_.scatters.end()) {
        Scatter scatter = s->second;
        moved(scatter.values);
        for (Id& i : scatter.index) moved(i);
        rules_.scatters.emplace(now[id], std::move(scatter));
      }
    }
    moved(result);
    for (auto& [id, value] : new_) {
      const bool is_origin = e_.origins.contains(value);
      if (moved(value) && is_origin) e_.origins.insert(value);
    }
    for (auto& [id, value] : made_) moved(value);
    for (std::size_t i = first_copy; i < rules_.rebuilt.size(); ++i)
      moved(rules_.rebuilt[i].first), moved(rules_.rebuilt[i].second);
  }

  // The derivative of a value that does not depend on x. like: has its type and shape.
  Id nothing(Id derivative, Id like) {
    if (!g_.args(derivative).empty()) return e_.zeros(g_.dtype(like), e_.shape(like));
    const Id y = g_.src(derivative, 0), x = g_.src(derivative, g_.op(derivative) == Op::GRADIENT ? 2 : 1);
    fail_derivative(g_, derivative,
                    "expected " + rules_.at(y) + " to depend on " + rules_.at(x) +
                        ", got no path of differentiable operations between them; `unused_is_zero` makes the derivative 0");
  }

  // Equal constants are one value, so x would stand for constants that the user does not see, in library functions for example.
  void refuse_literal(Id derivative, Id x) {
    if (e_.constant_of(x))
      fail_derivative(g_, derivative,
                      "expected a value of its own, got " + rules_.at(x) +
                          ", which is every constant with this value; write `independent`");
  }

  // Between two barriers, values of before are read from memory that the work items share, so a path from x through them would
  // be lost.
  void refuse_shared(Id derivative, Id x) {
    if (!has_workgroups_) return;
    std::vector<Id> nodes{g_.src(derivative, 0)};
    std::unordered_set<Id> seen(nodes.begin(), nodes.end());
    for (std::size_t at = 0; at < nodes.size(); ++at) {
      const Id node = nodes[at];
      if (node == x) continue;
      if (g_.op(node) == Op::INDEX && is_local(g_.src(node, 0)))
        fail_derivative(g_, derivative,
                        "expected no barrier between the value and the x of its derivative, got " + rules_.at(node) +
                            " of memory of the workgroup; write `stop_gradient` around it, or give a custom derivative");
      if (g_.op(node) == Op::KERNEL) continue;  // forward mode: its memory has twins
      for (const Edge& edge : rules_.edges(node))
        if (seen.insert(edge.from).second) nodes.push_back(edge.from);
    }
  }
  bool is_local(Id state) const {
    for (;;) {
      switch (g_.op(state)) {
        case Op::UPDATE:
        case Op::ATOMIC: state = g_.src(state, 0); break;
        case Op::CARRY: state = g_.src(state, 1); break;
        case Op::GET: state = scope_inits(g_, g_.src(state, 0))[g_.slot(state)]; break;
        default: return g_.op(state) == Op::LOCAL;
      }
    }
  }

  // A value of a loop may depend on x of outside through earlier iterations, which are no sources of the value.
  void refuse_carried(Id derivative, Id y, Id x) {
    if (loops_.empty()) return;
    std::unordered_set<Id> from_x;
    const std::vector<Id> sources = g_.reachable(y);
    std::unordered_set<std::int64_t> ended;  // loops whose results y uses
    for (const Id id : sources)
      if (g_.op(id) == Op::FOR) ended.insert(g_.range_number(g_.range_of(id)));
    for (const Id id : on_paths_to(y)) {
      if (g_.op(id) != Op::CARRY || ended.contains(g_.range_number(g_.range_of(id)))) continue;
      const auto loop = loops_.find(g_.range_number(g_.range_of(id)));
      if (loop == loops_.end()) continue;
      if (from_x.empty()) from_x = users(x);
      if (from_x.contains(g_.range_of(loop->second)) || depends(x, g_.range_of(loop->second))) continue;
      const LoopParts parts = loop_parts(g_, loop->second);
      if (reaches(parts, from_x, g_.slot(id)))
        fail_derivative(g_, derivative,
                        "expected an x that is computed in each iteration of the " + rules_.at(loop->second) + ", got " +
                            rules_.at(x) +
                            ", on which earlier iterations depend: take the derivative after the loop, or "
                            "write `stop_gradient` around what they made");
    }
  }
  // Whether the slot of a loop depends, perhaps through other slots, on a value in the set. Only floats carry a derivative.
  bool reaches(const LoopParts& parts, const std::unordered_set<Id>& from_x, std::size_t slot) const {
    std::vector<std::size_t> slots{slot};
    for (std::size_t at = 0; at < slots.size(); ++at) {
      const Id next = parts.yield[slots[at]];
      if (!is_float(g_.dtype(next))) continue;
      if (from_x.contains(next)) return true;
      for (const Id id : on_paths_to(next)) {
        if (g_.op(id) != Op::CARRY || g_.range_of(id) != parts.range) continue;
        if (std::ranges::find(slots, g_.slot(id)) == slots.end()) slots.push_back(g_.slot(id));
      }
    }
    return false;
  }
  // y, and what carries a derivative to it.
  std::vector<Id> on_paths_to(Id y) const {
    std::vector<Id> out{y};
    std::unordered_set<Id> seen{y};
    for (std::size_t at = 0; at < out.size(); ++at)
      for (const Edge& edge : rules_.edges(out[at]))
        if (seen.insert(edge.from).second) out.push_back(edge.from);
    return out;
  }
  bool depends(Id node, Id on) const { return std::ranges::binary_search(g_.reachable(node), on); }
  std::unordered_set<Id> users(Id x) const {
    std::unordered_set<Id> out{x};
    for (const Id id : order_)
      if (std::ranges::any_of(rules_.edges(id), [&](const Edge& e) { return out.contains(e.from); })) out.insert(id);
    return out;
  }

  // The graph without marks and custom rules.
  Id plain(Id sink) {
    const std::vector<Id> order = g_.reachable(sink);
    const std::vector<bool> inside = inside_regions(g_, order);
    std::unordered_map<Id, Id> out;
    for (const Id id : order) {
      const LocScope of_node(g_, g_.loc(id));
      std::vector<Id> src = g_.sources(id);
      for (Id& s : src) s = out.at(s);
      switch (g_.op(id)) {
        case Op::MARK: {
          const bool again = g_.mark_kind(id) == MarkKind::again && !inside[id];
          out[id] = again ? e_.b.stage(src[0]) : src[0];
          break;
        }
        case Op::STRAIGHT:
        case Op::CUSTOM: out[id] = src[0]; break;
        default: out[id] = g_.with_src(id, src);
      }
    }
    for (const Id id : g_.reachable(out.at(sink)))
      if (g_.op(id) == Op::COTANGENT)
        fail_derivative(g_, id, "expected a cotangent only in the derivatives of its custom rule, got one outside");
    return out.at(sink);
  }

  Graph& g_;
  Program& p_;
  std::vector<Id> order_;
  std::unordered_set<Id> inner_;
  Rules rules_;
  Emit& e_;
  std::map<std::pair<Id, Id>, std::vector<Id>> together_;  // GRADIENTs by value and cotangent
  std::unordered_map<std::int64_t, Id> loops_;             // FORs by the number of their RANGE
  bool has_workgroups_ = false;
  std::unordered_map<Id, Id> new_, made_;
};

}  // namespace

void differentiate(Graph& g, Program& p) {
  std::vector<Id> order = g.reachable(p.sink);
  if (std::ranges::none_of(order, [&](Id id) { return is_derivative(g.op(id)); })) return;
  const LocScope restored(g);
  Differentiation(g, p, std::move(order)).run();
}

}  // namespace kiln::compiler
