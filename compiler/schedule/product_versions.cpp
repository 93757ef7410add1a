#include "compiler/schedule/product_versions.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/range_ids.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/schedule/packed_operand.h"
#include "compiler/schedule/row_lengths.h"
#include "compiler/schedule/short_rows.h"
#include "compiler/schedule/unpacked_operand.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t longest_row_of_copy = 64;  // elements; sums of such rows are trees, not loops
constexpr std::int64_t shortest_row_of_copy = 8;  // rows of this constant length are written out; lanes read them

// A contiguous operand of an fma REDUCE, to be laid out in panels; nullopt: the kernel has none.
std::optional<Operand> panel_operand(const Graph& g, const Kernel& k) {
  const std::vector<Id> loops = loop_ranges_of(g, k);
  if (loops.size() < 2) return std::nullopt;
  for (const Id id : g.reachable(k.sink)) {
    if (g.op(id) != Op::REDUCE || g.reduce_kind(id) != ReduceKind::fma) continue;
    const std::size_t values = operands_of(ReduceKind::fma);
    if (g.src(id).size() != values + 1 || g.op(g.src(id, values)) != Op::RANGE) continue;
    for (const Id load : g.reachable(g.src(id).first(values))) {
      if (g.op(load) != Op::LOAD || g.src(load).size() != 2) continue;
      std::optional<Operand> o = operand_of(g, loops, load, g.src(id, values));
      if (!o || !o->contiguous) continue;
      o->panel = panel_of(g.dtype(load));
      const std::optional<std::int64_t> columns = index_value(g, g.end(o->column));
      if (may_store_twice(g, k) || (columns && *columns % o->panel == 0)) return o;
    }
  }
  return std::nullopt;
}

// A short sum for each pair of rows, in a REDUCE over the rows of one operand, as in the search of the nearest one.
struct RowSums {
  Operand operand;  // the other operand: its rows belong to the columns of the kernel
  Id repeats;       // the range of the REDUCE around the sum
};

std::optional<RowSums> row_sums(const Graph& g, const Kernel& k) {
  const std::vector<Id> loops = loop_ranges_of(g, k);
  const auto range_of = [&](Id reduce) {
    const std::size_t values = operands_of(g.reduce_kind(reduce));
    return g.src(reduce).size() == values + 1 && g.op(g.src(reduce, values)) == Op::RANGE ? g.src(reduce, values) : no_id;
  };
  if (loops.empty()) return std::nullopt;
  for (const Id around : g.reachable(k.sink)) {
    if (g.op(around) != Op::REDUCE || range_of(around) == no_id) continue;
    for (const Id id : g.reachable(g.src(around).first(operands_of(g.reduce_kind(around))))) {
      if (g.op(id) != Op::REDUCE || g.reduce_order(id) != ReduceOrder::striped || range_of(id) == no_id) continue;
      const std::vector<Id> below = g.reachable(id);
      if (!std::ranges::binary_search(below, range_of(around))) continue;  // the same sum for all rows
      if (!lanes_but_for_one_load(g, k, id)) continue;
      for (const Id load : g.reachable(g.src(id).first(operands_of(g.reduce_kind(id))))) {
        if (g.op(load) != Op::LOAD || g.src(load).size() != 2) continue;
        const std::optional<Operand> o = operand_of(g, loops, load, range_of(id));
        if (o && !o->contiguous) return RowSums{*o, range_of(around)};
      }
    }
  }
  return std::nullopt;
}

// The ranges on which the operand does not depend.
std::vector<Id> rows_of(const Graph& g, const Kernel& k, const Operand& o) {
  std::vector<Id> rows;
  for (const Id loop : loop_ranges_of(g, k))
    if (loop != o.column && std::ranges::find(o.outer, loop) == o.outer.end()) rows.push_back(loop);
  return rows;
}

// The product of the extents, or of `most` in place of each extent above it. So it cannot overflow where an extent is 0.
Id iterations(Graph& g, std::span<const Id> ranges, std::int64_t most) {
  Id n = g.index(1);
  for (const Id r : ranges) n = index_mul(g, n, index_min(g, g.end(r), g.index(most)));
  return n;
}

