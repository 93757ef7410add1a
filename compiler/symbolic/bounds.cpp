#include "compiler/symbolic/bounds.h"

#include <array>

#include "compiler/index/floor_div.h"
#include "compiler/symbolic/linear.h"

namespace kiln::compiler {

using namespace symbolic;

namespace {

bool is_condition(DType d) { return d == DType::boolean; }
// Whether bounds are derived for the node. Values of other types, such as loads, have the interval of their dtype.
bool is_inner(const Graph& g, Id id) { return g.dtype(id) == DType::index || is_condition(g.dtype(id)); }

// The bounds of a gated index. They never contain a single number, because then a constant would replace the index and the gate
// would be lost. The bounds of quotients and remainders of the index become wider too.
Known gated(const Known& k) {
  if (!k.interval.single() || k.interval.max >= unbounded) return k;
  return known_interval({k.interval.min, k.interval.max + 1});
}

}  // namespace

Bounds::Bounds(const Graph& g, const Facts& facts) : graph_(g), facts_(facts) {
  for (Id id : facts.nonnegative) {
    auto s = sum_of(g, id);
    if (!s || s->empty() || s->front().atoms.empty()) continue;
    give(*s);
    relations_.push_back(*std::move(s));
  }
}

// Records a fact of the form k*a + c >= 0 as an interval of a.
void Bounds::give(const Poly& s) {
  if (s.size() > 2 || s.front().atoms.size() != 1 || (s.size() == 2 && !s.back().atoms.empty())) return;
  const std::int64_t k = s.front().coefficient, c = constant_term(s);
  if (k < -unbounded || c < -unbounded || c > unbounded) return;
  const Id a = s.front().atoms[0];
  const Interval* before = given_.find(a);
  Interval i = before != nullptr ? *before : anything;
  if (k > 0)
    i.min = std::max(i.min, -floor_div(c, k));
  else
    i.max = std::min(i.max, floor_div(c, -k));
  given_.set(a, i);
}

Known Bounds::leaf(Id id) const {
  const DType d = graph_.dtype(id);
  switch (graph_.op(id)) {
    case Op::CONST:
      if (d == DType::index) return known_constant(graph_.value(id));
      if (!is_condition(d)) return known_dtype(d);
      return known_condition({graph_.value(id), graph_.value(id)});
    case Op::SYM: {
      if (d != DType::index) return known_dtype(d);
      const SymFact f = facts_.of(graph_.name(id));
      const Interval i{std::max(f.min, -unbounded), std::min(std::max(f.min, f.max), unbounded)};
      const Known k = narrowed({i, f.multiple_of > 1 ? Congruence{f.multiple_of, 0} : no_residue});
      return k.empty() ? known_interval(i) : k;
    }
    case Op::RANGE: {
      const std::int64_t end = memo_.at(graph_.end(id)).interval.max;
      return known_interval({0, end == unbounded ? unbounded : std::max<std::int64_t>(0, end - 1)});
    }
    case Op::BROADCAST:
    case Op::LANE:
      if (is_inner(graph_, id)) return memo_.at(graph_.operand(id));
      return known_dtype(d);
    case Op::RAMP: {
      if (d != DType::index) return known_dtype(d);
      const Interval base = memo_.at(graph_.operand(id)).interval, step{graph_.stride(id), graph_.stride(id)};
      return known_interval(unite(base, add(base, mul(step, {0, graph_.lanes(id) - 1}))));
    }
    case Op::CAST: return d == DType::index ? known_dtype(graph_.dtype(graph_.operand(id))) : known_dtype(d);
    default: return known_dtype(d);
  }
}

Known Bounds::derive(Id id) const {
  const Op op = graph_.op(id);
  const auto src = graph_.src(id);
  if (!is_inner(graph_, id) || !is_elementwise(op) || op == Op::CAST || src.size() > 3) return leaf(id);
  std::array<Known, 3> known;
  for (std::size_t i = 0; i < src.size(); ++i) {
    if (!is_inner(graph_, src[i])) return leaf(id);  // a comparison of values of another type
    known[i] = memo_.at(src[i]);
  }
  if ((op == Op::EQ || op == Op::NE) && src[0] == src[1]) {
    const std::int64_t v = op == Op::EQ ? 1 : 0;
    return known_condition({v, v});
  }
  if (op == Op::WHERE && graph_.op(src[2]) == Op::INVALID) return gated(known[1]);
  if (op == Op::WHERE && graph_.op(src[1]) == Op::INVALID) return gated(known[2]);
  return known_result(op, is_condition(graph_.dtype(id)), std::span(known.data(), src.size()));
}

// Derives and stores the bounds of a node whose sources have entries.
const Known& Bounds::settle(Id id) {
  if (graph_.op(id) == Op::RANGE && graph_.op(graph_.end(id)) != Op::CONST) symbolic_loops_ = true;
  const Known k = derive(id);
  const Interval* i = given_.find(id);
  const Known both = i != nullptr ? intersected(k, *i) : k;
  return memo_.set(id, both.empty() ? k : both);  // contradictory facts are ignored
}

Known Bounds::derived(Id root) {
  stack_.assign(1, root);
  while (!stack_.empty()) {
    const Id id = stack_.back();
    const std::size_t before = stack_.size();
    if (is_inner(graph_, id))
      for (Id s : graph_.src(id))
        if (!memo_.contains(s)) stack_.push_back(s);
    if (stack_.size() != before) continue;
    if (!memo_.contains(id)) settle(id);
    stack_.pop_back();
  }
  return memo_.at(root);
}

}  // namespace kiln::compiler
