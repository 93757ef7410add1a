// Reads and rewrites the loops of a kernel without tile steps. Its ENDs are {STORE, LOOP RANGEs...}, all with the same ranges.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "compiler/ir/schedule.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {

std::vector<Id> loop_ranges_of(const Graph& g, const Kernel& k);

// The SINK of a kernel with one STORE, over the LOOP ranges, outermost first.
Id sink_of_store(Graph& g, Id buffer, Id index, Id value, std::span<const Id> ranges);

// Whether a value can be computed in a kernel of its own, over r and some of the LOOP ranges: the value contains no REDUCE, and
// each of its RANGEs is r or one of the LOOP ranges. nodes: the value and its direct and indirect sources, ascending.
bool varies_only_over(const Graph& g, const std::vector<Id>& nodes, const std::vector<Id>& loops, Id r);

// The index expressions that are operands of nodes which are no index arithmetic themselves, such as LOADs and CASTs. They are
// in order of first use. The ranges of END and REDUCE are loops and do not count.
std::vector<Id> index_roots(const Graph& g, const std::vector<Id>& nodes);

// The distance in memory between elements of neighbouring iterations of the range; nullopt: it is no constant.
std::optional<std::int64_t> distance_along(const Graph& g, Id index, Id range);

struct RangeChange {
  std::unordered_map<Id, Id> values;              // index expression or RANGE -> its replacement
  std::unordered_map<Id, std::vector<Id>> loops;  // RANGE -> its replacement in END and REDUCE
  Id outermost = no_id;                           // a new outermost LOOP range; no_id: none
};
void rewrite_kernel(Graph& g, Kernel& k, const RangeChange& change);

// Simplifies the index expressions that loads, stores and values use. Loops stay as they are: a range's end is part of the
// range's identity, so a simplified end would make another range.
void simplify_uses(Graph& g, Kernel& k, Simplifier& simplify);

// Leaves out LOOP ranges of one iteration, but keeps at least one range. Passes that look at the innermost ranges then find the
// ones that iterate.
void drop_unit_loops(Graph& g, Kernel& k, Simplifier& simplify);

// Whether the expressions have one value in a call: the size of a buffer may depend on them. Symbols of loops have several, and
// so have ranges: the extent of a stripe of a sum (split_stripes) depends on the number of the stripe.
bool are_of_the_call(const Graph& g, const Program& p, std::span<const Id> expressions);

// 1 if the value is at least `least`, else 0. The runtime's expressions have no conditions.
Id at_least(Graph& g, Id value, std::int64_t least);

// Multiplies the extent of the outermost range by the factor: the kernel runs if it is 1, and not if it is 0.
void run_if(Graph& g, Kernel& k, Id factor);

// Numbers the RANGEs from 0: LOOPs first, outermost first, then REDUCEs.
void number_ranges(Graph& g, Kernel& k);

}  // namespace kiln::compiler
