// Rules for floor division and remainder. c, d, e, g, m are divisors or factors; q, s, a, b are parts of the numerator.
#include "compiler/index/floor_div.h"
#include "compiler/symbolic/find.h"

namespace kiln::compiler::symbolic {
namespace {

// x = c*quotient + rest. Coefficients of the rest are in (-c, c) and have the sign that they had in x; its constant is in [0,
// c).
struct Parts {
  Poly quotient, rest;
};
Parts split(const Poly& x, std::int64_t c) {
  Parts p;
  for (const Monomial& t : x) {
    const std::int64_t q = t.atoms.empty() ? floor_div(t.coefficient, c) : t.coefficient / c;
    const std::int64_t r = t.coefficient - q * c;
    if (q != 0) p.quotient.push_back({q, t.atoms});
    if (r != 0) p.rest.push_back({r, t.atoms});
  }
  return p;
}

// Polynomial long division. Terms that d's leading term does not divide stay in the rest, so the rest may be x.
Parts long_division(const Graph& g, const Poly& x, const Poly& d) {
  constexpr int max_steps = 64;
  Parts p{{}, x};
  std::size_t from = 0;
  for (int step = 0; step < max_steps && from < p.rest.size(); ++step) {
    Monomial q;
    while (from < p.rest.size() && !divide_term(g, p.rest[from], d.front(), q)) ++from;
    if (from == p.rest.size()) break;
    const auto part = times(g, Poly{q}, d);
    auto less = part ? plus(g, p.rest, *part, -1) : std::nullopt;
    if (!less) break;
    p.rest = *std::move(less);
    p.quotient.push_back(q);
  }
  normalise(g, p.quotient);
  return p;
}

Parts parts(RewriteContext& c, const Division& v) { return v.by != 0 ? split(*v.x, v.by) : long_division(c.g, *v.x, *v.d); }

std::int64_t residue(const Monomial& t, std::int64_t by, bool smallest) {
  if (t.atoms.empty()) return floor_mod(t.coefficient, by);
  const std::int64_t r = t.coefficient % by;
  return smallest && (r > by / 2 || r < -(by / 2)) ? r - (r > 0 ? by : -by) : r;
}

// Replaces each coefficient by its residue. The quotient k is known if the sum then stays between two neighbouring multiples of
// d.
bool residues(RewriteContext& c, const Division& v, bool smallest, Parts& p, std::int64_t& k) {
  Interval i{0, 0};
  for (const Monomial& t : *v.x)
    if (const std::int64_t r = residue(t, v.by, smallest); r != 0) i = add(i, interval_of(c.bounds, t, r));
  if (i.min == -unbounded || i.max == unbounded || floor_div(i.min, v.by) != floor_div(i.max, v.by)) return false;
  k = floor_div(i.min, v.by);
  p = {};
  for (const Monomial& t : *v.x) {
    const std::int64_t r = residue(t, v.by, smallest);
    if (r != 0) p.rest.push_back({r, t.atoms});
    std::int64_t whole = 0;
    if (__builtin_sub_overflow(t.coefficient, r, &whole)) return false;
    if (whole != 0) p.quotient.push_back({whole / v.by, t.atoms});
  }
  return true;
}

// The quotient of the rest by d if it is the same at all sample points. nullopt: it differs, or d is not positive.
std::optional<std::int64_t> quotient_at_points(RewriteContext& c, Id n, const Division& v, const Poly& rest) {
  Samples& samples = c.samples();
  const Samples::Values x = samples.of(rest), &d = samples.at(v.divisor);
  const unsigned where = samples.around(n) & x.known & d.known;
  std::optional<std::int64_t> k;
  for (std::size_t i = 0; i < Samples::points; ++i) {
    if ((where >> i & 1) == 0) continue;
    const std::int64_t q = floor_div(x.value[i], d.value[i]);
    if (d.value[i] < 1 || (k && *k != q)) return std::nullopt;
    k = q;
  }
  return k.value_or(0);
}

bool find_in_range(RewriteContext& c, Id n, Match& m) {
  const Division v = division(c, n);
  if (!v) return false;
  Parts p;
  std::int64_t k = 0;
  if (v.by == 0 || !(residues(c, v, false, p, k) || residues(c, v, true, p, k))) {
    p = parts(c, v);
    const auto only = quotient_at_points(c, n, v, p.rest);
    if (!only) return false;
    k = *only;
  }
  return m.bind({v.divisor, c.node(p.quotient), c.node(p.rest), c.g.index(k)});
}

bool find_multiples(RewriteContext& c, Id n, Match& m) {
  const Division v = division(c, n);
  if (!v) return false;
  const Parts p = parts(c, v);
  return !p.quotient.empty() && m.bind({v.divisor, c.node(p.quotient), c.node(p.rest)});
}

// Finds terms that are multiples of d by the bounds of their atoms.
bool find_known_multiples(RewriteContext& c, Id n, Match& m) {
  const Division v = division(c, n);
  if (!v || v.by == 0) return false;
  Poly p, s;
  for (const Monomial& t : *v.x) {
    bool multiple = false;
    for (Id a : t.atoms)
      multiple = multiple || (c.bounds.residue(a).stride % v.by == 0 && c.bounds.residue(a).offset % v.by == 0);
    (multiple ? p : s).push_back(t);
  }
  return !p.empty() && !s.empty() && m.bind({c.node(p), c.node(s), v.divisor});
}

// Finds x = g*a + b with g > 1 dividing d and 0 <= b < g, after a multiple of g is moved from b to a. In a quotient, where b
// disappears, a term of b may also move its nearest multiple of g to a.
bool nest_constant(RewriteContext& c, const Division& v, Match& m, bool nearest) {
  std::int64_t best = 0;
  for (const Monomial& lead : *v.x) {
    const std::int64_t g = std::gcd(lead.coefficient, v.by);
    if (lead.atoms.empty() || g <= 1 || g <= best) continue;
    Poly a, b;
    for (const Monomial& t : *v.x) {
      const std::int64_t r = t.atoms.empty() || nearest ? residue(t, g, true) : t.coefficient % g == 0 ? 0 : t.coefficient;
      if (r != 0) b.push_back({r, t.atoms});
      if (r != t.coefficient) a.push_back({(t.coefficient - r) / g, t.atoms});
    }
    const Interval i = interval_of(c.bounds, b);
    if (i.min == -unbounded || i.max == unbounded || floor_div(i.min, g) != floor_div(i.max, g)) continue;
    const std::int64_t k = floor_div(i.min, g);
    const auto high = plus(c.g, a, constant_sum(k)), low = plus(c.g, b, constant_sum(k * g), -1);
    if (!high || !low) continue;
    best = g;
    m.bind({c.g.index(g), c.node(*high), c.node(*low), c.g.index(v.by / g)});
  }
  return best != 0;
}

bool nest_symbolic(RewriteContext& c, Id n, const Division& v, Match& m) {
  if (v.d->size() != 1 || v.d->front().atoms.empty() || v.x->size() < 2) return false;
  for (const Monomial& lead : *v.x) {
    Monomial g = common(c.g, Poly{lead}, v.d->front());
    if (g.coefficient < 0) g.coefficient = -g.coefficient;
    if (lead.atoms.empty() || is_one(g) || g == v.d->front()) continue;
    Poly a, b;
    for (const Monomial& t : *v.x) {
      Monomial q;
      if (divide_term(c.g, t, g, q))
        a.push_back(std::move(q));
      else
        b.push_back(t);
    }
    if (b.empty() || !normalise(c.g, a) || !c.prover(n).in_range(b, Poly{g})) continue;
    return m.bind({c.node(Poly{g}), c.node(a), c.node(b), c.node(divided_by(c.g, *v.d, g))});
  }
  return false;
}

bool find_nest(RewriteContext& c, Id n, Match& m) {
  const Division v = division(c, n);
  if (!v || v.by == 0) return v && nest_symbolic(c, n, v, m);
  return nest_constant(c, v, m, false) || (c.g.op(n) == Op::FLOORDIV && nest_constant(c, v, m, true));
}

bool find_common_factor(RewriteContext& c, Id n, Match& m) {
  const Division v = division(c, n);
  if (!v || v.x->empty()) return false;
  Monomial g = common(c.g, *v.d, common(c.g, *v.x, v.d->front()));
  if (g.coefficient < 0) g.coefficient = -g.coefficient;
  if (is_one(g)) return false;
  if (!g.atoms.empty() && c.g.op(n) == Op::FLOORDIV && !c.prover(n).gt0(Poly{{1, g.atoms}})) g.atoms.clear();
  if (is_one(g)) return false;
  return m.bind({c.node(Poly{g}), c.node(divided_by(c.g, *v.x, g)), c.node(divided_by(c.g, *v.d, g))});
}

bool fits_product(const Graph& g, Id a, Id b) {
  const auto x = index_constant(g, a), y = index_constant(g, b);
  std::int64_t product = 0;
  return !x || !y || (!__builtin_mul_overflow(*x, *y, &product) && product <= unbounded && product >= -unbounded);
}

bool find_div_of_div(RewriteContext& c, Id n, Match& m) {
  const auto [q, d] = c.g.operands<2>(n);
  if (!is_index(c.g, n) || c.g.op(q) != Op::FLOORDIV) return false;
  const auto [x, a] = c.g.operands<2>(q);
  return fits_product(c.g, a, d) && m.bind({x, a, d});
}

// Finds a numerator that is one quotient by a constant, plus a constant.
bool find_div_of_shifted_div(RewriteContext& c, Id n, Match& m) {
  const Division v = division(c, n);
  if (!v || v.by == 0 || v.x->size() != 2) return false;
  const Monomial& t = v.x->front();
  const std::int64_t k = constant_term(*v.x);
  if (t.coefficient != 1 || t.atoms.size() != 1 || c.g.op(t.atoms[0]) != Op::FLOORDIV || k == 0) return false;
  const auto [x, a] = c.g.operands<2>(t.atoms[0]);
  const Id shift = c.g.index(k);
  if (!index_constant(c.g, a) || !fits_product(c.g, a, v.divisor) || !fits_product(c.g, a, shift)) return false;
  return m.bind({x, a, shift, v.divisor});
}

bool find_div_of_mod(RewriteContext& c, Id n, Match& m) {
  const auto [r, d] = c.g.operands<2>(n);
  if (!is_index(c.g, n) || c.g.op(r) != Op::FLOORMOD) return false;
  const auto [x, modulus] = c.g.operands<2>(r);
  const Poly *whole = c.sum(modulus), *by = c.sum(d);
  Monomial k;
  if (whole == nullptr || by == nullptr || whole->size() != 1 || by->size() != 1) return false;
  return divide_term(c.g, whole->front(), by->front(), k) && m.bind({x, c.node(Poly{k}), d});
}

// Finds a term f*(u % m) for which f*m is a multiple of d.
bool find_mod_of_mod(RewriteContext& c, Id n, Match& m) {
  const Division v = division(c, n);
  if (!v) return false;
  for (const Monomial& term : *v.x)
    for (Id a : term.atoms) {
      if (c.g.op(a) != Op::FLOORMOD) continue;
      const Monomial f = without(term, a);
      const auto [u, modulus] = c.g.operands<2>(a);
      const Poly* by = c.sum(modulus);
      const auto fm = by != nullptr ? times(c.g, Poly{f}, *by) : std::nullopt;
      if (!fm || fm->empty()) continue;
      const Parts p = v.by != 0 ? split(*fm, v.by) : long_division(c.g, *fm, *v.d);
      const auto rest = plus(c.g, *v.x, Poly{term}, -1);
      if (!p.rest.empty() || !rest) continue;
      return m.bind({c.node(Poly{f}), u, modulus, c.node(*rest), v.divisor, c.node(p.quotient)});
    }
  return false;
}

// Finds a numerator whose only variable part is one atom with two values.
bool find_two_values(RewriteContext& c, Id n, Match& m) {
  const Division v = division(c, n);
  if (!v || v.by == 0 || v.x->empty() || v.x->size() > 2 || v.x->front().atoms.size() != 1) return false;
  if (v.x->size() == 2 && !v.x->back().atoms.empty()) return false;
  const Id a = v.x->front().atoms[0];
  const Interval i = c.bounds(a);
  if (i.min == -unbounded || i.max != i.min + 1) return false;
  return m.bind({c.g.index(v.x->front().coefficient), a, c.g.index(constant_term(*v.x)), v.divisor, c.g.index(i.min)});
}

bool find_small_constant(RewriteContext& c, Id n, Match& m) {
  const Division v = division(c, n);
  const std::int64_t k = v ? constant_term(*v.x) : 0;
  if (k == 0 || v.by == 0 || v.x->size() < 2) return false;
  const Poly x(v.x->begin(), v.x->end() - 1);
  return m.bind({c.node(x), c.g.index(k), v.divisor});
}

// Requires a negative leading coefficient, so that the rule applies in one direction only. Contradictory facts (a loop that
// never runs) could prove both signs.
bool find_negative(RewriteContext& c, Id n, Match& m) {
  const auto [x, divisor] = c.g.operands<2>(n);
  const Poly* d = is_index(c.g, n) ? c.sum(divisor) : nullptr;
  return d != nullptr && !d->empty() && d->front().coefficient < 0 && m.bind({x, divisor});
}

constexpr Rule divmod_table[] = {
    {"div-by-0", "x // 0", "", "0"},
    {"mod-by-0", "x % 0", "", "0"},
    {"div-by-1", "x // 1", "", "x"},
    {"mod-by-1", "x % 1", "", "0"},
    {"div-of-0", "0 // d", "", "0"},
    {"mod-of-0", "0 % d", "", "0"},
    {"div-by-negative", "x // d", "d < 0", "-x // -d", find_negative},
    {"mod-by-negative", "x % d", "d < 0", "-(-x % -d)", find_negative},
    {"mod-twice", "x % d % d", "", "x % d"},
    {"mod-of-mod", "(f * (u % m) + r) % d", "m != 0 and f * m == d * t", "(f * u + r) % d", find_mod_of_mod},
    {"div-in-range", "(c * q + s) // c", "k * c <= s and s < k * c + c", "q + k", find_in_range},
    {"mod-in-range", "(c * q + s) % c", "k * c <= s and s < k * c + c", "s - k * c", find_in_range},
    {"div-two-values", "(f * v + b) // d", "m <= v and v <= m + 1",
     "((f * m + f + b) // d - (f * m + b) // d) * (v - m) + (f * m + b) // d", find_two_values},
    {"mod-two-values", "(f * v + b) % d", "m <= v and v <= m + 1",
     "((f * m + f + b) % d - (f * m + b) % d) * (v - m) + (f * m + b) % d", find_two_values},
    {"div-multiples", "(c * q + s) // c", "c != 0", "q + s // c", find_multiples},
    {"mod-multiples", "(c * q + s) % c", "", "s % c", find_multiples},
    {"div-known-multiples", "(p + s) // c", "p % c == 0", "p // c + s // c", find_known_multiples},
    {"mod-known-multiples", "(p + s) % c", "p % c == 0", "s % c", find_known_multiples},
    {"div-nest", "(g * a + b) // (g * e)", "0 <= b and b < g and e >= 0", "a // e", find_nest},
    {"mod-nest", "(g * a + b) % (g * e)", "0 <= b and b < g and e > 0", "g * (a % e) + b", find_nest},
    {"div-common-factor", "(g * x) // (g * y)", "g != 0", "x // y", find_common_factor},
    {"mod-common-factor", "(g * x) % (g * y)", "", "g * (x % y)", find_common_factor},
    {"div-of-div", "x // a // d", "d >= 0", "x // (a * d)", find_div_of_div},
    {"div-of-shifted-div", "(x // a + k) // d", "a != 0 and d >= 0", "(x + a * k) // (a * d)", find_div_of_shifted_div},
    {"div-of-mod", "(x % (k * d)) // d", "k >= 0", "(x // d) % k", find_div_of_mod},
    {"div-small-constant", "(x + k) // d", "0 <= k and x % d + k < d", "x // d", find_small_constant},
};

}  // namespace

std::span<const Rule> divmod_rules() { return divmod_table; }

}  // namespace kiln::compiler::symbolic
