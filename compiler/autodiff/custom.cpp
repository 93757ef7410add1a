#include "compiler/autodiff/custom.h"

#include "compiler/autodiff/rebuild.h"

namespace kiln::compiler::autodiff {
Id cotangent_of(Rules& rules, Id custom) {
  Graph& g = rules.e.g;
  const Id y = g.src(custom, 0);
  return rules.e.b.cotangent(g.dtype(y), rules.e.shape(y), g.arg(custom, 0));
}

Id custom_adjoint(Rules& rules, Id custom, std::size_t place, Id adjoint) {
  const Id leaf = cotangent_of(rules, custom);
  const std::size_t n = rules.e.g.src(custom).size() / 2;
  Id d = rules.e.g.src(custom, place + n);
  rebuild(rules, std::span(&d, 1), {leaf}, [&](Id, Id) { return adjoint; });
  return d;
}

}  // namespace kiln::compiler::autodiff
