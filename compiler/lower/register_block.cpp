#include "compiler/lower/register_block.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <unordered_set>

#include "compiler/ir/nth.h"
#include "compiler/ir/power_of_two.h"
#include "compiler/ir/scopes.h"
#include "compiler/lower/access.h"
#include "compiler/lower/chain_blocks.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/memory_accumulators.h"

namespace kiln::compiler {
namespace {

constexpr int most_copies = 14;                    // beyond these, broadcasts take longer than multiply-adds
constexpr std::int64_t block_bytes = 256 * 1024;   // of the operand that a block of copies reads: a quarter of an L2 cache
constexpr std::int64_t cached_bytes = 896 * 1024;  // of the lanes' operand: it stays in an L2 cache
constexpr std::int64_t line_bytes = 64;
constexpr std::int64_t block_rows = 96;       // the block if the length of the reduction is not known
constexpr std::int64_t fewest_rows = 126;     // of a block, so that the lanes' operand is not read too often
constexpr std::int64_t rows_of_streams = 16;  // the block of other kernels: their rows of results are prefetched side by side
constexpr int light_operations = 4;           // most operations for one multiply-add in a loop that fills the registers
constexpr int waiting_accumulators = 8;       // fewer of them wait for each other's multiply-adds
constexpr int most_accumulators = 12;         // of vectors side by side
constexpr int accumulators_of_32 = 25;        // the same with 32 registers, beside the operands of one multiply-add
constexpr std::int64_t long_chain = 128;      // products whose sums pay for such vectors: they are stored once
constexpr std::int64_t rows_at_once = 11;     // of so few rows, the lanes' operand is read once, in vectors of two registers
constexpr int fewest_loads = 8;               // vector loads without a loop that are worth copies
constexpr int registers_of_chain = 4;         // accumulators side by side, so that additions do not wait for each other
constexpr int tree_height = 8;                // most registers of a tree of 32 elements: sums that wait, and their operands

// The work of one iteration of the loops.
struct Work {
  int operations = 0;
  int arithmetic = 0;  // operations that are no conditions
  int carried = 1;     // accumulators of one copy
  bool gated = false;  // some load has a gate
};

Work work_of(const Graph& g, std::span<const Id> loops) {
  Work w;
  for (const Id loop : loops) {
    int operations = 0, arithmetic = 0;
    for (const Id id : g.reachable(loop_parts(g, loop).yield)) {
      if (is_elementwise(g.op(id)) && g.dtype(id) != DType::index) ++operations;
      if (is_elementwise(g.op(id)) && g.dtype(id) < DType::index && g.dtype(id) != DType::boolean) ++arithmetic;
      w.gated = w.gated || (g.op(id) == Op::LOAD && g.src(id).size() > 2);
    }
    w.operations = std::max(w.operations, operations);
    w.arithmetic = std::max(w.arithmetic, arithmetic);
    w.carried = std::max(w.carried, narrow<int>(g.slot(loop)));
  }
  return w;
}

// The nodes that depend on the range.
std::unordered_set<Id> nodes_over(const Graph& g, std::span<const Id> nodes, Id range) {
  std::unordered_set<Id> out = {range};
  for (const Id id : nodes)
    if (std::ranges::any_of(g.src(id), [&](Id s) { return out.contains(s); })) out.insert(id);
  return out;
}

// The index of an outer range such that no vector load and no loop's number of iterations depends on it. ranges.size():
// there is none, or some operation of the kernel has no lanes.
std::size_t outer_of_lanes(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges, std::span<const Id> loops) {
  const std::vector<Id> nodes = g.reachable(stores);
  const std::unordered_set<Id> lanes = nodes_over(g, nodes, ranges.back());
  std::vector<Id> loads;
  for (const Id id : nodes) {
    const bool is_wide = lanes.contains(id);
    const bool is_value = is_elementwise(g.op(id)) && g.dtype(id) != DType::index && g.dtype(id) != DType::boolean;
    if (!is_wide && is_value) return ranges.size();
    if (g.op(id) == Op::LOAD && is_wide) loads.push_back(id);
  }
  if (loads.empty() || (loops.empty() && std::ssize(loads) < fewest_loads)) return ranges.size();
  const std::vector<Id> below = g.reachable(loads);
  for (std::size_t i = ranges.size() - 1; i-- > 0;)
    if (!std::ranges::binary_search(below, ranges[i]) && !bounds_loops(g, stores, ranges[i])) return i;
  return ranges.size();
}

// The extent if it is a constant, else 0.
std::int64_t constant_extent(const Graph& g, Id range) { return g.is_const(g.end(range)) ? g.value(g.end(range)) : 0; }

// The extent in most iterations of the loops around, or 0 if it is not known. Example: a tile has min(8, n) rows, for n rows
// that are left: 8.
std::int64_t usual_extent(const Graph& g, Id range) {
  const Id end = g.end(range);
  if (g.op(end) == Op::MIN)
    for (const Id least : g.src(end))
      if (g.is_const(least)) return g.value(least);
  return constant_extent(g, range);
}

// The iterations of one of several nearly equal shares of a range. A share has at most `most` iterations.
int even_share(std::int64_t extent, int most) {
  if (extent == 0) return most;
  const std::int64_t shares = (extent - 1) / most + 1;
  return narrow<int>((extent - 1) / shares + 1);
}

// Whether iterations of the range share a load of an fma loop: a vector load, or any.
bool shares_load(const Graph& g, std::span<const Id> stores, std::span<const Id> fma_loops, std::span<const Id> ranges,
                 std::size_t i, bool vector_load) {
  for (const Id loop : fma_loops)
    for (const Id id : g.reachable(loop_parts(g, loop).yield))
      if (g.op(id) == Op::LOAD && index_stride(g, index_of(g, id), ranges[i]) == 0 &&
          (!vector_load || index_stride(g, index_of(g, id), ranges.back()) != 0) && !bounds_loops(g, stores, ranges[i]))
        return true;
  return false;
}

// The index of the range whose iterations become copies with common loops: some load of an fma loop does not depend on the
// range, preferably a vector load. The innermost such range with enough iterations for nearly `most` copies, else one with the
// most copies. ranges.size(): none.
std::size_t copied_range(const Graph& g, std::span<const Id> stores, std::span<const Id> fma_loops, std::span<const Id> ranges,
                         int most) {
  const std::size_t lanes = ranges.size() - 1;
  for (const bool vector_load : {true, false}) {
    std::size_t best = ranges.size();
    int copies = 0;
    for (std::size_t i = lanes; i-- > 0 && 3 * copies <= 2 * most;) {
      const int here = even_share(usual_extent(g, ranges[i]), most);
      if (here <= copies || !shares_load(g, stores, fma_loops, ranges, i, vector_load)) continue;
      best = i;
      copies = here;
    }
    if (best != ranges.size()) return best;
  }
  return ranges.size();
}

// Finds a second short range to copy, such as the columns of a small window when the range `at` has its rows. The loops then
// run once for all pairs of iterations of the two ranges. Returns its index; ranges.size(): none.
std::size_t short_range_beside(const Graph& g, std::span<const Id> stores, std::span<const Id> fma_loops,
                               std::span<const Id> ranges, std::size_t at, int copies) {
  if (constant_extent(g, ranges[at]) != copies) return ranges.size();
  for (std::size_t i = ranges.size() - 1; i-- > 0;) {
    const std::int64_t n = constant_extent(g, ranges[i]);
    if (i != at && n > 1 && n * copies <= most_accumulators && shares_load(g, stores, fma_loops, ranges, i, true)) return i;
  }
  return ranges.size();
}

// The index of the range in which the columns go on, as in the panels of a packed operand: each of its iterations has vector
// loads of its own, and they share the loop's other loads. ranges.size(): none.
std::size_t goes_on_in(const Graph& g, std::span<const Id> stores, std::span<const Id> fma_loops, std::span<const Id> ranges) {
  const Id lanes = ranges.back();
  const auto continues = [&](Id beside) {
    for (const Id loop : fma_loops)
      for (const Id id : g.reachable(loop_parts(g, loop).yield))
        if (g.op(id) == Op::LOAD &&
            (index_stride(g, index_of(g, id), lanes) == 0) != (index_stride(g, index_of(g, id), beside) == 0))
          return false;
    return !bounds_loops(g, stores, beside);
  };
  if (ranges.size() < 3 || fma_loops.empty()) return ranges.size();
  for (std::size_t i = ranges.size() - 1; i-- > 0;)
    if (continues(ranges[i])) return i;
  return ranges.size();
}

// The terms of the longest chain of products; 0: not constant.
std::int64_t terms_of(const Graph& g, std::span<const Id> nodes, std::span<const Id> fma_loops) {
  std::int64_t longest = 0;
  for (const Id loop : fma_loops) {
    const Id end = loop_parts(g, loop).end;
    if (!g.is_const(end)) return 0;
    longest = std::max(longest, g.value(end));
  }
  const std::vector<Id> nest = chain_nest(g, nodes);
  return nest.empty() ? longest : iterations_of(g, nest);
}

// Whether the copied operand uses few elements of each cache line that it loads. `line`: the elements of a cache line. Example:
// w[k, i, 0] with row i and term k. The next term is a cache line away or more, and the next row is not the next element. A
// loop over fewer terms than `line`, as over the taps of a filter, does not count.
bool is_scattered(const Graph& g, std::span<const Id> nodes, Id row, Id lanes, std::int64_t line) {
  for (const Id load : nodes) {
    if (g.op(load) != Op::LOAD || index_stride(g, index_of(g, load), lanes) != 0) continue;
    if (index_stride(g, index_of(g, load), row).value_or(0) <= 1) continue;
    for (const Id id : nodes)
      if (g.op(id) == Op::FOR && constant_extent(g, g.range_of(id)) >= line &&
          std::abs(index_stride(g, index_of(g, load), g.range_of(id)).value_or(0)) >= line)
        return true;
  }
  return false;
}

// The number of iterations of the copied range whose operands fill `block_bytes`. The operand of one iteration is a row. A
// block of scattered rows has few of them, which then stay in the L1 cache for all columns.
std::int64_t rows_of_block(const Graph& g, std::span<const Id> nodes, std::span<const Id> fma_loops, int widest, Id row,
                           Id lanes, int copies) {
  if (fma_loops.empty()) return rows_of_streams;
  const std::int64_t longest = terms_of(g, nodes, fma_loops), columns = constant_extent(g, lanes);
  if (longest == 0) return block_rows;
  const bool is_cached = columns != 0 && columns <= cached_bytes / widest / longest;
  if (is_cached && is_scattered(g, nodes, row, lanes, line_bytes / widest)) return std::int64_t{2} * copies;
  return std::max(fewest_rows, block_bytes / widest / longest);
}

// columns: the extent of the range; 0: not constant. The code for constant columns has no operations on registers whose lanes
// are all inactive.
LoopPlan lanes_of_block(Id range, std::int64_t columns, int lanes, int one_register, bool can_mask, const Target& target) {
  LoopPlan p{.range = range, .step = lanes, .lanes = true};
  if (can_mask && columns == 0 && lanes > 2 * one_register)
    p.tails = {{2 * one_register, false}, {one_register, true}};
  else if (can_mask)
    p.tails = masked_tails(std::min(lanes, 2 * one_register), one_register, target);
  else if (lanes > one_register)
    p.tails = {{one_register, false}, {1, false}};
  return p;
}

// Few copies fill the registers with accumulators of more vectors. Beside them, the registers hold one element for each copy,
// and a vector.
void more_vectors(LoopPlan& lanes, std::int64_t columns, int copies, int one_register, const Target& target) {
  const int accumulators = target.vector_registers >= 32 ? accumulators_of_32 : most_accumulators;
  const int most = std::min(accumulators / copies, (target.vector_registers - 1) / copies - 1);
  for (int vectors = most; vectors * one_register > lanes.step; --vectors) {
    const int step = vectors * one_register;
    if (columns < std::int64_t{4} * step && (columns == 0 || columns % step != 0)) continue;
    lanes.step = step;
    lanes.vectors = vectors;
    return;
  }
}

LoopPlan copies_of_block(Id range, int copies) {
  LoopPlan p{.range = range, .step = copies};
  if (copies / 3 > 1) p.tails = {{copies / 3, false}, {1, false}};
  return p;
}

}  // namespace

std::optional<std::vector<LoopPlan>> register_block(const Graph& g, std::span<const Id> stores, std::span<const Id> fma_loops,
                                                    std::span<const Id> ranges, int widest, bool can_mask,
                                                    const Target& target) {
  std::vector<Id> loops(fma_loops.begin(), fma_loops.end());
  if (loops.empty())
    std::ranges::copy_if(g.reachable(stores), std::back_inserter(loops), [&](Id id) { return g.op(id) == Op::FOR; });
  const std::size_t last = ranges.size() - 1;
  const int one_register = std::max(1, target.vector_bytes / widest);
  const std::int64_t columns = constant_extent(g, ranges[last]);
  const Work work = work_of(g, loops);
  const bool light = work.operations <= light_operations && !work.gated;
  // A striped reduction is a tree of loops, or of elements. The code makes one tree after the other, so copies would share
  // little.
  const bool is_tree = fma_loops.empty() && loops.size() != 1;
  int registers = light && target.vector_registers >= 32 ? 4 : 2;  // of the lanes
  if (is_tree) registers = loops.empty() ? std::max(1, target.vector_registers / tree_height) : registers_of_chain;
  const int all_registers = registers;
  while (registers > 1 && columns != 0 && columns < registers * one_register) registers /= 2;
  int lanes = registers * one_register;
  if (columns != 0 && columns < lanes) lanes = narrow<int>(floor_power_of_two(columns));
  const bool is_narrow = columns == lanes && registers < all_registers;
  const std::size_t beside = is_narrow ? goes_on_in(g, stores, fma_loops, ranges) : ranges.size();
  const int side_by_side = beside == ranges.size() ? 1 : all_registers / registers;
  registers *= side_by_side;
  const int fitting = (target.vector_registers - 1 - registers) / (registers * work.carried);
  const int most = light ? std::clamp(fitting, 1, most_copies) : 4;
  const std::size_t at =
      fma_loops.empty() ? outer_of_lanes(g, stores, ranges, loops) : copied_range(g, stores, loops, ranges, most);
  if (at == ranges.size()) return std::nullopt;
  const std::int64_t rows = usual_extent(g, ranges[at]);
  int copies = is_tree ? 1 : even_share(rows, most);
  if (registers == 4 && side_by_side == 1 && !is_tree && !fma_loops.empty() && rows > most && rows <= rows_at_once) {
    copies = narrow<int>(rows);
    registers = 2;
    lanes = registers * one_register;
  }
  const std::int64_t block =
      rows_of_block(g, g.reachable(stores), fma_loops, widest, ranges[at], ranges[last], copies) / copies * copies;
  // Threads share the outermost loop. If they shared the rows, each would read all columns. So they share the columns where one
  // block holds all rows and there are more vectors of columns than copies of rows.
  const bool by_columns =
      at == 0 && last == 1 && rows != 0 && rows <= block && (columns == 0 || columns / lanes > rows / copies);
  const bool blocks =
      (rows == 0 || rows > 2 * copies) && (rows == 0 || block < rows || at == 0) && block > copies && !by_columns;
  std::vector<LoopPlan> plan;
  for (std::size_t i = 0; i < last; ++i) {
    if (i != at)
      plan.push_back({.range = ranges[i], .step = i == beside ? side_by_side : 1});
    else if (blocks)
      plan.push_back({.range = ranges[i], .step = narrow<int>(block), .block = true});
  }
  plan.push_back(lanes_of_block(ranges[last], columns, lanes, one_register, can_mask, target));
  const std::int64_t terms = terms_of(g, g.reachable(stores), fma_loops);
  const int waiting =
      light && target.vector_registers >= 32 && (terms == 0 || terms >= long_chain) ? accumulators_of_32 : waiting_accumulators;
  if (work.arithmetic <= light_operations && !is_tree && copies > 1 && copies * registers < waiting) {
    if (light) more_vectors(plan.back(), columns, copies, one_register, target);
    const bool is_wider = plan.back().step > lanes;
    const std::size_t also = is_wider || fma_loops.empty() ? last : short_range_beside(g, stores, loops, ranges, at, copies);
    if (also < last && also != beside) {
      const int n = narrow<int>(constant_extent(g, ranges[also]));
      std::ranges::find(plan, ranges[also], &LoopPlan::range)->step = n;
      const int vectors = std::min(registers, most_accumulators / (n * copies));
      plan.back() =
          lanes_of_block(ranges[last], columns, std::min(lanes, vectors * one_register), one_register, can_mask, target);
    }
  }
  plan.push_back(copies_of_block(ranges[at], copies));
  if (!fma_loops.empty()) chain_blocks(g, stores, widest, target, plan);
  return plan;
}

}  // namespace kiln::compiler
