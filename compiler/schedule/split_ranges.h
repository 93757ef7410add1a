// Split ranges. What: a range that is only divided by some divisors of its end becomes one range for each digit, so that no
// division is left in the loop. Before: RANGE r of end 12 with r % 4 and r // 4 in the index of a load or store. After: ranges
// of ends 3 and 4, r is r0*4 + r1, r % 4 is r1, r // 4 is r0. All divisors that divide one another and the end are taken at
// once (2 and 4 and 12 of 24: three digits); of divisors that do not, those that remove more divisions. Divisors and ends may
// be symbolic: H*W splits at W. A REDUCE range splits where the order of elements stays (row-major over the digits) or does not
// matter. Where a division only makes a condition or a value, or an outer loop too short for threads would come of it, the
// range stays. Precondition: ranges are simplified. Kernels with phases stay. Postcondition: the same elements are computed
// from the same elements.
#pragma once

#include "compiler/ir/program.h"

namespace kiln::compiler {

void split_ranges(Graph& g, Schedule& s);

}  // namespace kiln::compiler
