// Shuffles that turn rows in the order of memory into one vector for each component, and such vectors into rows again. Their
// instructions are cheap on x86-64.
//
// Before: s vectors of n lanes, which hold n rows of s components one after the other.
// After: s vectors of n lanes, one for each component: lane i has the component of row i. Or the other way round.
// Requires: n is a power of two.
// Why: a shuffle that picks lanes of s vectors takes s - 1 instructions. Each of them reads two registers across all lanes,
//   which takes twice the time of other shuffles. There are three cheaper ways:
//   - s is odd: no two elements of a component have the same lane, in whichever of the s vectors they are. So blends collect
//     the elements, and one permutation orders them. If the target has no such permutation of elements this narrow, the same
//     is done twice: with parts of 16 bytes in place of elements, and then with the elements inside of each part.
//   - a row fills 16 bytes: parts of 16 bytes are transposed as small matrices, and one permutation orders the rows.
//   - s is even: shuffles of two vectors divide the components into even and odd ones, each of stride s / 2.
// Example: n = 4, s = 3, component 0 of {a0 b0 c0 a1}, {b1 c1 a2 b2}, {c2 a3 b3 c3}  ->  blend {a0 a3 a2 a1}, permutation
//   {a0 a1 a2 a3}
#pragma once

#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/target/target.h"

namespace kiln::compiler {

inline constexpr int part_bytes = 16;  // instructions that move elements within parts of this size are the cheapest

// Component number `component`. Other components of the same vectors share nodes with it.
Id component_of(Graph& g, std::span<const Id> vectors, int component, const Target& target);

// The columns of rows that are anywhere in memory. rows: n vectors of the same s consecutive columns, where s is
// columns_together(). Vector c of the result has n lanes, lane i is column c of row i. Rows s apart share a vector in parts of
// 16 bytes, which instructions insert as they load. So shuffles stay within these parts.
std::vector<Id> columns_of_rows(Graph& g, std::span<const Id> rows);

// How many columns of n rows columns_of_rows takes together: those in 16 bytes, at most n.
int columns_together(int n, int element_bytes);

// The vectors in the order of memory.
std::vector<Id> in_rows(Graph& g, std::span<const Id> components, const Target& target);

// The cost of a shuffle for one component, in instructions that read one or two registers within 16 bytes.
double component_cost(int components, int element_bytes);

}  // namespace kiln::compiler
