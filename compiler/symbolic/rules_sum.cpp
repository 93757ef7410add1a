// Rules for related terms of a sum: a remainder and its quotient, remainders of one value, choices by one condition. r is the
// rest of the sum.
#include "compiler/symbolic/find.h"

namespace kiln::compiler::symbolic {
namespace {

constexpr std::size_t max_divisions = 16, max_terms = 256;

struct Divided {
  Id atom;
  const Poly *x, *d;
};

std::vector<Divided> divisions_in(RewriteContext& c, const Poly& s, Op op) {
  std::vector<Divided> out;
  for (const Monomial& t : s)
    for (Id a : t.atoms) {
      if (c.g.op(a) != op || std::ranges::find(out, a, &Divided::atom) != out.end()) continue;
      const auto [numerator, divisor] = c.g.operands<2>(a);
      const Poly *x = c.sum(numerator), *d = c.sum(divisor);
      if (x != nullptr && d != nullptr && !d->empty()) out.push_back({a, x, d});
    }
  if (out.size() > max_divisions) out.clear();
  return out;
}

const Poly* sum_at(RewriteContext& c, Id n) {
  const Poly* s = is_index(c.g, n) ? c.sum(n) : nullptr;
  return s != nullptr && s->size() <= max_terms ? s : nullptr;
}

// t with d*t = x, for a d with a single term.
std::optional<Poly> exact_quotient(const Graph& g, const Poly& x, const Poly& d) {
  if (x.empty()) return Poly{};
  if (d.size() != 1) return std::nullopt;
  Poly t = divided_by(g, x, d.front());
  return t.size() == x.size() ? std::optional(std::move(t)) : std::nullopt;
}

// s without one of its terms and without `part`. nullopt: s does not contain both.
std::optional<Poly> rest_of(const Graph& g, const Poly& s, const Monomial& term, const std::optional<Poly>& part) {
  if (!part || !contains(s, *part)) return std::nullopt;
  const auto less = plus(g, s, Poly{term}, -1);
  return less ? plus(g, *less, *part, -1) : std::nullopt;
}

// Calls f(mod, q, k, r) for each pair of terms k*(x % d) and k*d*q in the sum, where q is a division of kind `second`.
template <class F>
bool each_pair(RewriteContext& c, Id n, Op second, F f) {
  const Poly* s = sum_at(c, n);
  if (s == nullptr) return false;
  const auto mods = divisions_in(c, *s, Op::FLOORMOD);
  if (mods.empty()) return false;
  const auto others = divisions_in(c, *s, second);
  for (const Divided& m : mods)
    for (const Divided& q : others) {
      if (m.atom == q.atom) continue;
      for (const Monomial& t : *s) {
        if (std::ranges::find(t.atoms, m.atom) == t.atoms.end()) continue;
        const Monomial k = without(t, m.atom);
        const auto r = rest_of(c.g, *s, t, times(c.g, Poly{with(c.g, k, q.atom)}, *m.d));
        if (r && f(m, q, k, *r)) return true;
      }
    }
  return false;
}

bool find_recombine(RewriteContext& c, Id n, Match& m) {
  return each_pair(c, n, Op::FLOORDIV, [&](const Divided& mod, const Divided& q, const Monomial& k, const Poly& r) {
    const auto diff = *q.d == *mod.d ? plus(c.g, *q.x, *mod.x, -1) : std::nullopt;
    const auto t = diff ? exact_quotient(c.g, *diff, *mod.d) : std::nullopt;
    return t && m.bind({c.node(Poly{k}), c.node(*mod.x), c.node(*mod.d), c.node(*t), c.node(r)});
  });
}

// u written as x // a + s.
struct Lifted {
  Id x, a;
  Poly s, whole;  // whole = x + a*s
};
std::vector<Lifted> lifted(RewriteContext& c, const Poly& u) {
  constexpr std::size_t most = 16;
  std::vector<Lifted> out;
  if (u.size() > most) return out;
  for (const Monomial& t : u) {
    if (t.coefficient != 1 || t.atoms.size() != 1 || c.g.op(t.atoms[0]) != Op::FLOORDIV) continue;
    const auto [x, a] = c.g.operands<2>(t.atoms[0]);
    const Poly *xs = c.sum(x), *as = c.sum(a);
    auto s = plus(c.g, u, Poly{t}, -1);
    const auto shift = s && as != nullptr ? times(c.g, *s, *as) : std::nullopt;
    auto whole = shift && xs != nullptr ? plus(c.g, *xs, *shift) : std::nullopt;
    if (whole) out.push_back({x, a, *std::move(s), *std::move(whole)});
  }
  return out;
}

bool find_recombine_nested(RewriteContext& c, Id n, Match& m) {
  return each_pair(c, n, Op::FLOORDIV, [&](const Divided& mod, const Divided& q, const Monomial& k, const Poly& r) {
    for (const Lifted& l : lifted(c, *mod.x)) {
      const auto ad = times(c.g, *c.sum(l.a), *mod.d);
      const auto diff = ad && *ad == *q.d ? plus(c.g, *q.x, l.whole, -1) : std::nullopt;
      const auto t = diff ? exact_quotient(c.g, *diff, *ad) : std::nullopt;
      if (t) return m.bind({c.node(Poly{k}), l.x, l.a, c.node(l.s), c.node(*mod.d), c.node(*t), c.node(r)});
    }
    return false;
  });
}

bool find_join(RewriteContext& c, Id n, Match& m) {
  return each_pair(c, n, Op::FLOORMOD, [&](const Divided& low, const Divided& high, const Monomial& k, const Poly& r) {
    for (const Lifted& l : lifted(c, *high.x)) {
      const auto diff = *c.sum(l.a) == *low.d ? plus(c.g, l.whole, *low.x, -1) : std::nullopt;
      const auto t = diff ? exact_quotient(c.g, *diff, *low.d) : std::nullopt;
      if (!t) continue;
      return m.bind({c.node(Poly{k}), c.node(*low.x), l.a, l.x, c.node(l.s), c.node(*high.d), c.node(r), c.node(*t)});
    }
    return false;
  });
}

// r with s = k*x + term + r, if s contains all terms of k*x except its constant.
std::optional<Poly> other_part(RewriteContext& c, const Poly& s, const Monomial& term, const Poly& k, const Poly& x) {
  auto kx = times(c.g, k, x);
  if (!kx || kx->empty() || kx->front().atoms.empty()) return std::nullopt;
  const Poly varying(kx->begin(), kx->end() - (kx->back().atoms.empty() ? 1 : 0));
  if (!contains(s, varying)) return std::nullopt;
  const auto less = plus(c.g, s, Poly{term}, -1);
  return less ? plus(c.g, *less, *kx, -1) : std::nullopt;
}

bool find_mod_from_div(RewriteContext& c, Id n, Match& m) {
  const Poly* s = sum_at(c, n);
  if (s == nullptr) return false;
  for (const Divided& q : divisions_in(c, *s, Op::FLOORDIV))
    for (const Monomial& t : *s) {
      if (std::ranges::find(t.atoms, q.atom) == t.atoms.end()) continue;
      const auto kd = scaled(Poly{without(t, q.atom)}, -1);
      const auto k = kd ? exact_quotient(c.g, *kd, *q.d) : std::nullopt;
      const auto r = k ? other_part(c, *s, t, *k, *q.x) : std::nullopt;
      if (r) return m.bind({c.node(*k), c.node(*q.x), c.node(*q.d), c.node(*r)});
    }
  return false;
}

bool find_div_from_mod(RewriteContext& c, Id n, Match& m) {
  const Poly* s = sum_at(c, n);
  if (s == nullptr) return false;
  for (const Divided& q : divisions_in(c, *s, Op::FLOORMOD))
    for (const Monomial& t : *s) {
      if (std::ranges::find(t.atoms, q.atom) == t.atoms.end()) continue;
      const auto k = scaled(Poly{without(t, q.atom)}, -1);
      const auto r = k ? other_part(c, *s, t, *k, *q.x) : std::nullopt;
      if (r) return m.bind({c.node(*k), c.node(*q.x), c.node(*q.d), c.node(*r)});
    }
  return false;
}

// Finds two choices by one condition, each with a constant coefficient.
bool find_where_sum(RewriteContext& c, Id n, Match& m) {
  const Poly* s = sum_at(c, n);
  if (s == nullptr) return false;
  const auto is_choice = [&](const Monomial& t) { return t.atoms.size() == 1 && is_plain_choice(c.g, t.atoms[0]); };
  for (auto a = s->begin(); a != s->end(); ++a)
    for (auto b = s->begin(); is_choice(*a) && b != a; ++b) {
      if (!is_choice(*b)) continue;
      const auto [p, then_a, else_a] = c.g.operands<3>(a->atoms[0]);
      const auto [q, then_b, else_b] = c.g.operands<3>(b->atoms[0]);
      if (p != q) continue;
      auto r = plus(c.g, *s, Poly{*a}, -1);
      if (r) r = plus(c.g, *r, Poly{*b}, -1);
      if (!r) continue;
      return m.bind({c.g.index(a->coefficient), p, then_a, else_a, c.g.index(b->coefficient), then_b, else_b, c.node(*r)});
    }
  return false;
}

constexpr Rule sum_table[] = {
    {"div-mod-recombine", "k * (x % d) + k * d * ((x + t * d) // d) + r", "d != 0", "k * (x + t * d) + r", find_recombine},
    {"div-mod-recombine-nested", "k * ((x // a + s) % d) + k * d * ((x + a * s + t * (a * d)) // (a * d)) + r",
     "a != 0 and d > 0", "k * (x // a + s + t * d) + r", find_recombine_nested},
    {"mod-mod-join", "k * (u % a) + k * a * ((v // a + s) % b) + r", "b > 0 and v + a * s == u + t * a",
     "k * ((v + a * s) % (a * b)) + r", find_join},
    {"mod-from-div", "k * x - k * d * (x // d) + r", "d != 0", "k * (x % d) + r", find_mod_from_div},
    {"div-from-mod", "k * x - k * (x % d) + r", "d != 0", "k * d * (x // d) + r", find_div_from_mod},
    {"where-sum", "k * where(p, a, b) + m * where(p, x, y) + r", "", "where(p, k * a + m * x, k * b + m * y) + r",
     find_where_sum},
};

}  // namespace

std::span<const Rule> sum_rules() { return sum_table; }

}  // namespace kiln::compiler::symbolic
