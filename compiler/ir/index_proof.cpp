#include "compiler/ir/index_proof.h"

#include <algorithm>

#include "compiler/index/floor_div.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/index_multiples.h"

namespace kiln::compiler {
namespace {

constexpr std::size_t max_terms = 4096;    // terms of a polynomial whose atoms start at 0
constexpr std::size_t max_searched = 128;  // terms of a polynomial whose atoms are replaced
constexpr int max_depth = 12, max_polynomials = 256, max_nesting = 16;

std::vector<Id> atoms_of(const Poly& p) {
  std::vector<Id> out;
  for (const Monomial& m : p)
    for (const Id a : m.atoms)
      if (std::ranges::find(out, a) == out.end()) out.push_back(a);
  return out;
}

}  // namespace

bool IndexProof::nonnegative(const Poly& p) {
  budget_ = max_polynomials;
  try {
    const auto units = in_units(g_, p);
    return units && ge0(*units, max_depth);
  } catch (const Diagnostic&) {  // E-overflow
    return false;
  }
}

const SymbolFacts& IndexProof::facts_of(Id symbol) const {
  static const SymbolFacts unlisted{};
  const auto f = std::ranges::find(facts_, g_.name(symbol), &SymbolFacts::name);
  return f == facts_.end() ? unlisted : *f;
}

Poly IndexProof::source(Id atom, std::size_t i) const {
  const Id id = g_.src(atom, i);
  return in_units(g_, poly_of(g_, id)).value_or(Poly{{1, {id}}});
}

// The least known value of an atom.
std::optional<std::int64_t> IndexProof::least(Id atom) {
  if (const auto it = least_.find(atom); it != least_.end()) return it->second;
  if (nesting_ == max_nesting) return std::nullopt;
  ++nesting_;
  const auto v = derived_least(atom);
  --nesting_;
  least_[atom] = v;
  return v;
}

std::optional<std::int64_t> IndexProof::derived_least(Id atom) {
  const Op op = g_.op(atom);
  if (op == Op::SYM) return -floor_div(-facts_of(atom).min, g_.multiple_of(atom));  // rounded up
  if (!is_extent_operation(op)) return std::nullopt;
  const auto divisor = index_value(g_, g_.src(atom, 1));
  const auto x = op == Op::FLOORMOD ? std::nullopt : least(source(atom, 0));
  switch (op) {
    case Op::FLOORDIV:
      if (!x) return std::nullopt;
      if (divisor) return *divisor > 0 ? std::optional(floor_div(*x, *divisor)) : std::nullopt;
      return *x >= 0 && ge0(source(atom, 1), 1) ? std::optional<std::int64_t>(0) : std::nullopt;
    case Op::FLOORMOD: return ge0(source(atom, 1), 1) ? std::optional<std::int64_t>(0) : std::nullopt;
    default: {
      const auto y = least(source(atom, 1));
      if (op == Op::MAX && (!x || !y)) return x ? x : y;
      return x && y ? std::optional(op == Op::MIN ? std::min(*x, *y) : std::max(*x, *y)) : std::nullopt;
    }
  }
}

std::optional<std::int64_t> IndexProof::least(const Poly& p) {
  const auto q = shifted(p);
  if (q && std::ranges::all_of(*q, [](const Monomial& m) { return m.atoms.empty() || m.coefficient > 0; }))
    return constant_term(*q);
  Poly varying = p;
  if (constant_term(p) != 0) varying.pop_back();
  if (ge0(varying, 2)) return constant_term(p);
  return ge0(p, 2) ? std::optional<std::int64_t>(0) : std::nullopt;
}

// p with each atom replaced by itself plus its least value. nullopt: an atom has no known least value, or there are too many
// terms.
std::optional<Poly> IndexProof::shifted(const Poly& p) {
  Poly out;
  for (const Monomial& m : p) {
    Poly product{{m.coefficient, {}}};
    for (const Id a : m.atoms) {
      const auto low = least(a);
      if (!low) return std::nullopt;
      product = mul_poly(g_, product, *low == 0 ? Poly{{1, {a}}} : Poly{{1, {a}}, {*low, {}}});
      if (product.size() + out.size() > max_terms) return std::nullopt;
    }
    out.insert(out.end(), product.begin(), product.end());
  }
  return normalise_poly(g_, std::move(out));
}

bool IndexProof::starts_at_0(const Poly& p) {
  const auto q = shifted(p);
  return q && std::ranges::all_of(*q, [](const Monomial& m) { return m.coefficient > 0; });
}

bool IndexProof::ge0(const Poly& p, int depth) {
  if (starts_at_0(p)) return true;
  if (depth == 0 || p.size() > max_searched || --budget_ < 0) return false;
  for (const Id a : atoms_of(p)) {
    const auto [factor, rest, square] = split_at(p, a);
    const bool lower = ge0(factor, depth - 1);  // then the atom's least value makes p smallest
    if (lower && least(a).value_or(-1) >= 0 && ge0(rest, depth - 1)) return true;
    if (square || (!lower && !ge0(scale_poly(g_, factor, -1), depth - 1))) continue;
    if (replaced(a, factor, rest, lower, depth - 1)) return true;
  }
  return false;
}

// Proves p = factor * atom + rest >= 0 with `value` for scale * atom. Requires: scale > 0, and p does not grow by the
// replacement.
bool IndexProof::proven_with(const Poly& factor, const Poly& value, const Poly& rest, std::int64_t scale, int depth) {
  return ge0(add_poly(g_, scale_poly(g_, rest, scale), mul_poly(g_, factor, value)), depth);
}

bool IndexProof::replaced(Id a, const Poly& factor, const Poly& rest, bool lower, int depth) {
  const auto with = [&](const Poly& value) { return proven_with(factor, value, rest, 1, depth); };
  switch (const Op op = g_.op(a)) {
    case Op::SYM: {
      const std::int64_t most = facts_of(a).max;
      return !lower && most != SymbolFacts{}.max && with(constant_sum(floor_div(most, g_.multiple_of(a))));
    }
    case Op::MIN:
    case Op::MAX: {
      const Poly x = source(a, 0), y = source(a, 1);
      const bool either_will_do = lower == (op == Op::MAX);
      return either_will_do ? with(x) || with(y) : with(x) && with(y);
    }
    case Op::FLOORDIV: return replaced_quotient(a, factor, rest, lower, depth);
    case Op::FLOORMOD: return !lower && replaced_remainder(a, factor, rest, depth);
    default: return false;
  }
}

// A quotient q = x // c with a constant c > 0: c * q is in x - (c - 1) .. x. With a divisor >= 0 that is no constant, and x >=
// 0: q <= x.
bool IndexProof::replaced_quotient(Id a, const Poly& factor, const Poly& rest, bool lower, int depth) {
  const Poly x = source(a, 0), d = source(a, 1);
  if (const auto c = index_value(g_, g_.src(a, 1)))
    return *c > 0 && proven_with(factor, lower ? add_poly(g_, x, constant_sum(1 - *c)) : x, rest, *c, depth);
  return !lower && ge0(d, 1) && ge0(x, 1) && proven_with(factor, x, rest, 1, depth);
}

// A remainder r = x % d: r <= d for d >= 0 (r is 0 if d is 0), r <= d - 1 for d >= 1, and r <= x for x >= 0.
bool IndexProof::replaced_remainder(Id a, const Poly& factor, const Poly& rest, int depth) {
  const Poly x = source(a, 0), d = source(a, 1), last = add_poly(g_, d, constant_sum(-1));
  if (!ge0(d, 1)) return false;
  return proven_with(factor, ge0(last, 1) ? last : d, rest, 1, depth) || (ge0(x, 1) && proven_with(factor, x, rest, 1, depth));
}

}  // namespace kiln::compiler
