#include "compiler/ir/index_multiples.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/ir/index_poly.h"

namespace kiln::compiler {
namespace {

// A symbol that is a multiple, divided exactly. no_id: the atom is anything else.
struct Part {
  Id symbol = no_id;
  std::int64_t divisor = 1;
  bool operator==(const Part&) const = default;
};

Part part_of(const Graph& g, Id atom) {
  if (g.multiple_of(atom) > 1) return {atom, 1};
  if (g.op(atom) != Op::FLOORDIV || g.dtype(atom) != DType::index) return {};
  const auto [a, b] = g.operands<2>(atom);
  const auto d = index_value(g, b);
  if (g.multiple_of(a) == 1 || !d || *d < 2 || g.multiple_of(a) % *d != 0) return {};
  return {a, *d};
}

auto less(const Graph& g) {
  return [&g](Id a, Id b) { return index_atom_less(g, a, b); };
}

// The divisors that the units of a term end with, in the order of its atoms. The rest of the coefficient stays in `m`.
std::vector<Part> parts_of_units(const Graph& g, Monomial& m) {
  std::vector<Part> out;
  for (const Id a : m.atoms) {
    const std::int64_t unit = g.multiple_of(a);
    if (unit == 1) continue;
    const std::int64_t common = std::gcd(m.coefficient, unit);
    m.coefficient /= common;
    out.push_back({a, unit / common});
  }
  return out;
}

bool unit_of(const Graph& g, Monomial& m) {
  for (Id& a : m.atoms) {
    const Part p = part_of(g, a);
    if (p.symbol == no_id) continue;
    a = p.symbol;
    if (__builtin_mul_overflow(m.coefficient, g.multiple_of(a) / p.divisor, &m.coefficient)) return false;
  }
  std::ranges::sort(m.atoms, less(g));
  return true;
}

}  // namespace

std::optional<Poly> in_units(const Graph& g, const Poly& p) {
  Poly out = p;
  if (g.multiples().empty()) return out;
  for (Monomial& m : out)
    if (!unit_of(g, m)) return std::nullopt;
  if (!normalise_terms(less(g), out)) return std::nullopt;
  return out;
}

Poly from_units(Graph& g, const Poly& units) {
  Poly out = units;
  if (g.multiples().empty()) return out;
  for (Monomial& m : out) {
    const std::vector<Part> parts = parts_of_units(g, m);
    std::size_t next = 0;
    for (Id& a : m.atoms) {
      if (g.multiple_of(a) == 1) continue;
      const std::int64_t d = parts[next++].divisor;
      if (d > 1) a = g.make(Op::FLOORDIV, DType::index, {a, g.index(d)});
    }
    std::ranges::sort(m.atoms, less(g));
  }
  return normalise_poly(g, std::move(out));
}

Poly settled(Graph& g, const Poly& p) {
  const auto units = in_units(g, p);
  return units ? from_units(g, *units) : p;
}

bool is_settled(const Graph& g, const Poly& p) {
  if (g.multiples().empty()) return true;
  const auto units = in_units(g, p);
  if (!units) return true;
  if (units->size() != p.size()) return false;
  return std::ranges::all_of(p, [&](const Monomial& m) {
    std::vector<Part> have;
    for (const Id a : m.atoms)
      if (const Part part = part_of(g, a); part.symbol != no_id) have.push_back(part);
    if (have.empty()) return true;
    Monomial unit = m;
    unit_of(g, unit);
    std::vector<Part> want = parts_of_units(g, unit);
    return std::ranges::is_permutation(have, want);
  });
}

}  // namespace kiln::compiler
