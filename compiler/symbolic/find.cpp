#include "compiler/symbolic/find.h"

namespace kiln::compiler::symbolic {

bool divide_term(const Graph& g, const Monomial& a, const Monomial& b, Monomial& q) {
  if (b.coefficient == 0 || b.coefficient == -1 || a.coefficient % b.coefficient != 0) return false;
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

Monomial common(const Graph& g, const Poly& s, Monomial with) {
  for (const Monomial& t : s) {
    with.coefficient = std::gcd(with.coefficient, t.coefficient);
    if (with.atoms.empty()) continue;
    std::vector<Id> both;
    std::ranges::set_intersection(with.atoms, t.atoms, std::back_inserter(both),
                                  [&](Id a, Id b) { return atom_less(g, a, b); });
    with.atoms = std::move(both);
  }
  return with;
}

Poly divided_by(const Graph& g, const Poly& s, const Monomial& by) {
  Poly out;
  for (const Monomial& t : s) {
    Monomial q;
    if (divide_term(g, t, by, q)) out.push_back(std::move(q));
  }
  normalise(g, out);  // without the common factor, terms stay distinct, but their order may differ
  return out;
}

Monomial without(Monomial t, Id atom) {
  t.atoms.erase(std::ranges::find(t.atoms, atom));
  return t;
}
Monomial with(const Graph& g, Monomial t, Id atom) {
  t.atoms.push_back(atom);
  std::ranges::sort(t.atoms, [&](Id a, Id b) { return atom_less(g, a, b); });
  return t;
}

}  // namespace kiln::compiler::symbolic
