#include "compiler/ir/index_bounds.h"

#include <algorithm>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/index_poly.h"

namespace kiln::compiler {
namespace {

constexpr std::size_t max_terms = 4096;
constexpr int max_depth = 16;  // of nested atoms; recursion ends there

std::int64_t times(const Graph& g, std::int64_t a, std::int64_t b) {
  const Poly p = scale_poly(g, {{a, {}}}, b);  // throws E-overflow
  return p[0].coefficient;
}

std::int64_t minimum_of(const Graph& g, Id sym, std::span<const SymbolFacts> facts) {
  for (const SymbolFacts& f : facts)
    if (f.name == g.name(sym)) return f.min;
  return 0;
}

// p with every symbol replaced by symbol + minimum, so that all symbols are >= 0. Nothing when that is too large to be worth
// it.
std::optional<Poly> shifted(const Graph& g, const Poly& p, std::span<const SymbolFacts> facts) {
  Poly out;
  for (const Monomial& m : p) {
    Poly product{{m.coefficient, {}}};
    for (Id a : m.atoms) {
      const std::int64_t low = g.op(a) == Op::SYM ? minimum_of(g, a, facts) : 0;
      Poly next;
      for (const Monomial& q : product) {
        next.push_back(q);
        next.back().atoms.push_back(a);
        if (low != 0) next.push_back({times(g, q.coefficient, low), q.atoms});
      }
      product = std::move(next);
      if (product.size() + out.size() > max_terms) return std::nullopt;
    }
    for (Monomial& q : product) {
      std::ranges::sort(q.atoms, [&](Id a, Id b) { return index_atom_less(g, a, b); });
      out.push_back(std::move(q));
    }
  }
  return normalise_poly(g, std::move(out));
}

// One linear atom floordiv(x, c) or floormod(x, c), replaced by the end of its interval that makes p smallest:
// c*floordiv(x, c) is in [x - (c - 1), x], floormod(x, c) in [0, c - 1]. False when there is none.
bool bound_division(const Graph& g, Poly& p) {
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i].atoms.size() != 1) continue;
    const Id a = p[i].atoms[0];
    if (g.op(a) != Op::FLOORDIV && g.op(a) != Op::FLOORMOD) continue;
    const auto c = index_value(g, g.src(a, 1));
    if (!c || *c <= 0) continue;
    const std::int64_t k = p[i].coefficient;
    Poly rest = p;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    if (g.op(a) == Op::FLOORMOD) {
      if (k < 0) rest.push_back({times(g, k, *c - 1), {}});
    } else {
      if (k % *c != 0) {  // k*q = (k/c)*(c*q): everything times c keeps the sign of p
        rest = scale_poly(g, std::move(rest), *c);
      }
      const std::int64_t factor = k % *c != 0 ? k : k / *c;
      for (const Monomial& m : scale_poly(g, poly_of(g, g.src(a, 0)), factor)) rest.push_back(m);
      if (factor > 0) rest.push_back({-times(g, factor, *c - 1), {}});
    }
    p = normalise_poly(g, std::move(rest));
    return true;
  }
  return false;
}

bool structurally_nonnegative(const Graph& g, Id id, std::span<const SymbolFacts> facts, int depth = 0);

// With every symbol >= 0.
bool nonnegative_atom(const Graph& g, Id a, std::span<const SymbolFacts> facts, int depth) {
  const auto side = [&](std::size_t i) {
    try {
      return structurally_nonnegative(g, g.src(a, i), facts, depth + 1);
    } catch (const Diagnostic&) {  // E-overflow: not shown in 64 bits
      return false;
    }
  };
  switch (g.op(a)) {
    case Op::SYM: return true;
    case Op::FLOORMOD: return index_value(g, g.src(a, 1)).value_or(0) > 0;
    case Op::MIN: return side(0) && side(1);
    case Op::MAX: return side(0) || side(1);
    default: return false;
  }
}

bool structurally_nonnegative(const Graph& g, Id id, std::span<const SymbolFacts> facts, int depth) {
  if (depth > max_depth) return false;
  Poly p = poly_of(g, id);
  for (int rounds = 0; rounds < max_depth; ++rounds) {
    const auto q = shifted(g, p, facts);
    if (!q) return false;
    const bool plain = std::ranges::all_of(*q, [&](const Monomial& m) {
      return m.coefficient > 0 && std::ranges::all_of(m.atoms, [&](Id a) { return nonnegative_atom(g, a, facts, depth); });
    });
    if (plain) return true;
    if (!bound_division(g, p)) return false;
  }
  return false;
}

