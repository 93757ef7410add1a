#include "compiler/index/poly.h"

namespace kiln::compiler {

std::optional<std::int64_t> constant_of(const Poly& p) {
  if (p.empty()) return 0;
  if (p.size() == 1 && p[0].atoms.empty()) return p[0].coefficient;
  return std::nullopt;
}
std::int64_t constant_term(const Poly& p) { return !p.empty() && p.back().atoms.empty() ? p.back().coefficient : 0; }
Poly constant_sum(std::int64_t c) { return c == 0 ? Poly{} : Poly{{c, {}}}; }

SplitAt split_at(const Poly& p, Id atom) {
  SplitAt s;
  s.factor.reserve(p.size());
  s.rest.reserve(p.size());
  for (const Monomial& m : p) {
    const auto at = std::ranges::find(m.atoms, atom);
    if (at == m.atoms.end()) {
      s.rest.push_back(m);
      continue;
    }
    Atoms& left = s.factor.emplace_back(m).atoms;
    left.erase(left.begin() + (at - m.atoms.begin()));
    s.square = s.square || std::ranges::find(left, atom) != left.end();
  }
  return s;
}

std::optional<Poly> scale_terms(Poly p, std::int64_t by) {
  if (by == 0) return Poly{};
  for (Monomial& m : p)
    if (__builtin_mul_overflow(m.coefficient, by, &m.coefficient)) return std::nullopt;
  return p;
}

}  // namespace kiln::compiler
