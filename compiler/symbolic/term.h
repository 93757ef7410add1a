// Sums of terms, as data; what is done with them is in linear.h.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/symbolic/atoms.h"
#include "compiler/symbolic/term_pool.h"

namespace kiln::compiler::symbolic {

struct Term {
  std::int64_t coefficient = 0;
  Atoms atoms;  // in structural order; empty: the constant
  bool operator==(const Term&) const = default;
};
using Sum = std::vector<Term, PoolAllocator<Term>>;  // canonical: in order, no zero coefficients, atoms of different terms
                                                     // differ; empty is 0

}  // namespace kiln::compiler::symbolic
