#include "compiler/rangeify/one_range.h"

#include "compiler/rangeify/index_expr.h"

namespace kiln::compiler {
OneRange::OneRange(Graph& g, Simplifier& simplify, Id range) : g_(g), simplify_(simplify), exact_(g, simplify), range_(range) {}

// Sources have smaller ids, so a node with a smaller id than the range does not depend on it.
bool OneRange::depends(Id node) {
  std::vector<Id> todo{node};
  while (!todo.empty()) {
    const Id id = todo.back();
    if (id <= range_ || g_.op(id) == Op::RANGE || g_.op(id) == Op::STAGE) depends_.emplace(id, id == range_);
    if (depends_.contains(id)) {
      todo.pop_back();
      continue;
    }
    const std::size_t before = todo.size();
    bool any = false;
    for (const Id s : g_.src(id)) {
      const auto known = depends_.find(s);
      if (known == depends_.end()) todo.push_back(s);
      any = any || (known != depends_.end() && known->second);
    }
    if (!any && todo.size() != before) continue;
    todo.resize(before - 1);
    depends_.emplace(id, any);
  }
  return depends_.at(node);
}

std::vector<Clause> OneRange::opened(std::span<const Clause> clauses) const {
  std::vector<Clause> todo(clauses.rbegin(), clauses.rend()), out;
  while (!todo.empty()) {
    const Clause c = todo.back();
    todo.pop_back();
    const Op op = g_.op(c.condition);
    if (op == Op::NOT) {
      todo.push_back({g_.operand(c.condition), !c.negated});
    } else if (op == (c.negated ? Op::OR : Op::AND)) {
      const auto [first, second] = g_.operands<2>(c.condition);
      todo.push_back({second, c.negated});
      todo.push_back({first, c.negated});
    } else {
      out.push_back(c);
    }
  }
  return out;
}

Id OneRange::as_condition(const Clause& c) { return c.negated ? g_.make(Op::NOT, DType::boolean, {c.condition}) : c.condition; }

std::optional<IndexInterval> OneRange::region(const Clause& c) {
  if (!depends(c.condition)) return IndexInterval{g_.index(0), extent(), as_condition(c)};
  const Op op = g_.op(c.condition);
  if (op != Op::LT && op != Op::LE && op != (c.negated ? Op::NE : Op::EQ)) return std::nullopt;
  const auto [left, right] = g_.operands<2>(c.condition);
  const Id x = exact_(left), y = exact_(right);
  if (x == no_id || y == no_id) return std::nullopt;
  if (op == Op::EQ || op == Op::NE) return solved(Op::EQ, x, y);
  if (!c.negated) return solved(op, x, y);
  return solved(op == Op::LT ? Op::LE : Op::LT, y, x);
}

std::optional<Line> OneRange::line_of(const Poly& all) {
  Poly rest;
  std::int64_t factor = 0;
  for (const Monomial& t : all) {
    if (t.atoms.size() == 1 && t.atoms[0] == range_) {
      factor = t.coefficient;
      continue;
    }
    for (const Id atom : t.atoms)
      if (depends(atom)) return std::nullopt;
    rest.push_back(t);
  }
  if (factor == 0) return std::nullopt;
  return Line{factor, index_from(g_, rest)};
}

std::optional<Line> OneRange::line(Id value) {
  const Id exact = exact_(value);
  const auto sum = exact == no_id ? std::nullopt : symbolic::sum_of(g_, exact);
  return sum ? line_of(*sum) : std::nullopt;
}

// Solves x op y, which is k*r + rest op 0.
std::optional<IndexInterval> OneRange::solved(Op op, Id x, Id y) {
  const auto a = symbolic::sum_of(g_, x), b = symbolic::sum_of(g_, y);
  const auto all = a && b ? symbolic::plus(g_, *a, *b, -1) : std::nullopt;
  const auto line = all ? line_of(*all) : std::nullopt;
  if (!line) return std::nullopt;
  const std::int64_t k = line->factor, size = k < 0 ? -k : k;
  const Id by = g_.index(size), one = g_.index(1);
  const Id v = simplify_(k < 0 ? line->rest : g_.make(Op::NEG, DType::index, {line->rest}));  // bound of size*r
  const Id down = size == 1 ? v : index(Op::FLOORDIV, v, by);                                 // the last r with size*r <= v
  const Id after = index(Op::ADD, down, one);
  if (op == Op::EQ) {
    const Id exact = size == 1 ? no_id : g_.make(Op::EQ, DType::boolean, {index(Op::FLOORMOD, v, by), g_.index(0)});
    return IndexInterval{down, after, exact, true};
  }
  const Id up = size == 1 ? v : index(Op::FLOORDIV, index(Op::ADD, v, g_.index(size - 1)), by);  // the first r with size*r >= v
  if (k > 0) return IndexInterval{g_.index(0), op == Op::LT ? up : after};
  return IndexInterval{op == Op::LT ? after : up, extent()};
}

// Intersects r with the clauses, up to the first one that cannot be solved. Returns the index of that one.
std::optional<std::size_t> OneRange::unsolved(std::span<const Clause> open, IndexInterval& r) {
  for (std::size_t i = 0; i < open.size(); ++i) {
    const auto next = region(open[i]);
    if (!next) return i;
    if (!g_.is_index_const(next->begin, 0)) r.begin = index(Op::MAX, r.begin, next->begin);
    if (next->end != extent()) r.end = index(Op::MIN, r.end, next->end);
    r.when = both(g_, r.when, next->when == no_id ? no_id : simplify_(next->when));
  }
  return std::nullopt;
}

std::optional<IndexInterval> OneRange::common(std::span<const Clause> clauses) {
  IndexInterval r{g_.index(0), extent()};
  return unsolved(opened(clauses), r) ? std::nullopt : std::optional(r);
}

Id OneRange::iterations(const IndexInterval& r) {
  const Id zero = g_.index(0), n = simplify_(index(Op::MAX, zero, index(Op::SUB, r.end, r.begin)));
  return r.when == no_id ? n : simplify_(g_.make(Op::WHERE, DType::index, {r.when, n, zero}));
}

std::optional<Id> OneRange::count(std::span<const Clause> clauses, int hard_clauses) {
  const std::vector<Clause> open = opened(clauses);
  IndexInterval r{g_.index(0), extent()};
  const auto hard = unsolved(open, r);
  if (!hard) return iterations(r);
  // Inclusion and exclusion: the iterations where the other clauses hold, minus the iterations of these where this
  // clause does not hold.
  const Clause opposite{open[*hard].condition, !open[*hard].negated};
  const Op op = g_.op(opposite.condition);
  if (hard_clauses == 0 || (op != Op::EQ && op != Op::NE && op != Op::AND && op != Op::OR)) return std::nullopt;
  std::vector<Clause> others(open);
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(*hard));
  const auto whole = count(others, hard_clauses - 1);
  others.push_back(opposite);
  const auto less = whole ? count(others, hard_clauses - 1) : std::nullopt;
  return less ? std::optional(simplify_(index(Op::SUB, *whole, *less))) : std::nullopt;
}

}  // namespace kiln::compiler
