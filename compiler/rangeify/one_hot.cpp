#include "compiler/rangeify/one_hot.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/rangeify/index_expr.h"

namespace kiln::compiler {
namespace {

class Picking {
 public:
  Picking(Graph& g, Simplifier& simplify, OneRange& range, Id assumed)
      : g_(g), simplify_(simplify), range_(range), assumed_(assumed) {}

  std::optional<OneHot> run(std::span<const Clause> when, std::optional<Id> value) {
    std::vector<Clause> clauses = range_.opened(when);
    std::optional<IndexInterval> place;
    for (std::size_t i = 0; i < clauses.size() && !place; ++i) {
      const auto r = range_.region(clauses[i]);
      if (!r || !r->point) continue;
      place = r;
      clauses.erase(clauses.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (!place) return std::nullopt;
    const Id i = simplify_(place->begin);
    inside_ = simplify_(within(i));
    if (place->when != no_id) inside_ = both(g_, simplify_(place->when), inside_);
    inside_ = both(g_, assumed_, inside_);
    at_ = range_.uncut(i);
    Id gate = inside_;
    for (const Clause& c : clauses) {
      const Id condition = range_.as_condition(c);
      if (!closed(condition)) return std::nullopt;
      gate = both(g_, gate, simplify_(now_.contains(condition) ? now_.at(condition) : condition));
    }
    if (!value) return OneHot{gate};
    if (!closed(*value)) return std::nullopt;
    return OneHot{gate, now_.contains(*value) ? now_.at(*value) : *value};
  }

 private:
  Id within(Id i) {
    const Id below = index_less(g_, i, range_.extent());
    return both(g_, index_less_equal(g_, g_.index(0), i), below);
  }

  // Rebuilds the nodes that depend on the range, with the iteration in place of the range. False: one of them is a reduction,
  // or there are too many.
  bool closed(Id root) {
    std::vector<Id> todo{root}, found;
    while (!todo.empty()) {
      const Id id = todo.back();
      todo.pop_back();
      if (now_.contains(id) || !range_.depends(id) || std::ranges::find(found, id) != found.end()) continue;
      if (g_.op(id) == Op::REDUCE || found.size() > most_nodes) return false;
      found.push_back(id);
      todo.insert(todo.end(), g_.src(id).begin(), g_.src(id).end());
    }
    std::ranges::sort(found);
    for (const Id id : found) now_[id] = id == range_.range() ? at_ : rebuilt(id);
    return true;
  }

  Id rebuilt(Id id) {
    std::vector<Id> src = g_.sources(id);
    for (Id& s : src)
      if (const auto it = now_.find(s); it != now_.end()) s = g_.dtype(s) == DType::index ? simplify_(it->second) : it->second;
    if (g_.op(id) == Op::INDEX) src[1] = gated(src[1]);
    return g_.with_src(id, src);
  }

  bool is_true(Id gate) const { return g_.is_const(gate) && g_.value(gate) != 0; }

  Id gated(Id index) {
    Id gate = inside_;
    if (g_.op(index) == Op::WHERE) {
      const auto [condition, inside, otherwise] = g_.operands<3>(index);
      if (g_.op(otherwise) == Op::INVALID) {
        gate = both(g_, gate, condition);
        index = inside;
      }
    }
    if (is_true(gate)) return index;
    return g_.make(Op::WHERE, DType::index, {gate, index, g_.make(Op::INVALID, DType::index, {})});
  }

  static constexpr std::size_t most_nodes = 1000;
  Graph& g_;
  Simplifier& simplify_;
  OneRange& range_;
  Id assumed_;
  Id at_ = no_id, inside_ = no_id;
  std::unordered_map<Id, Id> now_;
};

}  // namespace

std::optional<OneHot> one_hot(Graph& g, Simplifier& simplify, OneRange& range, std::span<const Clause> when,
                              std::optional<Id> value, Id assumed) {
  return Picking(g, simplify, range, assumed).run(when, value);
}

}  // namespace kiln::compiler
