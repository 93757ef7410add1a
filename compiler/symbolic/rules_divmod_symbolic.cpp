#include <algorithm>
#include <numeric>

#include "compiler/symbolic/prover.h"
#include "compiler/symbolic/rules.h"

namespace kiln::compiler::symbolic {
namespace {

struct Division {
  Sum x, d;
  bool valid = false;
};
Division division(RewriteContext& c, Id n) {
  if (!is_index(c.g, n)) return {};
  auto x = sum_of(c.g, c.g.src(n, 0)), d = sum_of(c.g, c.g.src(n, 1));
  if (!x || !d || d->empty()) return {};
  return {*std::move(x), *std::move(d), true};
}

Prover prover(RewriteContext& c, Id n) {
  const Id context[] = {n};
  return Prover(c.g, c.bounds, context);
}

Id result(RewriteContext& c, Id n, const Sum& quotient, const Sum& rest) {
  return node_of(c.g, c.g.op(n) == Op::FLOORDIV ? quotient : rest);
}

// 0 <= x < d: x // d = 0, x % d = x
Id in_range(RewriteContext& c, Id n) {
  const Division v = division(c, n);
  if (!v.valid || !prover(c, n).in_range(v.x, v.d)) return no_id;
  return result(c, n, {}, v.x);
}

// a / b for monomials; false when b does not divide a.
bool divide_term(const Graph& g, const Term& a, const Term& b, Term& q) {
  if (b.coefficient == 0 || a.coefficient % b.coefficient != 0) return false;
  q = {a.coefficient / b.coefficient, {}};
  std::size_t i = 0;
  for (Id x : a.atoms) {
    if (i < b.atoms.size() && b.atoms[i] == x)
      ++i;
    else if (i < b.atoms.size() && atom_less(g, b.atoms[i], x))
      return false;
    else
      q.atoms.push_back(x);
  }
  return i == b.atoms.size();
}

// x = quotient*d + rest by polynomial long division; terms that d's leading term does not divide stay in the rest.
bool long_division(const Graph& g, const Sum& x, const Sum& d, Sum& quotient, Sum& rest) {
  constexpr int max_steps = 64;
  rest = x;
  std::size_t from = 0;
  for (int step = 0; step < max_steps && from < rest.size(); ++step) {
    Term q;
    while (from < rest.size() && !divide_term(g, rest[from], d.front(), q)) ++from;
    if (from == rest.size()) break;
    const auto part = times(g, Sum{q}, d);
    const auto less = part ? plus(g, rest, *part, -1) : std::nullopt;
    if (!less) return false;
    rest = *less;
    quotient.push_back(q);
  }
  return !quotient.empty() && normalise(g, quotient);
}

// (q*d + r) // d = q when 0 <= r < d; q + r // d when d is never 0
Id exact_part(RewriteContext& c, Id n) {
  const Division v = division(c, n);
  Sum quotient, rest;
  if (!v.valid || constant_of(v.d) || !long_division(c.g, v.x, v.d, quotient, rest)) return no_id;
  Prover proof = prover(c, n);
  if (!rest.empty() && proof.in_range(rest, v.d)) return result(c, n, quotient, rest);
  if (!proof.lt({}, v.d)) return no_id;
  if (rest.empty()) return result(c, n, quotient, rest);
  const Id tail = make(c.g, c.g.op(n), node_of(c.g, rest), node_of(c.g, v.d));
  return c.g.op(n) == Op::FLOORMOD ? tail : make(c.g, Op::ADD, node_of(c.g, quotient), tail);
}

// The greatest monomial that divides every term of s and `with`.
Term common(const Graph& g, const Sum& s, Term with) {
  for (const Term& t : s) {
    with.coefficient = std::gcd(with.coefficient, t.coefficient);
    std::vector<Id> both;
    std::ranges::set_intersection(with.atoms, t.atoms, std::back_inserter(both),
                                  [&](Id a, Id b) { return atom_less(g, a, b); });
    with.atoms = std::move(both);
  }
  return with;
}
bool is_one(const Term& t) { return t.coefficient == 1 && t.atoms.empty(); }
Sum divided_by(const Graph& g, const Sum& s, const Term& by) {
  Sum out;
  for (const Term& t : s) {
    Term q;
    if (divide_term(g, t, by, q)) out.push_back(std::move(q));
  }
  normalise(g, out);  // removing a common factor keeps terms distinct, but may reorder them
  return out;
}

// (g*x) // (g*y) = x // y, (g*x) % (g*y) = g*(x % y), for g > 0
Id common_factor(RewriteContext& c, Id n) {
  const Division v = division(c, n);
  if (!v.valid || v.x.empty()) return no_id;
  Term f = common(c.g, v.x, v.d.front());
  f = common(c.g, v.d, f);
  if (f.coefficient < 0) f.coefficient = -f.coefficient;
  if (is_one(f)) return no_id;
  if (!f.atoms.empty() && !prover(c, n).lt({}, Sum{{1, f.atoms}})) f.atoms.clear();
  if (is_one(f)) return no_id;
  const Id r = make(c.g, c.g.op(n), node_of(c.g, divided_by(c.g, v.x, f)), node_of(c.g, divided_by(c.g, v.d, f)));
  return c.g.op(n) == Op::FLOORDIV ? r : make(c.g, Op::MUL, r, node_of(c.g, Sum{f}));
}

// d = f*e and x = f*a + b with 0 <= b < f: x // d = a // e when d >= 0, x % d = f*(a % e) + b when d > 0
Id nested_factor(RewriteContext& c, Id n) {
  const Division v = division(c, n);
  if (!v.valid || v.d.size() != 1 || v.d.front().atoms.empty() || v.x.size() < 2) return no_id;
  if (c.g.op(n) == Op::FLOORMOD ? !prover(c, n).lt({}, v.d) : !prover(c, n).ge0(v.d)) return no_id;
  for (const Term& lead : v.x) {
    Term f = common(c.g, Sum{lead}, v.d.front());
    if (f.coefficient < 0) f.coefficient = -f.coefficient;
    if (lead.atoms.empty() || is_one(f) || f == v.d.front()) continue;
    Sum a, b;
    for (const Term& t : v.x) {
      Term q;
      if (divide_term(c.g, t, f, q))
        a.push_back(std::move(q));
      else
        b.push_back(t);
    }
    if (b.empty() || !normalise(c.g, a) || !prover(c, n).in_range(b, Sum{f})) continue;
    const Id r = make(c.g, c.g.op(n), node_of(c.g, a), node_of(c.g, divided_by(c.g, v.d, f)));
    if (c.g.op(n) == Op::FLOORDIV) return r;
    return make(c.g, Op::ADD, make(c.g, Op::MUL, r, node_of(c.g, Sum{f})), node_of(c.g, b));
  }
  return no_id;
}

// (x // a) // d = x // (a*d) for d >= 0
Id div_of_div(RewriteContext& c, Id n) {
  const Id q = c.g.src(n, 0), d = c.g.src(n, 1);
  if (!is_index(c.g, n) || is_index_const(c.g, d) || c.g.op(q) != Op::FLOORDIV || c.bounds(d).min < 0) return no_id;
  return make(c.g, Op::FLOORDIV, c.g.src(q, 0), make(c.g, Op::MUL, c.g.src(q, 1), d));
}

// (x % d) % d = x % d
Id mod_of_mod(RewriteContext& c, Id n) {
  const Id x = c.g.src(n, 0);
  return is_index(c.g, n) && c.g.op(x) == Op::FLOORMOD && c.g.src(x, 1) == c.g.src(n, 1) ? x : no_id;
}

// Every term of part is a term of s.
bool contains(const Sum& s, const Sum& part) {
  return std::ranges::all_of(part, [&](const Term& p) { return std::ranges::find(s, p) != s.end(); });
}

struct Divided {
  Id atom;
  Sum x, d;
};

std::vector<Divided> divisions_in(const Graph& g, const Sum& s, Op op) {
  std::vector<Divided> out;
  for (const Term& t : s)
    for (Id a : t.atoms) {
      if (g.op(a) != op || std::ranges::find(out, a, &Divided::atom) != out.end()) continue;
      auto x = sum_of(g, g.src(a, 0)), d = sum_of(g, g.src(a, 1));
      if (x && d && !d->empty()) out.push_back({a, *std::move(x), *std::move(d)});
    }
  return out;
}

bool divides(std::int64_t c, const Sum& s) {
  return c != 0 && std::ranges::all_of(s, [&](const Term& t) { return t.coefficient % c == 0; });
}

// u = v // a + r is (v + a*r) // a, for each constant a > 0 of a quotient in u.
struct Lifted {
  Sum x;
  std::int64_t a = 0;
};
std::vector<Lifted> lifted(const Graph& g, const Sum& u) {
  constexpr std::size_t max_terms = 16;
  std::vector<Lifted> out;
  if (u.size() > max_terms) return out;
  for (const Term& t : u) {
    if (t.coefficient != 1 || t.atoms.size() != 1 || g.op(t.atoms[0]) != Op::FLOORDIV) continue;
    const std::int64_t a = index_constant(g, g.src(t.atoms[0], 1)).value_or(0);
    const auto v = sum_of(g, g.src(t.atoms[0], 0)), r = plus(g, u, Sum{t}, -1);
    const auto x = a > 0 && v && r ? plus(g, *v, *r, a) : std::nullopt;
    if (x) out.push_back({*x, a});
  }
  return out;
}

// The sum y with u % d = y - d*q, for mod = u % d and a quotient q that is u // d plus a sum; nullopt when it is not.
std::optional<Sum> remainder_through(const Graph& g, const Divided& mod, const Divided& q) {
  if (q.d == mod.d) {  // same divisor: equal up to a multiple of d
    const auto diff = plus(g, q.x, mod.x, -1);
    if (!diff) return std::nullopt;
    if (diff->empty()) return q.x;
    return divides(constant_of(mod.d).value_or(0), *diff) ? std::optional(q.x) : std::nullopt;
  }
  for (const Lifted& l : lifted(g, mod.x)) {  // u = x // a, so u // d = x // (a*d)
    const auto ad = scaled(mod.d, l.a);
    const auto diff = ad && *ad == q.d ? plus(g, q.x, l.x, -1) : std::nullopt;
    if (!diff || (!diff->empty() && !divides(constant_of(q.d).value_or(0), *diff))) continue;
    auto shift = *diff;  // q = u // d + diff / (a*d), so u % d = u + diff / a - d*q
    for (Term& m : shift) m.coefficient /= l.a;
    return plus(g, mod.x, shift);
  }
  return std::nullopt;
}

// The term without one of its atoms, or with another one.
Term without(Term t, Id atom) {
  t.atoms.erase(std::ranges::find(t.atoms, atom));
  return t;
}
Term with(const Graph& g, Term t, Id atom) {
  t.atoms.push_back(atom);
  std::ranges::sort(t.atoms, [&](Id a, Id b) { return atom_less(g, a, b); });
  return t;
}

// k*(u % d) + k*d*(u // d) = k*u for d != 0
Id recombine(RewriteContext& c, Id n) {
  constexpr std::size_t max_divisions = 16;
  if (!is_index(c.g, n)) return no_id;
  auto s = sum_of(c.g, n);
  if (!s) return no_id;
  const auto mods = divisions_in(c.g, *s, Op::FLOORMOD), quotients = divisions_in(c.g, *s, Op::FLOORDIV);
  if (mods.empty() || quotients.empty() || mods.size() > max_divisions || quotients.size() > max_divisions) return no_id;
  bool changed = false;
  for (const Divided& m : mods)
    for (const Divided& q : quotients)
      for (std::size_t i = 0; i < s->size(); ++i) {
        const Term& t = (*s)[i];
        if (std::ranges::find(t.atoms, m.atom) == t.atoms.end()) continue;
        const auto y = remainder_through(c.g, m, q);
        if (!y) break;
        const Term k = without(t, m.atom);
        const auto part = times(c.g, Sum{with(c.g, k, q.atom)}, m.d), ky = times(c.g, Sum{k}, *y);
        const Id context[] = {n};
        if (!part || !ky || !contains(*s, *part)) continue;
        if (!constant_of(m.d) && !Prover(c.g, c.bounds, context).lt({}, m.d)) continue;
        auto next = plus(c.g, *s, *part, -1);
        if (next) next = plus(c.g, *next, Sum{t}, -1);
        if (next) next = plus(c.g, *next, *ky);
        if (!next) continue;
        s = next;
        changed = true;
        break;
      }
  return changed ? node_of(c.g, *s) : no_id;
}

// x with low = x % a and high = (x // a) % b; nullopt when there is none.
std::optional<Sum> dividend(RewriteContext& c, const Divided& low, const Divided& high) {
  const Id quotient = make(c.g, Op::FLOORDIV, c.g.src(low.atom, 0), c.g.src(low.atom, 1));
  if (high.x == Sum{{1, {quotient}}}) return low.x;
  for (Lifted& l : lifted(c.g, high.x)) {
    const auto diff = constant_of(low.d) == l.a ? plus(c.g, l.x, low.x, -1) : std::nullopt;
    if (diff && divides(l.a, *diff)) return std::move(l.x);
  }
  return std::nullopt;
}

// k*(x % a) + k*a*((x // a) % b) = k*(x % (a*b)) for a, b > 0
Id join_mods(RewriteContext& c, Id n) {
  constexpr std::size_t max_divisions = 16;
  if (!is_index(c.g, n)) return no_id;
  const auto s = sum_of(c.g, n);
  if (!s) return no_id;
  const auto mods = divisions_in(c.g, *s, Op::FLOORMOD);
  if (mods.size() < 2 || mods.size() > max_divisions) return no_id;
  for (const Divided& low : mods)
    for (const Divided& high : mods) {
      const auto x = dividend(c, low, high);
      if (!x) continue;
      const auto ab = times(c.g, low.d, high.d);
      Prover proof = prover(c, n);
      if (!ab || !proof.lt({}, low.d) || !proof.lt({}, high.d)) continue;
      for (const Term& t : *s) {
        if (std::ranges::find(t.atoms, low.atom) == t.atoms.end()) continue;
        const Term k = without(t, low.atom);
        const auto part = times(c.g, Sum{with(c.g, k, high.atom)}, low.d);
        if (!part || !contains(*s, *part)) continue;
        auto next = plus(c.g, *s, Sum{t}, -1);
        if (next) next = plus(c.g, *next, *part, -1);
        const Id joined = make(c.g, Op::FLOORMOD, node_of(c.g, *x), node_of(c.g, *ab));
        if (next) return make(c.g, Op::ADD, node_of(c.g, *next), make(c.g, Op::MUL, joined, node_of(c.g, Sum{k})));
      }
    }
  return no_id;
}

constexpr Rule rules[] = {
    {"div-in-range", Op::FLOORDIV, in_range},
    {"mod-in-range", Op::FLOORMOD, in_range},
    {"div-common-factor", Op::FLOORDIV, common_factor},
    {"mod-common-factor", Op::FLOORMOD, common_factor},
    {"div-exact-part", Op::FLOORDIV, exact_part},
    {"mod-exact-part", Op::FLOORMOD, exact_part},
    {"div-nested-factor", Op::FLOORDIV, nested_factor},
    {"mod-nested-factor", Op::FLOORMOD, nested_factor},
    {"div-of-div-symbolic", Op::FLOORDIV, div_of_div},
    {"mod-of-mod-symbolic", Op::FLOORMOD, mod_of_mod},
    {"div-mod-recombine", Op::ADD, recombine},
    {"mod-mod-join", Op::ADD, join_mods},
};

}  // namespace

std::span<const Rule> divmod_symbolic_rules() { return rules; }

}  // namespace kiln::compiler::symbolic
