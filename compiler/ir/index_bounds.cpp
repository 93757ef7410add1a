#include "compiler/ir/index_bounds.h"

#include <algorithm>

#include "compiler/ir/index_operation.h"
#include "compiler/ir/index_poly.h"
#include "compiler/ir/index_proof.h"

namespace kiln::compiler {
namespace {

constexpr int bounds_depth = 16;  // of nested atoms; limits the recursion

bool proven(const Graph& g, Id id, std::span<const SymbolFacts> facts) {
  return IndexProof(g, facts).nonnegative(poly_of(g, id));
}

SymbolFacts facts_of(const Graph& g, Id sym, std::span<const SymbolFacts> facts) {
  for (const SymbolFacts& f : facts)
    if (f.name == g.name(sym)) return f;
  return {g.name(sym)};
}

// Collects the symbols of an expression in structural order; false: it nests too deeply.
bool collect_symbols(const Graph& g, Id id, int depth, std::vector<Id>& out) {
  if (depth > bounds_depth) return false;
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

// The value if every symbol has the value `symbol`. nullopt: overflow, or an operation that extents do not have.
std::optional<std::int64_t> evaluate(const Graph& g, Id id, std::int64_t symbol, int depth) {
  if (depth > bounds_depth) return std::nullopt;
  std::int64_t sum = 0;
  for (const Monomial& m : poly_of(g, id)) {
    std::int64_t product = m.coefficient;
    for (Id a : m.atoms) {
      std::int64_t v = symbol;
      if (g.op(a) != Op::SYM) {
        if (!is_extent_operation(g.op(a))) return std::nullopt;
        const auto [left, right] = g.operands<2>(a);
        const auto x = evaluate(g, left, symbol, depth + 1), y = evaluate(g, right, symbol, depth + 1);
        if (!x || !y || (*x == INT64_MIN && *y == -1)) return std::nullopt;
        v = *evaluate_index(g.op(a), *x, *y);
      }
      if (__builtin_mul_overflow(product, v, &product)) return std::nullopt;
    }
    if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
  }
  return sum;
}

// The smallest m >= low for which the value of an expression of one symbol is proven to be >= 0 for all values from m on.
// Doubling and bisection find the smallest m that is proven. Evaluation then lowers m, because the proof is a little too weak.
std::optional<std::int64_t> smallest_minimum(const Graph& g, Id id, const SymbolFacts& symbol, std::int64_t reach) {
  const std::int64_t low = symbol.min;
  const auto proven_from = [&](std::int64_t m) {
    const SymbolFacts f[] = {{symbol.name, m, symbol.max}};
    return proven(g, id, f);
  };
  std::int64_t step = 1;
  while (!proven_from(low + step - 1)) {
    if (step > reach) return std::nullopt;
    step *= 2;
  }
  std::int64_t bad = low + step / 2 - 1, good = low + step - 1;  // bad may be low - 1, for which nothing is known
  while (good - bad > 1) {
    const std::int64_t middle = bad + (good - bad) / 2;
    (proven_from(middle) ? good : bad) = middle;
  }
  while (good > low && evaluate(g, id, good - 1, 0).value_or(-1) >= 0) --good;
  return good;
}

// For a product of several symbols: first one sufficient minimum for all symbols, then a smaller one for each symbol in turn,
// as long as the proof holds.
std::optional<std::vector<SymbolFacts>> minimums_of_factors(const Graph& g, Id id, std::vector<SymbolFacts> symbols) {
  constexpr std::int64_t reach = 64;
  const std::vector<SymbolFacts> declared = symbols;
  const auto raise = [&](std::int64_t m) {
    for (std::size_t i = 0; i < symbols.size(); ++i) symbols[i].min = std::max(m, declared[i].min);
    return proven(g, id, symbols);
  };
  std::int64_t m = 1;
  while (m <= reach && !raise(m)) m *= 2;
  if (m > reach) return std::nullopt;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    std::int64_t enough = symbols[i].min;
    while (symbols[i].min > declared[i].min) {
      --symbols[i].min;
      if (!proven(g, id, symbols)) break;
      enough = symbols[i].min;
    }
    symbols[i].min = enough;
  }
  return symbols;
}

}  // namespace

bool proves_nonnegative(const Graph& g, Id id, std::span<const SymbolFacts> facts) {
  if (proven(g, id, facts)) return true;
  std::vector<Id> symbols;
  if (!collect_symbols(g, id, 0, symbols) || symbols.size() != 1) return false;
  const SymbolFacts symbol = facts_of(g, symbols[0], facts);
  return smallest_minimum(g, id, symbol, 64) == symbol.min;
}

std::optional<std::vector<SymbolFacts>> minimums_for_nonnegative(const Graph& g, Id id, std::span<const SymbolFacts> facts) {
  if (proves_nonnegative(g, id, facts)) return std::vector<SymbolFacts>{};
  std::vector<Id> found;
  if (!collect_symbols(g, id, 0, found) || found.empty()) return std::nullopt;
  std::vector<SymbolFacts> symbols;
  for (const Id s : found) symbols.push_back(facts_of(g, s, facts));
  if (symbols.size() == 1) {
    const auto m = smallest_minimum(g, id, symbols[0], std::int64_t{1} << 20);
    if (!m) return std::nullopt;
    symbols[0].min = *m;
    return symbols;
  }
  if (std::ranges::count_if(poly_of(g, id), [](const Monomial& m) { return !m.atoms.empty(); }) != 1) return std::nullopt;
  return minimums_of_factors(g, id, std::move(symbols));
}

}  // namespace kiln::compiler
