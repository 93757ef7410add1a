// chain_blocks: runs a long chain of products in parts, with the accumulators of a block of rows in an array.
//
// Before: a plan of register_block, [ranges] [lanes of columns] [copies of rows], for an fma chain over one range or a nest.
// After: [ranges] [block of rows] [chain] [rows] [lanes] [copies], where the block is over the copied range, or over a range
//   before the lanes. Some terms of the chain run for the whole block, with accumulators in registers, then the next ones. The
//   accumulators are in an array between two parts (memory_accumulators.h). Each chain keeps its order.
//   Ranges before the lanes may have copies, if their extents are constant. Each copy has its own part of the array.
// Requires: constant bounds, loads without gates. A target with many registers needs parts only if there are such copies: then
//   each pass reads all panels.
// Why: each pass over the rows of the copies reads all of the lanes' operand again. If it exceeds its share of the second-level
//   cache, it comes from farther away each time; the part of it for some terms stays in the first-level cache. The rows of a
//   panel (pack_operands) are one stream of memory, which is prefetched and fast without parts, unless many rows pass over a
//   long one.
//   If neighbours in the rows of the copies are nearer to each other in memory than neighbours in the chain, as in the
//   derivative of a convolution by its image, each term of a few rows is in another cache line. In parts, the lines of some
//   terms serve the whole block.
// Example: c[i, j] over k < 12544, 147 rows i and 64 columns j  ->  for 112 terms: for i: for j: c[i, j] += a[i, k] * b[k, j].
#pragma once

#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/lower/vectorize_plan.h"

namespace kiln::compiler {

// widest: bytes of the widest value.
void chain_blocks(const Graph& g, std::span<const Id> stores, int widest, const Target& target, std::vector<LoopPlan>& plan);

// The FORs among the nodes, outermost first, if they are one chain: a nest with constant bounds that carries one value.
std::vector<Id> chain_nest(const Graph& g, std::span<const Id> nodes);

// Terms of a nest of FORs.
std::int64_t iterations_of(const Graph& g, std::span<const Id> nest);

// The loop of the nest that is cut for so many terms at once: the outermost one whose inner loops have no more terms.
std::size_t chain_level(const Graph& g, std::span<const Id> nest, std::int64_t terms);

}  // namespace kiln::compiler