// 1 if panels of the operand pay, else 0. Each call computes it, so it is one test with the lowest of the limits. The limits
// are for one matrix of several.
Id is_large(Graph& g, const Operand& o, Id rows) {
  const auto [size, walks] = lowest_panel_limit;
  const std::int64_t fewest = size / bytes(g.dtype(o.value)) + 1;
  const Id ranges[] = {o.r, o.column};
  const Id columns = at_least(g, g.end(o.column), fewest_panels * o.panel);
  const Id both = index_mul(g, columns, at_least(g, iterations(g, ranges, fewest), fewest));
  return index_mul(g, both, at_least(g, rows, walks));
}

// The kernel for one iteration of these ranges.
Kernel for_one_row(Graph& g, Kernel k, std::span<const Id> rows) {
  RangeChange change;
  for (const Id r : rows) {
    change.values[r] = g.index(0);
    change.loops[r] = {};
  }
  rewrite_kernel(g, k, change);
  return k;
}

// Collects the versions of one kernel. Each version runs if its factor is 1.
class Versions {
 public:
  Versions(Graph& g, const Facts& facts) : g_(g), simplify_(g, facts) {}

  void add(Kernel k, Id factor) {
    if (factor == g_.index(0)) return;
    if (factor != g_.index(1)) run_if(g_, k, factor);
    simplify_uses(g_, k, simplify_);
    number_ranges(g_, k);
    kernels_.push_back(std::move(k));
  }
  Id simplified(Id factor) { return simplify_(factor); }
  std::vector<Kernel> take() { return std::move(kernels_); }

 private:
  Graph& g_;
  Simplifier simplify_;
  std::vector<Kernel> kernels_;
};

// A version in place, and one with a transposed copy of the rows: lanes of the copy need no tree of shuffles for each sum.
std::vector<Kernel> versions_of_row_sums(Graph& g, Schedule& s, const Kernel& k, const Facts& facts) {
  const std::optional<RowSums> sums = row_sums(g, k);
  if (!sums) return {k};
  const Id row = g.end(sums->operand.r), walks = g.end(sums->repeats), always = g.index(1);
  Versions versions(g, facts);
  const Id is_long = at_least(g, row, longest_row_of_copy + 1);
  const Id is_short = index_sub(g, always, is_long), repeated = at_least(g, walks, walks_for_rows);
  const Id copied = versions.simplified(index_mul(g, is_short, repeated));
  const Id in_place = versions.simplified(index_sub(g, always, copied));
  const std::optional<std::int64_t> elements = index_value(g, row);
  const Id ends[] = {row, walks, g.end(sums->operand.column)};
  if (in_place == always || (elements && *elements <= shortest_row_of_copy) || !are_of_the_call(g, s.program, ends)) return {k};
  versions.add(k, in_place);
  Kernel reads = k;
  Kernel copy = pack(g, s, reads, sums->operand, facts);
  s.buffers.back().size = index_mul(g, s.buffers.back().size, copied);
  versions.add(std::move(copy), copied);
  versions.add(std::move(reads), copied);
  return versions.take();
}

// A version with lanes of rows for short rows, and versions for the lengths of other rows.
std::vector<Kernel> versions_of_rows(Graph& g, Schedule& s, const Kernel& k, const Facts& facts) {
  const std::optional<RowLengths> lengths = row_lengths(g, s, k);
  const std::optional<ShortRows> tiles =
      only_reduces_rows(g, k) && !finds_extrema(g, k) ? std::nullopt : short_rows(g, s, k, facts);
  Versions versions(g, facts);
  const Id always = g.index(1), tiled = tiles ? versions.simplified(tiles->factor) : g.index(0),
           rest = index_sub(g, always, tiled);
  // Rows that are not short for the tiles may be short by themselves, as those of an image.
  const bool may_be_few = !tiles || only_reduces_rows(g, k) ||
                          std::ranges::any_of(tiles->sizes, [&](Id n) { return lengths && n != lengths->length; });
  if (lengths && may_be_few) {
    versions.add(lengths->few, versions.simplified(index_mul(g, rest, lengths->factor)));
    versions.add(lengths->many, versions.simplified(index_mul(g, rest, index_sub(g, always, lengths->factor))));
  } else {
    versions.add(k, versions.simplified(rest));
  }
  if (tiles) versions.add(tiles->kernel, tiled);
  return versions.take();
}

std::vector<Kernel> versions_of_sums(Graph& g, Schedule& s, const Kernel& k, const Facts& facts) {
  if (has_tile_steps(g, k.sink)) return versions_of_rows(g, s, k, facts);
  std::vector<Kernel> versions = versions_of_row_sums(g, s, k, facts);
  return versions.size() > 1 ? versions : versions_of_rows(g, s, k, facts);
}

