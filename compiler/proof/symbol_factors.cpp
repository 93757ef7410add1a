#include "compiler/proof/symbol_factors.h"

#include <algorithm>
#include <utility>

#include "compiler/symbolic/linear.h"

namespace kiln::compiler {
namespace {

bool has(const Monomial& t, Id atom) { return std::ranges::find(t.atoms, atom) != t.atoms.end(); }

// The first symbol that occurs in the most terms, and in at least two; no_id: none.
Id most_common_symbol(const Graph& g, const Poly& s) {
  Id best = no_id;
  std::ptrdiff_t most = 1;
  for (const Monomial& t : s)
    for (const Id atom : t.atoms) {
      if (g.op(atom) != Op::SYM) continue;
      const auto n = std::ranges::count_if(s, [&](const Monomial& other) { return has(other, atom); });
      if (n > most) {
        best = atom;
        most = n;
      }
    }
  return best;
}

// The sums `first` and `second` with s = symbol * first + second.
std::pair<Poly, Poly> divided(const Poly& s, Id symbol) {
  std::pair<Poly, Poly> out;
  for (Monomial t : s) {
    const auto at = std::ranges::find(t.atoms, symbol);
    if (at == t.atoms.end()) {
      out.second.push_back(std::move(t));
    } else {
      t.atoms.erase(at);
      out.first.push_back(std::move(t));
    }
  }
  return out;
}

}  // namespace

Id with_symbols_out(Graph& g, Id index, std::vector<Id>& order) {
  std::optional<Poly> sum = symbolic::sum_of(g, index);
  if (!sum) return index;
  const bool decides = order.empty();
  Poly rest = *std::move(sum);
  std::vector<std::pair<Id, Poly>> taken;
  for (std::size_t i = 0; decides || i < order.size(); ++i) {
    const Id symbol = decides ? most_common_symbol(g, rest) : order[i];
    if (symbol == no_id) break;
    if (decides) order.push_back(symbol);
    auto [inside, outside] = divided(rest, symbol);
    if (inside.empty()) continue;
    taken.emplace_back(symbol, std::move(outside));
    rest = std::move(inside);
  }
  Id value = index_from(g, rest);
  for (std::size_t i = taken.size(); i-- > 0;) {
    value = g.make(Op::MUL, DType::index, {taken[i].first, value});
    if (!taken[i].second.empty()) value = g.make(Op::ADD, DType::index, {value, index_from(g, taken[i].second)});
  }
  return value;
}

}  // namespace kiln::compiler
