#include "compiler/lower/loop_reductions.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/ir/reduce_identity.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/state.h"
#include "compiler/lower/rewrite.h"
#include "compiler/symbolic/bounds.h"

namespace kiln::compiler {
namespace {

// What the loop combines into a carried value. condition: no_id for every iteration.
struct Term {
  ReduceKind kind;
  Op op;
  Id value, condition;
};

std::optional<ReduceKind> kind_of(Op op, DType d) {
  if (op == Op::MIN) return ReduceKind::min;
  if (op == Op::MAX) return ReduceKind::max;
  if (op == Op::ADD && is_int(d)) return ReduceKind::sum;
  if (d == DType::boolean && op == Op::OR) return ReduceKind::any;
  if (d == DType::boolean && op == Op::AND) return ReduceKind::all;
  return std::nullopt;
}

class Loop {
 public:
  Loop(const Graph& g, Bounds& bounds, Id loop)
      : g_(g), bounds_(bounds), parts_(loop_parts(g, loop)), nodes_(g.reachable(parts_.yield)) {
    inside_ = depends_on_range(g, nodes_, parts_.range);
    for (const Id id : nodes_)
      if (inside_.contains(id) && varies(id)) carried_.insert(id);
  }

  // By carried value; nullopt: the loop does something else too.
  std::optional<std::vector<Term>> terms() const {
    if (!is_plain()) return std::nullopt;
    std::vector<Term> out;
    for (std::size_t slot = 0; slot < parts_.yield.size(); ++slot) {
      const auto t = term(parts_.yield[slot], slot);
      if (!t) return std::nullopt;
      out.push_back(*t);
    }
    return out;
  }

 private:
  bool varies(Id id) const {
    if (g_.op(id) == Op::CARRY && g_.range_of(id) == parts_.range) return true;
    return std::ranges::any_of(g_.src(id), [&](Id s) { return carried_.contains(s); });
  }

  bool is_plain() const {
    if (parts_.conditional || parts_.step != 1 || parts_.yield.empty() || !g_.is_index_const(parts_.begin, 0)) return false;
    if (parts_.end != g_.end(parts_.range)) return false;
    const auto is_known = [&](Id id) { return g_.op(id) == Op::SYM || g_.op(id) == Op::CONST || is_elementwise(g_.op(id)); };
    if (!std::ranges::all_of(g_.reachable(parts_.end), is_known)) return false;
    if (bounds_(parts_.end).min < 0) return false;
    if (std::ranges::any_of(parts_.init, [&](Id v) { return is_state(g_, v); })) return false;
    return std::ranges::none_of(inside_, [&](Id id) { return g_.op(id) == Op::FOR || g_.op(id) == Op::REDUCE; });
  }

  bool is_carry(Id id, std::size_t slot) const {
    return g_.op(id) == Op::CARRY && g_.range_of(id) == parts_.range && g_.slot(id) == slot;
  }

  std::optional<Term> term(Id next, std::size_t slot) const {
    if (g_.op(next) == Op::WHERE) {
      const auto [condition, yes, no] = g_.operands<3>(next);
      if (carried_.contains(condition) || !is_carry(no, slot)) return std::nullopt;
      const auto t = combined(yes, slot);
      return t ? std::optional(Term{t->kind, t->op, t->value, condition}) : t;
    }
    return combined(next, slot);
  }

  std::optional<Term> combined(Id next, std::size_t slot) const {
    const auto kind = kind_of(g_.op(next), g_.dtype(next));
    if (!kind) return std::nullopt;
    auto [a, b] = g_.operands<2>(next);
    if (!is_carry(a, slot)) std::swap(a, b);
    if (!is_carry(a, slot) || carried_.contains(b)) return std::nullopt;
    return Term{*kind, g_.op(next), b, no_id};
  }

  const Graph& g_;
  Bounds& bounds_;
  LoopParts parts_;
  std::vector<Id> nodes_;
  std::unordered_set<Id> inside_, carried_;  // carried_: depends on carried values
};

bool has_one_work_item(const Graph& g, Id sink) {
  return std::ranges::all_of(g.src(sink), [&](Id effect) {
    const auto src = g.src(effect);
    return g.op(effect) == Op::END && std::ranges::none_of(src.subspan(1), [&](Id r) { return g.op(r) == Op::RANGE; });
  });
}

}  // namespace

Id loop_reductions(Graph& g, Id sink, const Facts& facts) {
  if (!has_one_work_item(g, sink)) return sink;
  std::unordered_map<Id, std::vector<Term>> found;
  Bounds bounds(g, facts);
  for (const Id loop : g.reachable(sink)) {
    if (g.op(loop) != Op::FOR) continue;
    if (auto terms = Loop(g, bounds, loop).terms()) found.emplace(loop, *std::move(terms));
  }
  if (found.empty()) return sink;
  std::unordered_map<Id, Id> copies;  // by node: its copy
  const auto result = [&](Id get) {
    const Id loop = g.scope(get), range = g.range_of(loop);
    const Term t = found.at(loop)[g.slot(get)];
    const DType d = g.dtype(get);
    const auto copy = [&](Id id) { return copies.contains(id) ? copies.at(id) : id; };
    Id value = copy(t.value);
    if (t.condition != no_id)
      value = g.make(Op::WHERE, d, {copy(t.condition), value, g.constant(d, reduce_identity(t.kind, d))});
    const Id reduced = g.make(Op::REDUCE, d, {value, copy(range)}, {t.kind, ReduceOrder::striped});
    const Id init = copy(loop_parts(g, loop).init[g.slot(get)]);
    return g.make(t.op, d, {init, reduced});
  };
  return rewrite(g, sink, [&](Id id, std::span<const Id> x) {
    Id made = no_id;
    if (g.op(id) == Op::GET && found.contains(g.scope(id))) made = result(id);
    if (made == no_id && !std::ranges::equal(x, g.src(id))) made = g.with_src(id, std::vector<Id>(x.begin(), x.end()));
    if (made != no_id) copies[id] = made;
    return made;
  });
}

}  // namespace kiln::compiler
