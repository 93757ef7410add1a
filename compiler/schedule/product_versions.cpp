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
#include "compiler/schedule/unpacked_operand.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::compiler {
namespace {

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

// 1 if the value is at least `least`, else 0. The runtime's expressions have no conditions.
Id at_least(Graph& g, Id value, std::int64_t least) {
  const Id above = index_sub(g, value, g.index(least - 1)), zero = g.index(0), one = g.index(1);
  return index_min(g, one, index_max(g, zero, above));
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

// 1 if the operand is large, else 0.
Id is_large(Graph& g, const Operand& o, Id rows) {
  const std::int64_t fewest = fits_in_cache / bytes(g.dtype(o.value)) + 1;
  std::vector<Id> ranges = o.outer;
  ranges.insert(ranges.end(), {o.r, o.column});
  const Id elements = iterations(g, ranges, fewest), columns = at_least(g, g.end(o.column), fewest_panels * o.panel);
  const Id size = at_least(g, elements, fewest), walks = at_least(g, rows, walks_for_panels);
  const Id both = index_mul(g, columns, size);
  return index_mul(g, both, walks);
}

// The kernel runs if the factor is 1, and not if it is 0.
void run_if(Graph& g, Kernel& k, Id factor) {
  const Id outermost = loop_ranges_of(g, k).front();
  RangeIds ids(g, k.sink);
  const Id range = ids.range(g, index_mul(g, g.end(outermost), factor), RangeKind::loop);
  rewrite_kernel(g, k, {.values = {{outermost, range}}, .loops = {{outermost, {range}}}});
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

// Whether each symbol in the expressions has one value in a call: the size of a buffer may depend on it.
bool are_of_the_call(const Graph& g, const Program& p, std::span<const Id> expressions) {
  return std::ranges::all_of(g.reachable(expressions), [&](Id id) {
    return g.op(id) != Op::SYM || std::ranges::any_of(p.symbols, [&](const Symbol& s) {
             return s.name == g.name(id) && (s.kind == Symbol::Kind::extent || s.kind == Symbol::Kind::stride);
           });
  });
}

// The kernels in place of kernel number n, in the order in which they run. copies: by kernel that copies an operand: the factor
// of the calls that need the copy.
std::vector<Kernel> versions_of(Graph& g, Schedule& s, std::size_t n, const Facts& facts, std::map<std::size_t, Id>& copies) {
  const Kernel k = s.kernels[n];
  if (k.is_explicit || has_tile_steps(g, k.sink)) return {k};
  const std::optional<Operand> o = panel_operand(g, k);
  if (!o) return {k};
  Simplifier simplify(g, facts);
  const std::vector<Id> ranges = rows_of(g, k, *o);
  const Id rows = iterations(g, ranges, walks_for_panels), none = g.index(0), always = g.index(1);
  std::optional<Unpacked> few = unpacked(g, s, n, *o);
  const Id large = simplify(is_large(g, *o, rows)), some = at_least(g, rows, 1), several = at_least(g, rows, 2);
  const Id one =
      few ? simplify(index_sub(g, always, at_least(g, rows, rows_that_pay_for_a_copy))) : simplify(index_sub(g, some, several));
  const Id in_place = simplify(index_sub(g, index_sub(g, always, one), large));
  const Id matrix[] = {large, g.end(o->r), g.end(o->column)};
  if (in_place == always || g.is_const(rows) || !are_of_the_call(g, s.program, matrix)) return {k};
  std::vector<Kernel> versions;
  const auto add = [&](Kernel version, Id factor) {
    if (factor == none) return;
    if (factor != always) run_if(g, version, factor);
    simplify_uses(g, version, simplify);
    number_ranges(g, version);
    versions.push_back(std::move(version));
  };
  add(few ? std::move(few->kernel) : for_one_row(g, k, ranges), one);
  if (few) copies[few->copy] = index_sub(g, always, one);
  add(k, in_place);
  if (large == none) return versions;
  Kernel panels = k;
  Kernel copy = pack(g, s, panels, *o, facts);
  s.buffers.back().size = index_mul(g, s.buffers.back().size, large);
  add(std::move(copy), large);
  add(std::move(panels), large);
  return versions;
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
  for (std::size_t n = 0; n < s.kernels.size(); ++n) {
    std::vector<std::size_t> needs;
    for (const std::size_t d : s.kernels[n].depends_on) needs.push_back(last[d]);
    for (Kernel& version : versions_of(g, s, n, facts, copies)) {
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
