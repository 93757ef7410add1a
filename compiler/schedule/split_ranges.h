// split_ranges: splits a range that indices divide by factors of its end, so that the loop contains no division.
//
// Before: a RANGE r; loads and stores have r // c or r % c in their indices, where c divides r's end. Both may be symbolic.
//   Also (r + a) // c and (r + a) % c with constants a and c.
// After: one range for each factor of r in a mixed radix. r, r // c and r % c are sums of multiples of factors.
//   Two divisors are used together if one divides the other, as 4 and 12. Of two others, as 4 and 6, only the one that
//   removes more divisions is used. A range stays if no index of a load or store divides it, and other expressions divide it
//   by constants only. A long outermost range of constant end also stays if its outermost factor would have fewer than 8
//   iterations, too few for threads.
//   In a kernel with tile steps, the range of the tiles and the ranges of reductions stay.
// Requires: kernel_split ran. simplify_ranges, an optional pass, runs before this one.
// Ensures: the same elements are computed from the same elements. A REDUCE range is split only if row-major order over its
//   factors gives the same bits.
// Example: r < 12: r // 4, r % 4   ->   r0 < 3, r1 < 4: r is r0*4 + r1, r // 4 is r0, r % 4 is r1. Divisors 4 and 12 of 24 give
//   three factors, of ends 2, 3 and 4. A range of end H*W splits at W.
#pragma once

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

void split_ranges(Graph& g, Schedule& s);

}  // namespace kiln::compiler
