#include "compiler/autodiff/twins.h"

#include <algorithm>

#include "compiler/autodiff/transpose.h"
#include "compiler/ir/scopes.h"

namespace kiln::compiler::autodiff {
namespace {

// The most directions for which each write of an element is written out.
constexpr std::int64_t most_directions = 64;

}  // namespace

std::int64_t few_directions(const Rules& rules, Id derivative, Id lead) {
  const auto n = index_value(rules.e.g, lead);
  if (!n || *n < 1 || *n > most_directions)
    fail_derivative(rules.e.g, derivative,
                    "expected a constant number of at most " + std::to_string(most_directions) +
                        " directions through kernels and writes of elements");
  return *n;
}

Id direction_of(Emit& e, Id tangent, std::int64_t n) {
  Extents to = e.shape(tangent);
  to.erase(to.begin());
  const Id at = e.g.index(n), one = e.g.index(1);
  return e.reshape(e.slice_axis(tangent, 0, at, 1, one), to);
}

Id joined_directions(Emit& e, std::span<const Id> tangents) {
  std::vector<Id> rows;
  for (const Id t : tangents) {
    Extents to = e.shape(t);
    to.insert(to.begin(), e.g.index(1));
    rows.push_back(e.reshape(t, to));
  }
  return rows.size() == 1 ? rows[0] : e.b.concat(rows, 0);
}

Twins::Twins(Rules& rules, Id derivative, std::vector<Id> leads)
    : rules_(rules), e_(rules.e), g_(rules.e.g), derivative_(derivative), parts_(leads.size()), leads_(std::move(leads)) {}

Id Twins::part(std::size_t k, Id node) const {
  const auto at = parts_[k].find(copies_.at(node));
  return at == parts_[k].end() ? no_id : at->second;
}

void Twins::run(Id y, std::span<const Id> xs) {
  const Activity activity(rules_, y, xs);
  activity_ = &activity;
  copies_[y] = y;
  const std::unordered_set<Id> is_x(xs.begin(), xs.end());
  if (!activity.between(y)) return;
  for (const Id node : activity.nodes())
    if (g_.op(node) == Op::OLD && activity.between(node)) read_atomics_.insert(g_.operand(node));
  for (const Id node : activity.nodes()) {
    const LocScope of_node(g_, g_.loc(node));
    copies_[node] = copied(node);
    if (!activity.between(node)) continue;
    if (activity.depends(node)) give_parts(node);
    if (is_x.contains(node)) begin(copies_.at(node));
  }
  activity_ = nullptr;
}

// A node of a region that is built again; any other node is its own copy.
Id Twins::copied(Id node) {
  const bool is_scope_here = is_scope(g_.op(node)) && activity_->is_copied(node);
  if (!activity_->is_inside(node) && !is_scope_here) return node;
  std::vector<Id> src = g_.sources(node);
  if (is_scope_here) {
    const Id made = scope(node);
    scopes_[node] = made;
    if (activity_->is_inside(node)) return made;
    rules_.rebuilt.push_back({node, made});
    return node;  // values outside of the region stay as they are
  }
  for (Id& s : src) s = copies_.at(s);
  if (g_.op(node) == Op::RANGE) return rules_.fresh(node, src[0]);
  const Id copy = g_.with_src(node, src);
  if (const auto s = rules_.scatters.find(node); s != rules_.scatters.end()) {
    Scatter moved{copies_.at(s->second.values), {}};
    for (const Id i : s->second.index) {  // positions are in no node of the kernel
      const auto at = copies_.find(i);
      moved.index.push_back(at == copies_.end() ? i : at->second);
    }
    rules_.scatters.emplace(copy, std::move(moved));
  }
  return copy;
}

std::vector<Edge> Twins::copied(std::vector<Edge> edges) const {
  for (Edge& edge : edges) edge.from = copies_.at(edge.from);
  return edges;
}

void Twins::give_parts(Id node) {
  switch (g_.op(node)) {
    case Op::CARRY: return carry(node);
    case Op::GET:
      if (!rules_.scatters.contains(node)) return result(node);
      break;
    case Op::UPDATE: return update(node);
    case Op::ATOMIC: return atomic(node);
    case Op::OLD: return old(node);
    default: break;
  }
  visit(copies_.at(node), copied(activity_->edges(node)), activity_->in_kernel(node));
}

std::int64_t Twins::directions(std::size_t k) const {
  if (leads_[k] == no_id) return 1;
  const auto n = index_value(g_, leads_[k]);
  return n ? *n : -1;
}

bool Twins::has_few_directions(std::size_t k) const { return directions(k) >= 1 && directions(k) <= most_directions; }

Extents Twins::with_lead(std::size_t k, Extents shape) const {
  if (leads_[k] != no_id) shape.insert(shape.begin(), leads_[k]);
  return shape;
}

// The slot of part k of the scope's slot: behind the values, part by part.
void Twins::carry(Id node) {
  const Id owner = activity_->owner(g_.range_of(node)), copy = copies_.at(node);
  if (owner == no_id) refuse(node, "an earlier iteration");
  if (!is_float(g_.dtype(node))) refuse(node, "");
  const std::vector<std::size_t> slots = activity_->slots(owner);
  const std::size_t at = static_cast<std::size_t>(std::ranges::find(slots, g_.slot(node)) - slots.begin());
  const std::size_t n = scope_inits(g_, owner).size();
  const auto [range, init] = g_.operands<2>(copy);
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const Id first = part_or_zero(k, init);
    parts_[k][copy] = e_.b.carry(range, first, n + k * slots.size() + at);
  }
}

