// Operands of reductions that are copied once, into the order in which the reduction reads them (pack_operands,
// product_versions).
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/schedule.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {

inline bool is_among(std::span<const Id> ids, Id id) { return std::ranges::find(ids, id) != ids.end(); }

// A value of a reduction over r, and the ranges that it depends on.
struct Operand {
  Id value;  // a LOAD, its cast to f32, or a word of DOT2
  Id r;
  Id column;              // the innermost LOOP range; no_id: the value does not depend on it
  std::vector<Id> outer;  // the other LOOP ranges that the value depends on, outermost first
  bool contiguous;        // neighbours in the column are neighbours in memory; of a left operand: lanes read it in place, too
  // Columns of a panel. The column range has at least this many. 0: no panels, the copy is stored row by row. If a panel does
  // not divide the columns, the kernel stores some elements twice.
  std::int64_t panel = 0;
};

// used: the ranges on which the value depends, and perhaps other nodes. loops: the kernel's LOOP ranges.
Operand operand_over(std::span<const Id> loops, Id value, Id r, std::span<const Id> used, bool contiguous);

// The operand that the LOAD reads. nullopt: its index is no polynomial of r, LOOP ranges and symbols, or lacks r or the
// innermost range.
std::optional<Operand> operand_of(const Graph& g, std::span<const Id> loops, Id load, Id r);

// The operand that the LOAD reads for all columns: its index is such a polynomial without the innermost LOOP range. nullopt:
// the LOAD reads something else.
std::optional<Operand> left_operand_of(const Graph& g, std::span<const Id> loops, Id load, Id r);

// Whether neighbours in one of the LOOP ranges, not in r, are neighbours in memory. load: of a left operand.
bool is_transposed(const Graph& g, std::span<const Id> loops, Id load, Id r);

// Whether the REDUCE can have lanes of the kernel's innermost range if one load is packed. For neighbouring iterations of
// that range, the other loads read one element or neighbours in memory. reduce_lowering then chooses these lanes.
bool lanes_but_for_one_load(const Graph& g, const Kernel& k, Id reduce);

// Columns of a panel of such elements: a row of it is one cache line. So each line that is read is in use, and a panel is
// contiguous for any number of registers side by side.
std::int64_t panel_of(DType d);

// A contiguous operand becomes panels if, for one of these limits, it has more bytes and is read at least so often. Smaller
// ones gain less than one more kernel is worth.
struct PanelLimit {
  std::int64_t bytes, walks;
};
inline constexpr PanelLimit panel_limits[] = {{256 * 1024, 32}, {128 * 1024, 96}};
inline constexpr PanelLimit lowest_panel_limit = {128 * 1024, 32};  // if the call decides

inline constexpr std::int64_t fewest_panels = 2;        // a single one is as it was in place
inline constexpr std::int64_t walks_for_rows = 8;       // passes over an operand that pay for its copy if it is not contiguous
inline constexpr std::int64_t large_left = 256 * 1024;  // bytes of a transposed left operand from which its copy pays

// Columns of a product that pay for a copy of its left operand: transposed, or as f32.
inline constexpr std::int64_t columns_for_rows = 512, columns_for_casts = 32;

// Whether an element may be stored twice: the kernel loads nothing that it stores.
bool may_store_twice(const Graph& g, const Kernel& k);

// Adds a buffer for the copy, and makes the kernel read it. Returns the kernel that copies.
Kernel pack(Graph& g, Schedule& s, Kernel& kernel, const Operand& o, const Facts& facts);

}  // namespace kiln::compiler
