#include "compiler/symbolic/samples.h"

#include <numeric>

#include "compiler/index/floor_div.h"
#include "compiler/ir/index_operation.h"

namespace kiln::compiler::symbolic {
namespace {

using Values = Samples::Values;

constexpr std::int64_t most = unbounded / 2;
constexpr unsigned all_points = (1u << Samples::points) - 1;

// The values f(i) at the points in `known`, if f has one within 2^61. f is called at all points; missing operands are 0.
template <class F>
Values each(unsigned known, F f) {
  Values r;
  for (std::size_t i = 0; i < Samples::points; ++i) {
    const std::optional<std::int64_t> v = f(i);
    const bool keep = (known >> i & 1) != 0 && v && *v <= most && *v >= -most;
    r.value[i] = keep ? *v : 0;
    r.known |= unsigned{keep} << i;
  }
  return r;
}

Values of_two(Op op, const Values& a, const Values& b) {
  return with_index_operation(
      op, [&](auto f) { return each(a.known & b.known, [&](std::size_t i) { return f(a.value[i], b.value[i]); }); });
}

Values choice(const Values& c, const Values& a, const Values& b) {
  Values r;
  for (std::size_t i = 0; i < Samples::points; ++i) {
    if ((c.known >> i & 1) == 0) continue;
    const Values& from = c.value[i] != 0 ? a : b;
    r.value[i] = from.value[i];
    r.known |= from.known & (1u << i);
  }
  return r;
}

// One of n choices, by the number of the way: the lowest, the highest, either of these, or any. From way 2 on the choice
// depends on the node's hash.
std::int64_t chosen(std::uint64_t hash, unsigned way, std::int64_t n) {
  if (way < 2) return way == 0 ? 0 : n - 1;
  hash = (hash ^ (way / 8)) * 0x9e3779b97f4a7c15u >> 7 * (way % 8);
  if (way % 8 < 6) return (hash & 1) == 0 ? 0 : n - 1;
  return static_cast<std::int64_t>(hash % static_cast<std::uint64_t>(n));
}

bool is_inner(const Graph& g, Id id) {
  return g.lanes(id) == 1 && (g.dtype(id) == DType::index || g.dtype(id) == DType::boolean);
}

}  // namespace

Values Samples::constant(std::int64_t v) {
  Values r;
  if (v > most || v < -most) return r;
  r.value.fill(v);
  r.known = all_points;
  return r;
}

Values Samples::computed(Op op, const Values& a, const Values& b, const Values& c) {
  if (op == Op::WHERE) return choice(a, b, c);
  return of_two(op, a, is_binary(op) ? b : a);
}

// Small values of a symbol, both ends included. Different symbols get different values.
Values Samples::symbol(Id id) const {
  const SymFact f = facts_.of(graph_.name(id));
  const std::int64_t step = std::max<std::int64_t>(1, f.multiple_of);
  if (f.min <= -unbounded || f.max >= unbounded || step > most) return {};
  const std::int64_t first = ceil_div(f.min, step), last = floor_div(f.max, step);  // in steps
  if (first > last) return {};
  return each(all_points, [&](std::size_t point) {
    const std::int64_t n = std::min<std::int64_t>(last - first, ways_[point] % 8 == 7 ? 1000 : 12) + 1;
    return (first + chosen(graph_[id].hash, ways_[point], n)) * step;
  });
}

Values Samples::range(Id id) const {
  const Values& end = memo_.at(graph_.end(id));
  unsigned iterates = end.known;
  for (std::size_t i = 0; i < points; ++i)
    if (end.value[i] < 1) iterates &= ~(1u << i);
  return each(iterates, [&](std::size_t point) {
    return chosen(graph_[id].hash, ways_[point], std::max<std::int64_t>(1, end.value[point]));
  });
}

Values Samples::derive(Id id) const {
  const Op op = graph_.op(id);
  const auto src = graph_.src(id);
  if (op == Op::CONST) return constant(graph_.value(id));
  if (op == Op::SYM) return graph_.dtype(id) == DType::index ? symbol(id) : Values{};
  if (op == Op::RANGE) return range(id);
  if (!is_elementwise(op) || op == Op::CAST || op == Op::FMA || src.empty()) return {};
  const auto source = [&](std::size_t s) -> const Values& { return memo_.at(src[std::min(s, src.size() - 1)]); };
  return computed(op, source(0), source(1), source(2));
}

const Values& Samples::at(Id root) {
  if (!chosen_) choose_points();
  if (const Values* v = memo_.find(root)) return *v;
  stack_.assign(1, root);
  while (!stack_.empty()) {
    const Id id = stack_.back();
    const std::size_t before = stack_.size();
    if (!memo_.contains(id)) {
      const bool inner = is_inner(graph_, id);
      if (inner)
        for (Id s : graph_.src(id))
          if (!memo_.contains(s)) stack_.push_back(s);
      if (stack_.size() != before) continue;
      memo_.set(id, inner ? derive(id) : Values{});
    }
    stack_.pop_back();
  }
  return memo_.at(root);
}

unsigned Samples::around(Id id) {
  if (id == asked_) return answer_;
  asked_ = id;
  if (graph_.op(id) == Op::WHERE || !is_inner(graph_, id)) {  // a value in one branch is enough
    answer_ = at(id).known & allowed_;
  } else {
    if (!chosen_) choose_points();
    answer_ = allowed_;
    for (Id s : graph_.src(id)) answer_ &= at(s).known;
  }
  return answer_;
}

// From facts f >= 0 and -f >= 0, solves f == 0 for a symbol.
void Samples::solve(const Poly& f, const Poly& g) {
  const auto back = scaled(g, -1);
  if (!back || *back != f) return;
  const auto is_symbol = [&](Id a) { return graph_.op(a) == Op::SYM; };
  for (const Monomial& t : f)
    if (!std::ranges::all_of(t.atoms, is_symbol)) return;
  for (const Monomial& t : f) {
    if (t.atoms.size() != 1 || (t.coefficient != 1 && t.coefficient != -1)) continue;
    const auto uses = [&](const Monomial& u) { return std::ranges::find(u.atoms, t.atoms[0]) != u.atoms.end(); };
    auto rest = plus(graph_, f, Poly{t}, -1);
    if (!rest || std::ranges::any_of(*rest, uses)) continue;
    if (auto value = scaled(*std::move(rest), -t.coefficient)) solved_.emplace_back(t.atoms[0], *std::move(value));
    return;
  }
}

// The points where the facts hold, for the current `ways_`.
unsigned Samples::facts_hold() {
  memo_ = {};
  for (const auto& [id, value] : solved_) {
    const SymFact f = facts_.of(graph_.name(id));
    Values v = of(value);
    for (std::size_t i = 0; i < points; ++i)
      if (v.value[i] < f.min || v.value[i] > f.max || floor_mod(v.value[i], f.multiple_of) != 0) v.known &= ~(1u << i);
    memo_.set(id, v);
  }
  unsigned holds = all_points;
  for (const Poly& fact : relations_) {
    const Values v = of(fact);
    for (std::size_t i = 0; i < points; ++i)
      if ((v.known >> i & 1) == 0 || v.value[i] < 0) holds &= ~(1u << i);
  }
  return holds;
}

// Chooses the first few ways for which the facts hold.
void Samples::choose_points() {
  constexpr unsigned most_tries = 8, enough = 4;
  chosen_ = true;
  std::iota(ways_.begin(), ways_.end(), 0u);
  allowed_ = all_points;
  if (relations_.empty()) return;
  for (std::size_t i = 1; i < relations_.size(); ++i) solve(relations_[i - 1], relations_[i]);
  std::array<unsigned, points> ways{};
  std::size_t found = 0;
  for (unsigned tries = 0; tries < most_tries && found < enough; ++tries) {
    const unsigned holds = facts_hold();
    for (std::size_t i = 0; i < points && found < points; ++i)
      if ((holds >> i & 1) != 0) ways[found++] = ways_[i];
    for (unsigned& w : ways_) w += unsigned{points};
  }
  ways_ = ways;
  allowed_ = facts_hold() & ((1u << found) - 1);
}

bool Samples::differ(Id a, Id b) {
  const Values &u = at(a), &v = at(b);
  return some_at(allowed_, computed(Op::NE, u, v, v), [](std::int64_t x) { return x != 0; });
}

Values Samples::of(const Poly& p) {
  Values sum = constant(0);
  for (const Monomial& t : p) {
    Values term = t.atoms.empty() ? constant(t.coefficient) : at(t.atoms[0]);
    for (std::size_t i = 1; i < t.atoms.size(); ++i) term = of_two(Op::MUL, term, at(t.atoms[i]));
    if (t.coefficient != 1 && !t.atoms.empty()) term = of_two(Op::MUL, term, constant(t.coefficient));
    sum = of_two(Op::ADD, sum, term);
    if (sum.known == 0) break;
  }
  return sum;
}

bool Samples::some_negative(const Poly& p, std::span<const Id> inside) {
  if (!chosen_) choose_points();
  unsigned where = allowed_;
  for (Id id : inside) where &= around(id);
  return where != 0 && some_at(where, of(p), [](std::int64_t v) { return v < 0; });
}

}  // namespace kiln::compiler::symbolic
