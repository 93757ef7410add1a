#include "compiler/symbolic/linear.h"

#include <algorithm>
#include <array>

namespace kiln::compiler::symbolic {
namespace {

constexpr std::size_t max_product_terms = 64;
constexpr int max_nesting = 8;  // of sums in products in sums that are multiplied out

int compare(const Graph& g, const Atoms& a, const Atoms& b) {  // < 0: a comes first
  if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) return atom_less(g, a[i], b[i]) ? -1 : 1;
  return 0;
}

bool is_index(const Graph& g, Id id) { return g.dtype(id) == DType::index && g.lanes(id) == 1; }

std::optional<Sum> sum_of(const Graph& g, Id id, int nesting);

// The sum of a MUL of any nesting. Factors with a single term are collected first, so that atoms are sorted once.
std::optional<Sum> product_of(const Graph& g, Id id, int nesting) {
  Atoms factors;
  if (!factors_of(g, id, factors)) return Sum{{1, {id}}};
  Term single{1, {}};
  std::vector<Sum> sums;
  std::size_t terms = 1;
  const auto gather = [&](const Term& t) {
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
    if (s->empty()) return Sum{};
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
  std::ranges::sort(single.atoms, [&](Id a, Id b) { return atom_less(g, a, b); });
  Sum product{std::move(single)};
  for (const Sum& s : sums) {
    auto next = times(g, product, s);
    if (!next) return std::nullopt;
    product = *std::move(next);
  }
  return product;
}

std::optional<Sum> sum_of(const Graph& g, Id id, int nesting) {
  if (const auto c = index_constant(g, id)) return *c == INT64_MIN ? std::nullopt : std::optional(constant_sum(*c));
  if (!is_linear(g, id) && (g.op(id) != Op::MUL || !is_index(g, id))) return Sum{{1, {id}}};
  Linear l;
  if (!collect(g, id, l)) return std::nullopt;
  Sum s;
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
      open.push_back(g.src(f, 0));
      open.push_back(g.src(f, 1));
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
  if (rank(a) == 1 && g.arg(a, 0) != g.arg(b, 0)) return g.arg(a, 0) < g.arg(b, 0);
  return g[a].hash != g[b].hash ? g[a].hash < g[b].hash : a < b;
}

namespace {

// Calls give(source, k, factor) for each operand of a linear node that is not a constant factor.
template <class F>
bool each_operand(const Graph& g, Id id, std::int64_t k, F give) {
  switch (g.op(id)) {
    case Op::NEG: return give(g.src(id, 0), k, -1);
    case Op::MUL: {
      const std::size_t at = is_index_const(g, g.src(id, 1)) ? 1 : 0;
      return give(g.src(id, 1 - at), k, g.arg(g.src(id, at), 0));
    }
    default: return give(g.src(id, 0), k, 1) && give(g.src(id, 1), k, g.op(id) == Op::SUB ? -1 : 1);
  }
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

bool normalise(const Graph& g, Sum& s) {
  const auto less = [&](const Term& a, const Term& b) { return compare(g, a.atoms, b.atoms) < 0; };
  if (!std::ranges::is_sorted(s, less)) std::ranges::sort(s, less);
  std::size_t n = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (n > 0 && s[n - 1].atoms == s[i].atoms) {
      if (__builtin_add_overflow(s[n - 1].coefficient, s[i].coefficient, &s[n - 1].coefficient)) return false;
    } else {
      if (n > 0 && s[n - 1].coefficient == 0) --n;
      if (n != i) s[n] = std::move(s[i]);
      ++n;
    }
  }
  if (n > 0 && s[n - 1].coefficient == 0) --n;
  s.resize(n);
  return std::ranges::none_of(s, [](const Term& t) { return t.coefficient == INT64_MIN; });
}

std::optional<Sum> sum_of(const Graph& g, Id id) { return sum_of(g, id, 0); }

Id node_of(Graph& g, const Sum& s) {
  if (s.empty()) return g.index(0);
  Id sum = no_id;
  for (const Term& t : s) {
    Id product = no_id;
    for (Id a : t.atoms) product = product == no_id ? a : g.make(Op::MUL, DType::index, {product, a});
    if (product == no_id)
      product = g.index(t.coefficient);
    else if (t.coefficient != 1)
      product = g.make(Op::MUL, DType::index, {product, g.index(t.coefficient)});
    sum = sum == no_id ? product : g.make(Op::ADD, DType::index, {sum, product});
  }
  return sum;
}

std::optional<Sum> plus(const Graph& g, const Sum& a, const Sum& b, std::int64_t times_b) {
  if (times_b == 0) return a;
  Sum s;
  s.reserve(a.size() + b.size());
  auto x = a.begin();
  for (const Term& t : b) {  // a and b are in order
    int order = 1;
    while (x != a.end() && (order = compare(g, x->atoms, t.atoms)) < 0) s.push_back(*x++);
    std::int64_t k = 0;
    if (__builtin_mul_overflow(t.coefficient, times_b, &k)) return std::nullopt;
    if (x != a.end() && order == 0 && __builtin_add_overflow(k, (x++)->coefficient, &k)) return std::nullopt;
    if (k == INT64_MIN) return std::nullopt;
    if (k != 0) s.push_back({k, t.atoms});
  }
  s.insert(s.end(), x, a.end());
  return s;
}

std::optional<Sum> times(const Graph& g, const Sum& a, const Sum& b) {
  if (a.size() == 1 && a.front().atoms.empty()) return scaled(b, a.front().coefficient);
  if (b.size() == 1 && b.front().atoms.empty()) return scaled(a, b.front().coefficient);
  Sum s;
  s.reserve(a.size() * b.size());
  for (const Term& x : a)
    for (const Term& y : b) {
      Term t{0, x.atoms};
      if (__builtin_mul_overflow(x.coefficient, y.coefficient, &t.coefficient)) return std::nullopt;
      t.atoms.append(y.atoms.begin(), y.atoms.end());
      std::ranges::sort(t.atoms, [&](Id u, Id v) { return atom_less(g, u, v); });
      s.push_back(std::move(t));
    }
  if (!normalise(g, s)) return std::nullopt;
  return s;
}

std::optional<Sum> scaled(Sum a, std::int64_t by) {
  if (by == 0) return Sum{};
  for (Term& t : a)
    if (__builtin_mul_overflow(t.coefficient, by, &t.coefficient) || t.coefficient == INT64_MIN) return std::nullopt;
  return a;
}

std::optional<std::int64_t> constant_of(const Sum& s) {
  if (s.empty()) return 0;
  if (s.size() == 1 && s[0].atoms.empty()) return s[0].coefficient;
  return std::nullopt;
}
std::int64_t constant_term(const Sum& s) { return !s.empty() && s.back().atoms.empty() ? s.back().coefficient : 0; }
Sum constant_sum(std::int64_t c) { return c == 0 ? Sum{} : Sum{{c, {}}}; }

Interval interval_of(Bounds& b, const Term& t, std::int64_t coefficient) {
  Interval i{1, 1};
  for (Id a : t.atoms) i = mul(i, b(a));
  return mul(i, {coefficient, coefficient});
}
Interval interval_of(Bounds& b, const Sum& s) {
  Interval i{0, 0};
  for (const Term& t : s) i = add(i, interval_of(b, t));
  return i;
}

}  // namespace kiln::compiler::symbolic
