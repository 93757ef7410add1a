#include "compiler/symbolic/linear.h"

#include <algorithm>
#include <array>

namespace kiln::compiler::symbolic {
namespace {

constexpr std::size_t max_product_terms = 64;
constexpr int max_nesting = 8;  // of sums in products in sums that are multiplied out

struct AtomOrder {
  const Graph& g;
  bool operator()(Id a, Id b) const { return atom_less(g, a, b); }
};

bool has_negations(const Poly& s) {
  return std::ranges::none_of(s, [](const Monomial& t) { return t.coefficient == INT64_MIN; });
}
std::optional<Poly> with_negations(std::optional<Poly> s) { return s && has_negations(*s) ? std::move(s) : std::nullopt; }

bool is_index(const Graph& g, Id id) { return g.dtype(id) == DType::index && g.lanes(id) == 1; }

std::optional<Poly> sum_of(const Graph& g, Id id, int nesting);

// The sum of a MUL of any nesting. Factors with a single term are collected first, so that atoms are sorted once.
std::optional<Poly> product_of(const Graph& g, Id id, int nesting) {
  Atoms factors;
  if (!factors_of(g, id, factors)) return Poly{{1, {id}}};
  Monomial single{1, {}};
  std::vector<Poly> sums;
  std::size_t terms = 1;
  const auto gather = [&](const Monomial& t) {
    single.atoms.append(t.atoms.begin(), t.atoms.end());
    return !__builtin_mul_overflow(single.coefficient, t.coefficient, &single.coefficient);
  };
  for (Id f : factors) {
    if (!is_index_const(g, f) && (!is_linear(g, f) || nesting >= max_nesting)) {
      single.atoms.push_back(f);
      continue;
    }
    auto s = sum_of(g, f, nesting + 1);
    if (!s) return std::nullopt;
    if (s->empty()) return Poly{};
    const std::size_t product = terms * std::min(s->size(), max_product_terms + 1);
    if (s->size() == 1) {
      if (!gather(s->front())) return std::nullopt;
    } else if (product > max_product_terms) {
      single.atoms.push_back(f);
    } else {
      terms = product;
      sums.push_back(*std::move(s));
    }
  }
  std::ranges::sort(single.atoms, AtomOrder{g});
  Poly product{std::move(single)};
  for (const Poly& s : sums) {
    auto next = times(g, product, s);
    if (!next) return std::nullopt;
    product = *std::move(next);
  }
  return product;
}

std::optional<Poly> sum_of(const Graph& g, Id id, int nesting) {
  if (const auto c = index_constant(g, id)) return *c == INT64_MIN ? std::nullopt : std::optional(constant_sum(*c));
  if (!is_linear(g, id) && (g.op(id) != Op::MUL || !is_index(g, id))) return Poly{{1, {id}}};
  Linear l;
  if (!collect(g, id, l)) return std::nullopt;
  Poly s;
  s.reserve(l.leaves.size() + 1);
  if (l.constant != 0) s.push_back({l.constant, {}});
  for (const auto& [leaf, k] : l.leaves) {
    if (g.op(leaf) != Op::MUL || !is_index(g, leaf)) {
      s.push_back({k, {leaf}});
      continue;
    }
    auto p = product_of(g, leaf, nesting);
    if (p) p = scaled(*std::move(p), k);
    if (!p) return std::nullopt;
    s.insert(s.end(), p->begin(), p->end());
  }
  if (!normalise(g, s)) return std::nullopt;
  return s;
}

}  // namespace

bool factors_of(const Graph& g, Id root, Atoms& out) {
  constexpr std::size_t max_factors = 64;
  Atoms open{root};
  while (!open.empty()) {
    const Id f = open.back();
    open.pop_back();
    if (g.op(f) != Op::MUL || !is_index(g, f) || (f != root && is_linear(g, f))) {
      out.push_back(f);
    } else {
      const auto [a, b] = g.operands<2>(f);
      open.push_back(a);
      open.push_back(b);
    }
    if (out.size() + open.size() > max_factors) return false;
  }
  return true;
}

bool atom_less(const Graph& g, Id a, Id b) {
  const auto rank = [&](Id x) { return g.op(x) == Op::SYM ? 0 : g.op(x) == Op::RANGE ? 1 : 2; };
  if (a == b) return false;
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  if (rank(a) == 0) return g.name(a) < g.name(b);
  if (rank(a) == 1 && g.range_number(a) != g.range_number(b)) return g.range_number(a) < g.range_number(b);
  return g[a].hash != g[b].hash ? g[a].hash < g[b].hash : a < b;
}

namespace {

// Calls give(source, k, factor) for each operand of a linear node that is not a constant factor.
template <class F>
bool each_operand(const Graph& g, Id id, std::int64_t k, F give) {
  const Op op = g.op(id);
  if (op == Op::NEG) return give(g.operand(id), k, -1);
  const auto [a, b] = g.operands<2>(id);
  if (op == Op::MUL) return is_index_const(g, b) ? give(a, k, g.value(b)) : give(b, k, g.value(a));
  return give(a, k, 1) && give(b, k, op == Op::SUB ? -1 : 1);
}

// For small sums: visits a shared node once for each use. False: too many nodes, or an overflow.
bool collect_few(const Graph& g, Id root, Linear& out) {
  constexpr std::size_t most = 12;
  std::array<std::pair<Id, std::int64_t>, most> open;
  std::size_t n = 0, visits = 0;
  const auto give = [&](Id to, std::int64_t k, std::int64_t factor) {
    if (n == most) return false;
    open[n].first = to;
    return !__builtin_mul_overflow(k, factor, &open[n++].second);
  };
  const auto add = [&](Id leaf, std::int64_t k) {  // keeps the greatest id first
    auto at = out.leaves.end();
    while (at != out.leaves.begin() && (at - 1)->first < leaf) --at;
    if (at != out.leaves.begin() && (at - 1)->first == leaf)
      return !__builtin_add_overflow((at - 1)->second, k, &(at - 1)->second);
    out.leaves.insert(at, {leaf, k});
    return true;
  };
  if (!give(root, 1, 1)) return false;
  while (n > 0) {
    const auto [id, k] = open[--n];
    std::int64_t v = 0;
    bool fits = ++visits < 2 * most;
    if (is_linear(g, id))
      fits = fits && each_operand(g, id, k, give);
    else if (const auto c = index_constant(g, id))
      fits = fits && !__builtin_mul_overflow(k, *c, &v) && !__builtin_add_overflow(out.constant, v, &out.constant);
    else
      fits = fits && add(id, k);
    if (!fits) return false;
  }
  std::erase_if(out.leaves, [](const auto& leaf) { return leaf.second == 0; });
  return true;
}

bool collect_many(const Graph& g, Id root, Linear& out) {
  // A heap by id. Users come before sources, so a coefficient is complete when its node is taken.
  decltype(out.leaves) pending{{root, 1}};
  const auto by_id = [](const auto& a, const auto& b) { return a.first < b.first; };
  const auto give = [&](Id to, std::int64_t k, std::int64_t factor) {
    std::int64_t v = 0;
    if (__builtin_mul_overflow(k, factor, &v)) return false;
    pending.emplace_back(to, v);
    std::ranges::push_heap(pending, by_id);
    return true;
  };
  const auto take = [&] {
    std::ranges::pop_heap(pending, by_id);
    const auto top = pending.back();
    pending.pop_back();
    return top;
  };
  while (!pending.empty()) {
    auto [id, k] = take();
    bool fits = true;
    while (!pending.empty() && pending.front().first == id) fits = !__builtin_add_overflow(k, take().second, &k) && fits;
    if (!fits) return false;
    if (const auto c = index_constant(g, id)) {
      std::int64_t v = 0;
      fits = !__builtin_mul_overflow(k, *c, &v) && !__builtin_add_overflow(out.constant, v, &out.constant);
    } else if (is_linear(g, id)) {
      fits = each_operand(g, id, k, give);
    } else if (k != 0) {
      out.leaves.emplace_back(id, k);
    }
    if (!fits) return false;
  }
  return true;
}

}  // namespace

bool collect(const Graph& g, Id root, Linear& out) {
  out.leaves.reserve(4);
  if (collect_few(g, root, out)) return true;
  out = {};
  return collect_many(g, root, out);
}

bool normalise(const Graph& g, Poly& s) { return normalise_terms(AtomOrder{g}, s) && has_negations(s); }

std::optional<Poly> sum_of(const Graph& g, Id id) { return sum_of(g, id, 0); }

std::optional<Poly> plus(const Graph& g, const Poly& a, const Poly& b, std::int64_t times_b) {
  return with_negations(add_terms(AtomOrder{g}, a, b, times_b));
}

std::optional<Poly> times(const Graph& g, const Poly& a, const Poly& b) {
  return with_negations(multiply_terms(AtomOrder{g}, a, b));
}

std::optional<Poly> scaled(Poly a, std::int64_t by) { return with_negations(scale_terms(std::move(a), by)); }

Interval interval_of(Bounds& b, const Monomial& t, std::int64_t coefficient) {
  Interval i{1, 1};
  for (Id a : t.atoms) i = mul(i, b(a));
  return mul(i, {coefficient, coefficient});
}
Interval interval_of(Bounds& b, const Poly& s) {
  Interval i{0, 0};
  for (const Monomial& t : s) i = add(i, interval_of(b, t));
  return i;
}

}  // namespace kiln::compiler::symbolic
