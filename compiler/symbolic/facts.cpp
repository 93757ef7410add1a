#include "compiler/symbolic/facts.h"

#include <algorithm>
#include <numeric>

#include "compiler/index/floor_div.h"
#include "compiler/symbolic/linear.h"

namespace kiln::compiler {
namespace {

using namespace symbolic;

// Adds the fact s >= 0. If s is one symbol plus a constant, the fact narrows the symbol's interval.
void assume_nonnegative(Graph& g, Facts& facts, const Poly& s) {
  const bool one = !s.empty() && s.size() <= 2 && s.front().atoms.size() == 1 && (s.size() == 1 || s.back().atoms.empty());
  if (!one || g.op(s.front().atoms[0]) != Op::SYM) {
    facts.nonnegative.push_back(index_from(g, s));
    return;
  }
  const std::string name(g.name(s.front().atoms[0]));
  SymFact f = facts.of(name);
  const std::int64_t k = s.front().coefficient, c = constant_term(s);  // k*x + c >= 0
  if (k == INT64_MIN || c == INT64_MIN) return;
  if (k > 0)
    f.min = std::max(f.min, -floor_div(c, k));
  else
    f.max = std::min(f.max, floor_div(c, -k));
  facts.syms[name] = f;
}

// Whether the condition is x % c == 0 for a symbol x.
bool assume_multiple(Graph& g, Facts& facts, Id a, Id b) {
  if (!g.is_index_const(b, 0) || g.op(a) != Op::FLOORMOD) return false;
  const auto [x, divisor] = g.operands<2>(a);
  const auto c = index_constant(g, divisor);
  if (g.op(x) != Op::SYM || !c || *c < 1) return false;
  const std::string name(g.name(x));
  SymFact f = facts.of(name);
  const std::int64_t step = *c / std::gcd(*c, f.multiple_of);
  if (f.multiple_of <= unbounded / step) f.multiple_of *= step;
  facts.syms[name] = f;
  return true;
}

}  // namespace

void assume(Graph& g, Facts& facts, Id condition) {
  std::vector<Id> open{condition};
  while (!open.empty()) {
    const Id id = open.back();
    open.pop_back();
    const Op op = g.op(id);
    if (op == Op::AND && g.dtype(id) == DType::boolean) open.insert(open.end(), g.src(id).begin(), g.src(id).end());
    if (op != Op::LT && op != Op::LE && op != Op::EQ) continue;
    const auto [a, b] = g.operands<2>(id);
    if (g.dtype(a) != DType::index || (op == Op::EQ && assume_multiple(g, facts, a, b))) continue;
    const auto x = sum_of(g, a), y = sum_of(g, b);
    const auto d = x && y ? plus(g, *y, *x, -1) : std::nullopt;
    const auto margin = d && op == Op::LT ? plus(g, *d, constant_sum(1), -1) : d;
    if (margin) assume_nonnegative(g, facts, *margin);
    const auto back = d && op == Op::EQ ? scaled(*d, -1) : std::nullopt;
    if (back) assume_nonnegative(g, facts, *back);
  }
}

Facts facts_of(std::span<const Symbol> symbols) {
  Facts f;
  for (const Symbol& s : symbols) f.syms[s.name] = {s.min, s.max, s.multiple_of};
  return f;
}

}  // namespace kiln::compiler