// All symbols in an expression, in structural order; false when it nests too deeply.
bool collect_symbols(const Graph& g, Id id, int depth, std::vector<Id>& out) {
  if (depth > max_depth) return false;
  for (const Monomial& m : poly_of(g, id))
    for (Id a : m.atoms) {
      if (g.op(a) == Op::SYM) {
        if (std::ranges::find(out, a) == out.end()) out.push_back(a);
        continue;
      }
      for (Id s : g.src(a))
        if (!collect_symbols(g, s, depth + 1, out)) return false;
    }
  return true;
}

// The value with every symbol equal to `symbol`; nullopt on overflow and for operations that extents do not have.
std::optional<std::int64_t> evaluate(const Graph& g, Id id, std::int64_t symbol, int depth) {
  if (depth > max_depth) return std::nullopt;
  std::int64_t sum = 0;
  for (const Monomial& m : poly_of(g, id)) {
    std::int64_t product = m.coefficient;
    for (Id a : m.atoms) {
      std::int64_t v = symbol;
      if (g.op(a) != Op::SYM) {
        if (g.src(a).size() != 2) return std::nullopt;
        const auto x = evaluate(g, g.src(a, 0), symbol, depth + 1), y = evaluate(g, g.src(a, 1), symbol, depth + 1);
        if (!x || !y || (*x == INT64_MIN && *y == -1)) return std::nullopt;
        const std::int64_t q = *y == 0 ? 0 : *x / *y - (*x % *y != 0 && (*x < 0) != (*y < 0) ? 1 : 0);
        switch (g.op(a)) {
          case Op::FLOORDIV: v = q; break;
          case Op::FLOORMOD: v = *y == 0 ? 0 : *x - q * *y; break;
          case Op::MIN: v = std::min(*x, *y); break;
          case Op::MAX: v = std::max(*x, *y); break;
          default: return std::nullopt;
        }
      }
      if (__builtin_mul_overflow(product, v, &product)) return std::nullopt;
    }
    if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
  }
  return sum;
}

// The smallest m >= low such that the value of an expression of one symbol is proven for all values from m on: found by
// doubling and halving on the structural proof, then down by evaluation, because that proof is a little weaker than the truth.
std::optional<std::int64_t> smallest_minimum(const Graph& g, Id id, Id sym, std::int64_t low, std::int64_t reach) {
  const auto proven = [&](std::int64_t m) {
    const SymbolFacts f[] = {{g.name(sym), m}};
    return structurally_nonnegative(g, id, f);
  };
  std::int64_t step = 1;
  while (!proven(low + step - 1)) {
    if (step > reach) return std::nullopt;
    step *= 2;
  }
  std::int64_t bad = low + step / 2 - 1, good = low + step - 1;  // bad may be low - 1, which nothing is known of
  while (good - bad > 1) {
    const std::int64_t middle = bad + (good - bad) / 2;
    (proven(middle) ? good : bad) = middle;
  }
  while (good > low && evaluate(g, id, good - 1, 0).value_or(-1) >= 0) --good;
  return good;
}

}  // namespace

bool proves_nonnegative(const Graph& g, Id id, std::span<const SymbolFacts> facts) {
  if (structurally_nonnegative(g, id, facts)) return true;
  std::vector<Id> symbols;
  if (!collect_symbols(g, id, 0, symbols) || symbols.size() != 1) return false;
  const std::int64_t low = minimum_of(g, symbols[0], facts);
  return smallest_minimum(g, id, symbols[0], low, 64) == low;
}

std::optional<std::vector<SymbolFacts>> minimums_for_nonnegative(const Graph& g, Id id, std::span<const SymbolFacts> facts) {
  if (proves_nonnegative(g, id, facts)) return std::vector<SymbolFacts>{};
  std::vector<Id> symbols;
  if (!collect_symbols(g, id, 0, symbols) || symbols.empty()) return std::nullopt;
  if (symbols.size() == 1) {
    const auto m = smallest_minimum(g, id, symbols[0], minimum_of(g, symbols[0], facts), std::int64_t{1} << 20);
    if (!m) return std::nullopt;
    return std::vector<SymbolFacts>{{g.name(symbols[0]), *m}};
  }
  if (std::ranges::count_if(poly_of(g, id), [](const Monomial& m) { return !m.atoms.empty(); }) != 1) return std::nullopt;
  std::vector<SymbolFacts> raised;
  for (Id s : symbols) raised.push_back({g.name(s), std::max<std::int64_t>(1, minimum_of(g, s, facts))});
  if (!structurally_nonnegative(g, id, raised)) return std::nullopt;
  return raised;
}

}  // namespace kiln::compiler
