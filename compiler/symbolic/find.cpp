#include "compiler/symbolic/find.h"

namespace kiln::compiler::symbolic {

bool divide_term(const Graph& g, const Term& a, const Term& b, Term& q) {
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

Term common(const Graph& g, const Sum& s, Term with) {
  for (const Term& t : s) {
    with.coefficient = std::gcd(with.coefficient, t.coefficient);
    if (with.atoms.empty()) continue;
    std::vector<Id> both;
    std::ranges::set_intersection(with.atoms, t.atoms, std::back_inserter(both),
                                  [&](Id a, Id b) { return atom_less(g, a, b); });
    with.atoms = std::move(both);
  }
  return with;
}

Sum divided_by(const Graph& g, const Sum& s, const Term& by) {
  Sum out;
  for (const Term& t : s) {
    Term q;
    if (divide_term(g, t, by, q)) out.push_back(std::move(q));
  }
  normalise(g, out);  // without the common factor, terms stay distinct, but their order may differ
  return out;
}

Term without(Term t, Id atom) {
  t.atoms.erase(std::ranges::find(t.atoms, atom));
  return t;
}
Term with(const Graph& g, Term t, Id atom) {
  t.atoms.push_back(atom);
  std::ranges::sort(t.atoms, [&](Id a, Id b) { return atom_less(g, a, b); });
  return t;
}

}  // namespace kiln::compiler::symbolic