void Twins::result(Id node) {
  const Id owner = g_.scope(node), copy = copies_.at(node);
  if (!is_float(g_.dtype(node))) refuse(node, "");
  const std::vector<std::size_t> slots = activity_->slots(owner);
  const std::size_t at = static_cast<std::size_t>(std::ranges::find(slots, g_.slot(node)) - slots.begin());
  const std::size_t n = scope_inits(g_, owner).size();
  for (std::size_t k = 0; k < parts_.size(); ++k) parts_[k][copy] = e_.b.get(scopes_.at(owner), n + k * slots.size() + at);
}

Id Twins::scope(Id node) {
  std::vector<Id> inits, next;
  const std::vector<std::size_t> slots = activity_->slots(node);
  for (std::size_t k = 0; k < parts_.size(); ++k)
    for (const std::size_t slot : slots) {
      const Id init = copies_.at(scope_inits(g_, node)[slot]), last = copies_.at(next_of_slot(g_, node, slot));
      inits.push_back(part_or_zero(k, init));
      next.push_back(part_or_zero(k, last));
    }
  return made_again(node, inits, next);
}

Id Twins::made_again(Id scope, std::span<const Id> more_inits, std::span<const Id> more_next) {
  const auto joined = [&](std::span<const Id> own, std::span<const Id> more) {
    std::vector<Id> out;
    for (const Id id : own) out.push_back(copies_.at(id));
    out.insert(out.end(), more.begin(), more.end());
    return out;
  };
  if (g_.op(scope) == Op::FOR) {
    const LoopParts l = loop_parts(g_, scope);
    const std::vector<Id> init = joined(l.init, more_inits), yield = joined(l.yield, more_next);
    return e_.b.loop(copies_.at(l.range), copies_.at(l.begin), copies_.at(l.end), init, yield, l.step, l.conditional);
  }
  const KernelParts p = kernel_parts(g_, scope);
  const std::vector<Id> ranges = joined(p.ranges, {}), init = joined(p.init, more_inits), final = joined(p.final, more_next);
  return e_.b.kernel(ranges, init, final);
}

Id Twins::part_or_zero(std::size_t k, Id copy) {
  const auto at = parts_[k].find(copy);
  return at == parts_[k].end() ? zero(k, copy) : at->second;
}

// The tangent of a value that does not depend on x. That of a local array is an array.
Id Twins::zero(std::size_t k, Id copy) {
  Id first = copy;
  for (bool more = true; more;) {
    switch (g_.op(first)) {
      case Op::UPDATE:
      case Op::ATOMIC: first = g_.state(first); break;
      case Op::CARRY:
        if (activity_->is_of_kernel_around(g_.range_of(first))) refuse(first, "a tensor that the kernel around it writes");
        first = g_.init(first);
        break;
      case Op::GET:
        more = g_.op(g_.scope(first)) == Op::FOR;
        if (more) first = scope_inits(g_, g_.scope(first))[g_.slot(first)];
        break;
      default: more = false;
    }
  }
  const Extents shape = e_.shape(copy);
  if (g_.op(first) != Op::LOCAL) return e_.zeros(g_.dtype(copy), with_lead(k, shape));
  std::vector<Id>& twins = locals_[first];
  twins.resize(parts_.size(), no_id);
  if (twins[k] == no_id) {
    if (directions(k) < 0) refuse(first, "");
    const auto extents = with_lead(k, shape);
    twins[k] = e_.b.local(g_.dtype(first), g_.range_of(first), extents, rules_.new_local());
  }
  return twins[k];
}

// Writes each direction of a value to an element of a state: write(state, value, index).
Id Twins::written(std::size_t k, Id state, Id value, std::span<const Id> index, const Write& write) {
  std::vector<Id> at(index.begin(), index.end());
  if (leads_[k] == no_id) return write(state, value, at);
  const std::int64_t n = few_directions(rules_, derivative_, leads_[k]);
  at.insert(at.begin(), no_id);
  for (std::int64_t d = 0; d < n; ++d) {
    at[0] = g_.index(d);
    const Id one = direction_of(e_, value, d);
    state = write(state, one, at);
  }
  return state;
}

void Twins::update(Id node) {
  const Id copy = copies_.at(node);
  if (!is_float(g_.dtype(node))) refuse(node, "");
  const WriteParts w = write_parts(g_, copy);
  const std::vector<Id> index(w.index.begin(), w.index.end());
  const Id gate = w.gate;
  const bool unique = is_unique(g_, copy);
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const Id state = part_or_zero(k, w.state), value = part_or_zero(k, w.value);
    parts_[k][copy] = has_few_directions(k) || activity_->in_kernel(node)
                          ? written(k, state, value, index,
                                    [&](Id s, Id v, const std::vector<Id>& at) { return e_.b.update(s, gate, v, at, unique); })
                          : chosen(copy, state, value);
  }
}

// An UPDATE as a select over the whole tensor, for any number of directions.
Id Twins::chosen(Id update, Id state, Id value) {
  const WriteParts w = write_parts(g_, update);
  const std::vector<Id> index(w.index.begin(), w.index.end());
  Extents to(index.size() + 1, g_.index(1));
  to[0] = e_.shape(value)[0];
  const Id here = is_at(e_, update, index, w.gate);
  return e_.where(here, e_.reshape(value, to), state);
}

void Twins::refuse(Id node, const std::string& why) const {
  if (is_int(g_.dtype(node)))
    fail_derivative(g_, derivative_,
                    "expected a derivative, got bits of a float by " + rules_.at(node) + "; write `stop_gradient`");
  fail_derivative(g_, derivative_,
                  "expected a derivative within one iteration, got " + rules_.at(node) + (why.empty() ? "" : " of " + why));
}

}  // namespace kiln::compiler::autodiff
