#include <cstdlib>
#include <numeric>

#include "compiler/symbolic/rules.h"

namespace kiln::compiler::symbolic {
namespace {

Id fold_by_bounds(RewriteContext& c, Id n) {
  if (!is_index(c.g, n)) return no_id;
  const Interval i = c.bounds(n);
  return i.single() ? c.g.index(i.min) : no_id;
}

// x // 1 = x; x // -d = -x // d; x % -d = -(-x % d)
Id simple_divisor(RewriteContext& c, Id n) {
  const auto d = index_constant(c.g, c.g.src(n, 1));
  if (!d || *d > 1 || *d < -unbounded) return no_id;
  const Id x = c.g.src(n, 0), minus = c.g.index(-1);
  const bool division = c.g.op(n) == Op::FLOORDIV;
  if (*d == 0) return c.g.index(0);
  if (*d == 1) return division ? x : c.g.index(0);
  const Id m = make(c.g, c.g.op(n), make(c.g, Op::MUL, x, minus), c.g.index(-*d));
  return division ? m : make(c.g, Op::MUL, m, minus);
}

// Numerator and constant divisor > 1 of an index division.
struct Division {
  Sum x;
  std::int64_t d = 0;
  bool by_constant = false;
};
Division division(RewriteContext& c, Id n) {
  Division r;
  const auto d = index_constant(c.g, c.g.src(n, 1));
  if (!is_index(c.g, n) || !d || *d < 2 || *d > unbounded) return r;
  auto x = sum_of(c.g, c.g.src(n, 0));
  if (!x) return r;
  return {*std::move(x), *d, true};
}

Id divided(RewriteContext& c, const Sum& x, std::int64_t d) { return make(c.g, Op::FLOORDIV, node_of(c.g, x), c.g.index(d)); }
Id remainder(RewriteContext& c, const Sum& x, std::int64_t d) { return make(c.g, Op::FLOORMOD, node_of(c.g, x), c.g.index(d)); }

// x = d*quotient + rest: coefficients of the rest are within (-d, d) and keep their sign, its constant is in [0, d).
struct Parts {
  Sum quotient, rest;
};
Parts split(const Sum& x, std::int64_t d) {
  Parts p;
  for (const Term& t : x) {
    const std::int64_t q = t.atoms.empty() ? floor_div(t.coefficient, d) : t.coefficient / d;
    const std::int64_t r = t.coefficient - q * d;
    if (q != 0) p.quotient.push_back({q, t.atoms});
    if (r != 0) p.rest.push_back({r, t.atoms});
  }
  return p;
}

// (a*d + b) // d = a + b // d
Id div_multiples(RewriteContext& c, Id n) {
  const Division v = division(c, n);
  if (!v.by_constant) return no_id;
  const Parts p = split(v.x, v.d);
  if (p.quotient.empty()) return no_id;
  if (p.rest.empty()) return node_of(c.g, p.quotient);
  return make(c.g, Op::ADD, node_of(c.g, p.quotient), divided(c, p.rest, v.d));
}
// (a*d + b) % d = b % d
Id mod_multiples(RewriteContext& c, Id n) {
  const Division v = division(c, n);
  if (!v.by_constant) return no_id;
  const Parts p = split(v.x, v.d);
  return p.quotient.empty() ? no_id : remainder(c, p.rest, v.d);
}

// Each coefficient replaced by its smallest residue; when the sum then stays between two multiples of d, the quotient is known.
struct Window {
  Sum residue, quotient;  // x = d*quotient + residue, 0 <= residue < d
  bool found = false;
};
Window window(RewriteContext& c, const Division& v) {
  Window w;
  for (const bool smallest : {false, true}) {
    w.residue.clear();
    w.quotient.clear();
    for (const Term& t : v.x) {
      std::int64_t r = t.atoms.empty() ? floor_mod(t.coefficient, v.d) : t.coefficient % v.d;
      if (smallest && !t.atoms.empty() && std::abs(r) > v.d / 2) r -= r > 0 ? v.d : -v.d;
      if (r != 0) w.residue.push_back({r, t.atoms});
      if (r != t.coefficient) w.quotient.push_back({(t.coefficient - r) / v.d, t.atoms});
    }
    const Interval i = interval_of(c.bounds, w.residue);
    if (i.min == -unbounded || i.max == unbounded || floor_div(i.min, v.d) != floor_div(i.max, v.d)) continue;
    const std::int64_t k = floor_div(i.min, v.d);
    const auto residue = plus(c.g, w.residue, constant_sum(k * v.d), -1);
    const auto quotient = plus(c.g, w.quotient, constant_sum(k));
    if (!residue || !quotient) continue;
    return {*residue, *quotient, true};
  }
  return w;
}
Id div_window(RewriteContext& c, Id n) {
  const Division v = division(c, n);
  if (!v.by_constant) return no_id;
  const Window w = window(c, v);
  return w.found ? node_of(c.g, w.quotient) : no_id;
}
Id mod_window(RewriteContext& c, Id n) {
  const Division v = division(c, n);
  if (!v.by_constant) return no_id;
  const Window w = window(c, v);
  return w.found ? node_of(c.g, w.residue) : no_id;
}

// x = g*a + b with g > 1 dividing d and 0 <= b < g: x // d = a // (d/g), x % d = g*(a % (d/g)) + b.
struct Nest {
  Sum a, b;
  std::int64_t g = 0;
};
Nest nest(RewriteContext& c, const Division& v) {
  Nest best;
  for (const Term& lead : v.x) {
    const std::int64_t g = std::gcd(lead.coefficient, v.d);
    if (lead.atoms.empty() || g <= 1 || g <= best.g) continue;
    Sum a, b;
    for (const Term& t : v.x) {
      const std::int64_t r = t.atoms.empty() ? floor_mod(t.coefficient, g) : t.coefficient % g == 0 ? 0 : t.coefficient;
      if (r != 0) b.push_back({r, t.atoms});
      if (r != t.coefficient) a.push_back({(t.coefficient - r) / g, t.atoms});
    }
    const Interval i = interval_of(c.bounds, b);
    if (i.min == -unbounded || i.max == unbounded || floor_div(i.min, g) != floor_div(i.max, g)) continue;
    const std::int64_t k = floor_div(i.min, g);
    auto high = plus(c.g, a, constant_sum(k));
    auto lowest = plus(c.g, b, constant_sum(k * g), -1);
    if (high && lowest) best = {*std::move(high), *std::move(lowest), g};
  }
  return best;
}
Id div_nest(RewriteContext& c, Id n) {
  const Division v = division(c, n);
  if (!v.by_constant) return no_id;
  const Nest m = nest(c, v);
  return m.g == 0 ? no_id : divided(c, m.a, v.d / m.g);
}
Id mod_nest(RewriteContext& c, Id n) {
  const Division v = division(c, n);
  if (!v.by_constant) return no_id;
  const Nest m = nest(c, v);
  if (m.g == 0) return no_id;
  return make(c.g, Op::ADD, make(c.g, Op::MUL, remainder(c, m.a, v.d / m.g), c.g.index(m.g)), node_of(c.g, m.b));
}

// (x // a + k) // d = (x + a*k) // (a*d), for a != 0; a may be any expression when k is 0
Id div_of_div(RewriteContext& c, Id n) {
  const Division v = division(c, n);
  if (!v.by_constant || v.x.empty() || v.x.size() > 2) return no_id;
  const Term& t = v.x.front();
  if (t.coefficient != 1 || t.atoms.size() != 1 || c.g.op(t.atoms[0]) != Op::FLOORDIV) return no_id;
  const std::int64_t k = constant_term(v.x);
  if ((v.x.size() == 2) != (k != 0)) return no_id;
  const Id x = c.g.src(t.atoms[0], 0), a = c.g.src(t.atoms[0], 1);
  if (k != 0 && index_constant(c.g, a).value_or(0) == 0) return no_id;
  std::int64_t checked = 0;
  const auto ca = index_constant(c.g, a);
  if (ca && (__builtin_mul_overflow(*ca, v.d, &checked) || __builtin_mul_overflow(*ca, k, &checked))) return no_id;
  const Id shifted = k == 0 ? x : make(c.g, Op::ADD, x, make(c.g, Op::MUL, a, c.g.index(k)));
  return make(c.g, Op::FLOORDIV, shifted, make(c.g, Op::MUL, a, c.g.index(v.d)));
}

// (x % (k*d)) // d = (x // d) % k
Id div_of_mod(RewriteContext& c, Id n) {
  const Division v = division(c, n);
  if (!v.by_constant || v.x.size() != 1) return no_id;
  const Term& t = v.x.front();
  if (t.coefficient != 1 || t.atoms.size() != 1 || c.g.op(t.atoms[0]) != Op::FLOORMOD) return no_id;
  const auto m = index_constant(c.g, c.g.src(t.atoms[0], 1));
  if (!m || *m <= 0 || *m % v.d != 0) return no_id;
  return make(c.g, Op::FLOORMOD, make(c.g, Op::FLOORDIV, c.g.src(t.atoms[0], 0), c.g.index(v.d)), c.g.index(*m / v.d));
}

// (f*(u % m) + r) % d = (f*u + r) % d when d divides f*m
Id mod_of_mod(RewriteContext& c, Id n) {
  const Division v = division(c, n);
  if (!v.by_constant) return no_id;
  Sum x;
  bool found = false;
  for (const Term& t : v.x) {
    x.push_back(t);
    if (t.atoms.size() != 1 || c.g.op(t.atoms[0]) != Op::FLOORMOD) continue;
    const auto m = index_constant(c.g, c.g.src(t.atoms[0], 1));
    std::int64_t fm = 0;
    if (!m || *m == 0 || __builtin_mul_overflow(t.coefficient, *m, &fm) || fm % v.d != 0) continue;
    auto u = sum_of(c.g, c.g.src(t.atoms[0], 0));
    if (u) u = scaled(*std::move(u), t.coefficient);
    if (!u) continue;
    x.pop_back();
    x.insert(x.end(), u->begin(), u->end());
    found = true;
  }
  return found && normalise(c.g, x) ? remainder(c, x, v.d) : no_id;
}

constexpr Rule rules[] = {
    {"div-bounds", Op::FLOORDIV, fold_by_bounds},
    {"mod-bounds", Op::FLOORMOD, fold_by_bounds},
    {"div-simple-divisor", Op::FLOORDIV, simple_divisor},
    {"mod-simple-divisor", Op::FLOORMOD, simple_divisor},
    {"mod-of-mod", Op::FLOORMOD, mod_of_mod},
    {"div-multiples", Op::FLOORDIV, div_multiples},
    {"mod-multiples", Op::FLOORMOD, mod_multiples},
    {"div-window", Op::FLOORDIV, div_window},
    {"mod-window", Op::FLOORMOD, mod_window},
    {"div-nest", Op::FLOORDIV, div_nest},
    {"mod-nest", Op::FLOORMOD, mod_nest},
    {"div-of-div", Op::FLOORDIV, div_of_div},
    {"div-of-mod", Op::FLOORDIV, div_of_mod},
};

}  // namespace

std::span<const Rule> divmod_rules() { return rules; }

}  // namespace kiln::compiler::symbolic
