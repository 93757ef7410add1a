// Sums of terms as data; linear.h has the operations on them.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/symbolic/atoms.h"
#include "compiler/symbolic/term_pool.h"

namespace kiln::compiler::symbolic {

struct Term {
  std::int64_t coefficient = 0;
  Atoms atoms;  // in structural order; empty: the constant term
  bool operator==(const Term&) const = default;
};
// Canonical: terms in order, no zero coefficients, no two terms with the same atoms. Empty is 0.
using Sum = std::vector<Term, PoolAllocator<Term>>;

}  // namespace kiln::compiler::symbolic