// The kernels in place of kernel number n, in the order in which they run. accesses: of each kernel of s. copies: by the number
// of a kernel that copies an operand: its factor, 1 for calls that need the copy.
std::vector<Kernel> versions_of(Graph& g, Schedule& s, std::span<const KernelAccess> accesses, std::size_t n,
                                const Facts& facts, std::map<std::size_t, Id>& copies) {
  const Kernel k = s.kernels[n];
  if (k.is_explicit) return {k};
  const std::optional<Operand> o = has_tile_steps(g, k.sink) ? std::nullopt : panel_operand(g, k);
  if (!o) return versions_of_sums(g, s, k, facts);
  Versions versions(g, facts);
  const std::vector<Id> ranges = rows_of(g, k, *o);
  const Id rows = iterations(g, ranges, lowest_panel_limit.walks), none = g.index(0), always = g.index(1);
  if (g.is_const(rows)) return {k};
  std::optional<Unpacked> few = unpacked(g, s, accesses, n, *o);
  const Id large = versions.simplified(is_large(g, *o, rows)), some = at_least(g, rows, 1), several = at_least(g, rows, 2);
  const Id one =
      versions.simplified(few ? index_sub(g, always, at_least(g, rows, walks_for_rows)) : index_sub(g, some, several));
  const Id in_place = versions.simplified(index_sub(g, index_sub(g, always, one), large));
  const Id matrix[] = {large, g.end(o->r), g.end(o->column)};
  if (in_place == always || !are_of_the_call(g, s.program, matrix)) return {k};
  versions.add(few ? std::move(few->kernel) : for_one_row(g, k, ranges), one);
  if (few) copies[few->copy] = index_sub(g, always, one);
  versions.add(k, in_place);
  if (large == none) return versions.take();
  Kernel panels = k;
  Kernel copy = pack(g, s, panels, *o, facts);
  s.buffers.back().size = index_mul(g, s.buffers.back().size, large);
  versions.add(std::move(copy), large);
  versions.add(std::move(panels), large);
  return versions.take();
}

// Rotating buffers come after all temporaries.
void move_rotating_to_end(Schedule& s) {
  std::vector<int> order(s.buffers.size()), now(s.buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int b) { return std::pair(!nth(s.buffers, b).among.empty(), b); });
  for (std::size_t i = 0; i < order.size(); ++i) nth(now, order[i]) = narrow<int>(i);
  const auto renumber = [&](int& b) { b = b < 0 ? b : nth(now, b); };
  std::vector<Buffer> buffers;
  for (const int b : order) {
    std::ranges::for_each(buffers.emplace_back(std::move(nth(s.buffers, b))).among, renumber);
  }
  s.buffers = std::move(buffers);
  for (Kernel& k : s.kernels) {
    std::ranges::for_each(k.buffers, renumber);
    if (k.at_entry) std::ranges::for_each(*k.at_entry, renumber);
  }
  for (HostLoop& l : s.loops) renumber(l.condition);
  for (Symbol& y : s.program.symbols) renumber(y.buffer);
}

}  // namespace

void product_versions(Graph& g, Schedule& s) {
  const LocScope restored(g);
  const Facts facts = facts_of(s.program);
  std::vector<Kernel> kernels;
  std::vector<std::size_t> last;     // by old kernel: its last version, which depends on the others
  std::map<std::size_t, Id> copies;  // by old kernel
  std::vector<KernelAccess> accesses;
  for (const Kernel& k : s.kernels) accesses.push_back(access_of(g, k));
  for (std::size_t n = 0; n < s.kernels.size(); ++n) {
    std::vector<std::size_t> needs;
    for (const std::size_t d : s.kernels[n].depends_on) needs.push_back(last[d]);
    for (Kernel& version : versions_of(g, s, accesses, n, facts, copies)) {
      version.depends_on = std::exchange(needs, {kernels.size()});
      version.loop = s.kernels[n].loop;
      version.name = s.program.name + "_k" + std::to_string(kernels.size());
      kernels.push_back(std::move(version));
    }
    last.push_back(kernels.size() - 1);
  }
  for (const auto& [copy, factor] : copies) run_if(g, kernels[last[copy]], factor);
  s.kernels = std::move(kernels);
  move_rotating_to_end(s);
}

}  // namespace kiln::compiler
