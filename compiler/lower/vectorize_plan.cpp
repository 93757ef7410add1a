#include "compiler/lower/vectorize_plan.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/power_of_two.h"
#include "compiler/ir/remark.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/state.h"
#include "compiler/lower/access.h"
#include "compiler/lower/check_plan.h"
#include "compiler/lower/expand.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/interleaved_access.h"
#include "compiler/lower/lane_cost.h"
#include "compiler/lower/linear_index.h"
#include "compiler/lower/memory_accumulators.h"
#include "compiler/lower/past_caches.h"
#include "compiler/lower/piece_blocks.h"
#include "compiler/lower/plan_text.h"
#include "compiler/lower/range_parts.h"
#include "compiler/lower/register_block.h"
#include "compiler/lower/rewrite.h"
#include "compiler/lower/rows_side_by_side.h"
#include "compiler/lower/transpose_loads.h"
#include "compiler/lower/transpose_tile.h"
#include "compiler/lower/window_rows.h"
#include "compiler/target/lane_limits.h"
#include "compiler/target/unrollable_loops.h"

namespace kiln::compiler {
namespace {

constexpr int light_body = 24;         // most operations of a body for which two registers per value fit
constexpr int cheap_body = 8;          // most operations of a body whose scalar tail is small and fast enough at the end
constexpr int room_for_interior = 5;   // registers of the shortest range whose interior has vectors of two registers
constexpr int widest_plan_tile = 16;   // lanes of a tile
constexpr int waiting_tile = 32;       // most products of a tile's column that wait for the products of the column before
constexpr int tiles_in_flight = 8;     // of loops with fewer tiles, the processor runs several at once in any case
constexpr int tile_block = 64;         // copies of tiles side by side, so that their rows share pages
constexpr int rows_at_once = 4;        // rows under overlapping windows
constexpr int many_rows = 8;           // the same for windows of many rows, which share more
constexpr int wide_window = 20;        // products of such a window
constexpr int most_of_rows = 64;       // most operations of a body for which the vectors of these rows fit registers
constexpr int long_body = 256;         // most operations of a body without loops whose iterations run side by side
constexpr int operations_of_load = 4;  // fewest operations for each load of such a body
constexpr int values_in_flight = 64;   // vectors that such a body needs later, at most; some of them wait on the stack
constexpr double worth_copies = 0.75;  // largest cost of written-out code, as a share of the loops' cost

// The work of the lanes of a range. Values that are the same in all lanes are computed around the loop over lanes.
struct Body {
  int widest = 1;     // bytes of the widest value
  int narrowest = 8;  // bytes of the narrowest element in memory
  int operations = 0;
  int loads = 0;
  int conditions = 0;  // how many operations are on truth values: mostly tests of indices, for borders only (interior.h)
  std::vector<Id> fma_loops;
  int loops = 0;
  bool has_loops = false;
  bool has_borders = false;       // conditions that may hold for inner iterations only (interior.h)
  bool divides = false;           // quotients or remainders of the range in indices
  bool has_loops_around = false;  // loops that do not depend on the range
};

// Whether an accumulator's next value is an fma, or a sum with the products of a pair.
bool adds_product(const Graph& g, Id next) {
  const auto is_dot2 = [&](Id term) { return g.op(term) == Op::DOT2; };
  return g.op(next) == Op::FMA || (g.op(next) == Op::ADD && std::ranges::any_of(g.src(next), is_dot2));
}

Body look(const Graph& g, std::span<const Id> stores, Id range) {
  Body b;
  const std::vector<Id> nodes = g.reachable(stores);
  const std::unordered_set<Id> varying = depends_on_range(g, nodes, range);
  for (const Id id : nodes) {
    const Op op = g.op(id);
    if (!varying.contains(id)) {
      b.has_loops_around = b.has_loops_around || op == Op::FOR;
      continue;
    }
    const DType d = op == Op::STORE ? g.dtype(value_of(g, id)) : g.dtype(id);
    const bool counts = op == Op::LOAD || op == Op::STORE || is_elementwise(op);
    if (counts && d != DType::index && d != DType::none && d != DType::boolean) b.widest = std::max(b.widest, bytes(d));
    if (op == Op::LOAD || op == Op::STORE) b.narrowest = std::min(b.narrowest, bytes(d));
    if (op == Op::LOAD) ++b.loads;
    b.divides = b.divides || ((op == Op::FLOORDIV || op == Op::FLOORMOD) && d == DType::index);
    if (is_elementwise(op) && d != DType::index) ++b.operations;
    if (is_elementwise(op) && d == DType::boolean) ++b.conditions;
    if ((op == Op::LOAD && g.src(id).size() > 2) || ((op == Op::MIN || op == Op::MAX) && d == DType::index))
      b.has_borders = true;
    if (op != Op::FOR) continue;
    b.has_loops = true;
    ++b.loops;
    const auto yield = loop_parts(g, id).yield;
    if (yield.size() == 1 && adds_product(g, yield[0])) b.fma_loops.push_back(id);
  }
  return b;
}

// `wanted` iterations, or the extent if it is constant and smaller.
int fitting(const Graph& g, Id range, int wanted) {
  const Id end = g.end(range);
  if (!g.is_const(end) || g.value(end) >= wanted) return wanted;
  return narrow<int>(std::max<std::int64_t>(1, g.value(end)));
}

bool may_be_lanes(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges, std::size_t i, std::int64_t stride) {
  return why_no_lanes(g, stores, ranges[i], stride).empty();
}

// The short inner ranges of a kernel (unrollable_loops.h).
struct Short {
  std::size_t first;  // index of the first short range; ranges.size(): none is short
  std::int64_t iterations = 1;
  std::int64_t innermost = 1;  // iterations of the last range

  Short(const Graph& g, std::span<const Id> ranges) : first(long_loops(g, ranges)) {
    for (const Id r : ranges.subspan(first)) iterations *= innermost = g.value(g.end(r));
  }
};

bool can_mask(const Body& b, const Target& target) { return b.narrowest >= target.narrowest_masked(); }

// is_const: whether the extent is. Half of the rests of other extents fill one register at most, so they take one vector of one
// register, not of two. outermost: whether the range has one tail in each chunk, not one in each row.
LoopPlan lanes_over(const Body& b, Id range, bool is_const, bool outermost, int lanes, const Target& target) {
  // More operations dominate. Behind a masked vector quotients of the range would differ from call to call (near_gathers.h).
  const bool aligns = can_mask(b, target) && !b.has_loops && !b.divides && b.operations <= light_body;
  LoopPlan p{.range = range, .step = lanes, .lanes = true, .align = aligns ? target.vector_bytes : 0};
  if (outermost && !b.has_loops && b.operations <= cheap_body) return p;
  if (can_mask(b, target)) {
    const int one_register = target.vector_bytes / b.widest;
    p.tails = {{lanes, true}};
    if (lanes == 2 * one_register && !b.has_loops)
      p.tails =
          is_const ? masked_tails(lanes, one_register, target) : std::vector<Tail>{{one_register, false}, {one_register, true}};
    return p;
  }
  p.tails.clear();
  for (int n = lanes; n > 1;) p.tails.push_back({n = std::max(1, n / 4), false});
  return p;
}

// Makes a plan with the short ranges written out and lanes of the range around them. False: the short ranges stay loops.
bool write_out(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges, const Target& target, bool last_may,
               std::vector<LoopPlan>& plan) {
  const Short s(g, ranges);
  if (s.first == ranges.size()) return false;
  if (std::ranges::any_of(ranges.subspan(s.first), [&](Id r) { return bounds_loops(g, stores, r); })) return false;
  const std::size_t at = s.first - 1;
  const Body b = look(g, stores, ranges[at]);
  const LaneCost cost(g, stores, ranges, s.first, target);
  if (cost.operations() > huge_body) return false;
  const int one_register = std::max(1, target.vector_bytes / b.widest);
  // Each iteration of a loop waits for the one before. A second vector uses this time, if its accumulators fit too. Loads from
  // different rows are transposed in tiles of one vector.
  const bool both = b.has_loops && cost.operations() <= short_body && 2 * cost.registers() <= target.vector_registers &&
                    rows_in_lanes(g, stores, ranges[at]).empty();
  const int lanes = floor_power_of_two(fitting(g, ranges[at], both ? 2 * one_register : one_register));
  const bool side_by_side = all_stores_have_stride(g, stores, ranges[at], 1);  // the components are planes
  const bool outer_may = may_be_lanes(g, stores, ranges, at, side_by_side ? 1 : s.iterations) &&
                         (lanes >= shortest_lanes || lanes >= one_register);
  if (outer_may && (!last_may || cost.lanes_of_outer() < cost.lanes_of_last(can_mask(b, target))))
    plan[at] = lanes_over(b, ranges[at], g.is_const(g.end(ranges[at])), at == 0, lanes, target);
  else if (last_may || cost.registers() > target.vector_registers || cost.written_out() > worth_copies * cost.loops())
    return false;
  for (std::size_t i = s.first; i < ranges.size(); ++i) plan[i].step = fitting(g, ranges[i], max_short_iterations);
  return true;
}

// Whether the range around the short inner ranges can become lanes.
bool outer_lanes(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges) {
  const Short s(g, ranges);
  if (s.first == 0) return false;
  return may_be_lanes(g, stores, ranges, s.first - 1, 1) || may_be_lanes(g, stores, ranges, s.first - 1, s.iterations);
}

// The iterations of one side of a tile. A shorter side is for ranges that are cut for it: a constant power of two.
int side_of(const Graph& g, Id range, int width) {
  const int n = fitting(g, range, width);
  return n == width || (n >= shortest_lanes && n == floor_power_of_two(n)) ? n : 0;
}

// Whether interleaved_access replaces the loads.
bool are_interleaved(const Graph& g, std::span<const Id> loads, Id lanes) {
  return std::ranges::any_of(loads, [&](Id load) {
    const std::optional<std::int64_t> stride = index_stride(g, index_of(g, load), lanes);
    return stride && *stride <= most_components;
  });
}

// A plan with tiles of a transposed load: [ranges before i] [blocks of i] [ranges between] [lanes] [copies of i]. nullopt: no
// load needs it, or the ranges are shorter than a tile.
std::optional<std::vector<LoopPlan>> tiles(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges,
                                           int one_register, bool may_mask) {
  const int widest = std::min(one_register, widest_plan_tile);
  const std::size_t last = ranges.size() - 1;
  const int lanes = side_of(g, ranges[last], widest);
  if (widest < shortest_lanes || lanes == 0) return std::nullopt;
  for (std::size_t i = last; i-- > 0;) {
    const int width = side_of(g, ranges[i], lanes);
    const std::vector<Id> loads = width == 0 ? std::vector<Id>{} : loads_to_transpose(g, stores, ranges[i], ranges[last]);
    if (loads.empty() || (width < widest && are_interleaved(g, loads, ranges[last]))) continue;
    std::vector<LoopPlan> plan;
    LoopPlan over_lanes{.range = ranges[last], .step = lanes, .lanes = true};
    if (may_mask) over_lanes.tails = {{lanes, true}};
    const bool is_one_tile = width < widest;  // then the addresses of its rows are computed once, around the ranges between
    for (std::size_t k = 0; k < last; ++k) {
      if (k != i || !is_one_tile) plan.push_back({.range = ranges[k], .step = k == i ? tile_block : 1, .block = k == i});
      if (k == i && is_one_tile) plan.push_back(over_lanes);
    }
    if (!is_one_tile) plan.push_back(over_lanes);
    plan.push_back({.range = ranges[i], .step = width, .transposes = ranges[last]});
    plan.back().tails = {{width / 2, false}};
    if (width > 4) plan.back().tails.push_back({width / 4, false});
    plan.back().tails.push_back({1, false});
    return plan;
  }
  return std::nullopt;
}

// How many iterations of the range share the transposed tiles of the LOADs.
int copies_over_tiles(const Graph& g, std::span<const Id> rows, Id range, const Target& target) {
  const bool moves = std::ranges::any_of(rows, [&](Id load) { return index_stride(g, index_of(g, load), range) != 0; });
  const int most = target.vector_registers / 4;  // half if the extent is unknown, so that fewer iterations are left over
  return moves ? 1 : g.is_const(g.end(range)) ? fitting(g, range, most) : std::max(1, most / 2);
}

}  // namespace

std::vector<Id> order_of_ranges(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges, const Target& target) {
  const std::vector<Id> as_they_are(ranges.begin(), ranges.end()), order = short_last(g, ranges);
  const std::size_t first_short = long_loops(g, order);
  if (order == as_they_are || first_short == order.size()) return as_they_are;
  if (outer_lanes(g, stores, ranges) && !outer_lanes(g, stores, order)) return as_they_are;
  const Body b = look(g, stores, ranges.back());
  if (!b.fma_loops.empty()) return as_they_are;  // tiles of an fma loop already share their loads
  const bool is_flat = !b.has_loops && !b.has_loops_around;
  const std::size_t rows = is_flat ? window_rows(g, stores, ranges) : ranges.size();
  const auto is_moved = [&](Id range) {
    return std::find(order.begin() + narrow<std::ptrdiff_t>(first_short), order.end(), range) != order.end();
  };
  if (rows + 1 < ranges.size() && !is_moved(ranges[rows])) return as_they_are;  // and so do rows under windows
  const LaneCost cost(g, stores, order, first_short, target);
  const bool fits = cost.operations() <= huge_body && cost.registers() <= target.vector_registers;
  const bool fill_tiles = Short(g, order).iterations >= std::min(widest_plan_tile, target.vector_bytes / b.widest);
  const bool pays =
      cost.written_out() <= worth_copies * cost.loops_around() ||
      (!fill_tiles && outer_lanes(g, stores, order) && cost.lanes_of_outer() <= worth_copies * cost.lanes_of_outer_alone());
  return fits && pays ? order : as_they_are;
}

namespace {

// Whether the loop has a constant number of iterations below n.
bool is_short_loop(const Graph& g, Id loop, int n) {
  const Id end = loop_parts(g, loop).end;
  return g.is_const(end) && g.value(end) < n;
}

// Whether most operations of a long body wait for the one before, as in polynomials. A sum of many loads has values that do not
// wait, and needs the registers for them.
bool has_chains(const Body& b) {
  return b.operations <= long_body && b.operations - b.conditions >= operations_of_load * b.loads;
}

// How many values of the body are needed later at one time, at most, if each is computed before its first use.
int most_live(const Graph& g, std::span<const Id> stores, Id range) {
  const std::vector<Id> order = g.in_order(stores);
  const std::unordered_set<Id> varying = depends_on_range(g, order, range);
  std::unordered_map<Id, std::size_t> last;
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const Id s : g.src(order[i])) last[s] = i;
  std::vector<int> ends(order.size());
  int live = 0, most = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    live -= ends[i];
    const DType d = g.dtype(order[i]);
    if (d == DType::index || d == DType::boolean || d == DType::none || !varying.contains(order[i])) continue;
    ++ends[last.at(order[i])];
    most = std::max(most, ++live);
  }
  return most;
}

// The registers of each value of a body with chains. Other vectors use the time in which one waits.
int registers_in_flight(const Graph& g, std::span<const Id> stores, Id range) {
  return std::clamp(values_in_flight / std::max(1, most_live(g, stores, range)), 1, 4);
}

// The rows under windows that run at once: of a constant number, nearly equal shares.
int rows_of_windows(const Graph& g, std::span<const Id> stores, Id range, const Target& target) {
  const auto products = std::ranges::count(g.reachable(stores), Op::FMA, [&](Id id) { return g.op(id); });
  const bool is_short =
      fitting(g, range, 2 * many_rows + 1) <= 2 * many_rows;  // a plane, whose rows then are one or two blocks
  const bool many = products >= wide_window || (products > 0 && is_short && target.vector_registers >= 32);
  if (!many || !g.is_const(g.end(range))) return fitting(g, range, rows_at_once);
  const std::int64_t n = g.value(g.end(range)), shares = (n + many_rows - 1) / many_rows;
  return narrow<int>(std::max<std::int64_t>(1, (n + shares - 1) / std::max<std::int64_t>(1, shares)));
}

// The lanes of one masked vector that holds all iterations of a short range, which fill more than half of it. With mask
// registers a vector may be a part of a register. 0: there is no such vector, or neighbours in the range are neither neighbours
// in memory nor every second element (interleaved_access.h).
int lanes_of_short_range(const Graph& g, std::span<const Id> stores, Id range, int one_register, const Target& target) {
  if (!g.is_const(g.end(range)) || g.value(g.end(range)) >= one_register) return 0;
  const int n = narrow<int>(g.value(g.end(range)));
  const int lanes = target.has_mask_registers() ? ceil_power_of_two(std::max(1, n)) : one_register;
  if (2 * n <= lanes || n == lanes) return 0;
  const bool near = std::ranges::all_of(g.reachable(stores), [&](Id id) {
    const std::optional<std::int64_t> stride = g.op(id) == Op::LOAD ? index_stride(g, index_of(g, id), range) : 0;
    return stride && std::abs(*stride) <= 2;
  });
  return near ? lanes : 0;
}

// Whether rows that are only copied consist of two vectors without masks, which are faster than one with a mask.
bool copies_two_vectors(const Graph& g, const Body& b, Id range) {
  const int n = fitting(g, range, widest_plan_tile);
  return b.operations == 0 && !b.has_loops &&
         n - floor_power_of_two(n) == floor_power_of_two(std::max(1, n - floor_power_of_two(n)));
}

// Whether vectors load what the vectors before them store, as in a Gauss-Seidel step of the elements of one colour. Such a load
// waits until the store has reached the cache.
bool loads_neighbours_of_stores(const Graph& g, std::span<const Id> stores) {
  constexpr std::int64_t near = 64;  // elements
  const std::vector<Id> nodes = g.reachable(stores);
  const auto is_near = [&](Id load, Id store) {
    if (g.op(load) != Op::LOAD || memory_of(g, g.state(load)) != memory_of(g, g.state(store))) return false;
    const LinearIndex a = linear_index(g, index_of(g, load), true), b = linear_index(g, index_of(g, store));
    const std::int64_t apart = a.terms == b.terms ? std::abs(a.constant - b.constant) : 0;
    return apart != 0 && apart <= near;
  };
  return std::ranges::any_of(stores, [&](Id store) {
    return g.op(store) == Op::STORE && std::ranges::any_of(nodes, [&](Id id) { return is_near(id, store); });
  });
}

std::vector<LoopPlan> planned(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges, const Target& target) {
  std::vector<LoopPlan> plan;
  for (const Id r : ranges) plan.push_back({.range = r});
  if (ranges.empty()) return plan;
  const std::size_t at = ranges.size() - 1;
  const Body b = look(g, stores, ranges[at]);
  const int one_register = std::max(1, target.vector_bytes / b.widest);
  const bool streams = b.has_loops && b.fma_loops.empty() && b.operations <= cheap_body;  // columns of a reduction over rows
  const bool is_narrow =
      b.has_borders && fitting(g, ranges[at], room_for_interior * one_register) < room_for_interior * one_register;
  const std::vector<Id> in_rows = b.has_loops ? rows_in_lanes(g, stores, ranges[at]) : std::vector<Id>{};
  const bool is_chain = b.fma_loops.size() == 1 && b.operations <= cheap_body;  // one product, whose fmas wait for each other
  const bool is_heavy = b.operations > light_body && (b.loops < reduce_stripes || !b.fma_loops.empty());  // stripes in turn
  const bool is_flat = !b.has_loops && !b.has_loops_around;
  const std::size_t rows = is_flat && b.operations - b.conditions <= most_of_rows ? window_rows(g, stores, ranges) : at;
  const bool waits = is_heavy && !is_narrow && !b.has_loops && rows >= at && has_chains(b);
  const bool narrows = !b.has_loops && 4 * b.narrowest <= b.widest;  // so that accesses of the narrowest fill a register
  const bool waits_for_stores = !b.has_loops && loads_neighbours_of_stores(g, stores);
  const int registers = !in_rows.empty()        ? 1
                        : streams               ? target.vector_registers / 4
                        : waits                 ? registers_in_flight(g, stores, ranges[at])
                        : is_heavy || is_narrow ? 1
                        : waits_for_stores      ? 8
                        : is_chain || narrows   ? 4
                                                : 2;
  const int most = registers * one_register;
  const int whole = can_mask(b, target) ? lanes_of_short_range(g, stores, ranges[at], one_register, target) : 0;
  const bool is_whole = whole >= 2 * shortest_lanes && target.has_mask_registers() && !copies_two_vectors(g, b, ranges[at]);
  const int lanes = is_whole ? whole : floor_power_of_two(fitting(g, ranges[at], most));
  const bool may = (lanes >= shortest_lanes || lanes >= one_register) && may_be_lanes(g, stores, ranges, at, 1);
  if (std::optional<std::vector<LoopPlan>> p = piece_blocks(g, stores, ranges, one_register)) return *p;
  if (write_out(g, stores, ranges, target, may, plan)) return plan;
  if (!may) {
    if (has_vectors_over(g, stores, ranges[at]) && b.has_loops && !bounds_unequal_loops(g, stores, ranges[at]))
      rows_side_by_side(g, stores, b.narrowest < b.widest, target, plan[at]);
    return plan;
  }
  if (is_flat && b.operations <= light_body)
    if (std::optional<std::vector<LoopPlan>> p = tiles(g, stores, ranges, one_register, can_mask(b, target))) return *p;
  plan[at] = lanes_over(b, ranges[at], g.is_const(g.end(ranges[at])), at == 0 && !is_whole, lanes, target);
  if (plan[at].align != 0 && !b.has_loops_around) plan[at].past_caches = past_caches_from(g, stores, ranges[at]);
  if ((streams || is_chain) && in_rows.empty() && can_mask(b, target))
    plan[at].tails = masked_tails(std::min(lanes, 2 * one_register), one_register, target);
  if (waits && can_mask(b, target)) plan[at].tails = {{std::min(lanes, one_register), true}};
  plan[at].masked_all = b.operations > huge_body;
  if (plan[at].masked_all) return plan;
  if (!in_rows.empty()) {
    if (at > 0 && !bounds_loops(g, stores, ranges[at - 1]))
      plan[at - 1].step = copies_over_tiles(g, in_rows, ranges[at - 1], target);
    const int copies = at > 0 ? plan[at - 1].step : 1;
    if (is_chain && lanes == one_register && copies * lanes <= waiting_tile &&
        !is_short_loop(g, b.fma_loops[0], tiles_in_flight * lanes)) {
      plan[at].vectors = 2;
      plan[at].step = 2 * lanes;
    }
    return plan;
  }
  std::optional<std::vector<LoopPlan>> blocks;
  if (ranges.size() > 1 && (b.loops < reduce_stripes || b.fma_loops.empty()))
    blocks = register_block(g, stores, b.fma_loops, ranges, b.widest, can_mask(b, target), target);
  if (!blocks && rows < at) {
    plan[rows].step = rows_of_windows(g, stores, ranges[rows], target);
    plan[rows].shares_loads = true;
    if (whole != 0) {
      plan[at].step = whole;
      plan[at].tails = {{whole, true}};
    }
  }
  if (!blocks && b.has_loops) blocks = memory_accumulators(g, stores, ranges, b.widest, can_mask(b, target), target);
  // The sum of one product has no copies. Its vectors are used once, so they need no registers beside the accumulators.
  const int chains = 8 * one_register;
  if (!blocks && is_chain && in_rows.empty() && b.operations == 1 && !b.has_borders && target.vector_registers < 32 &&
      can_mask(b, target) && fitting(g, ranges[at], 4 * chains) == 4 * chains && g.is_const(g.end(ranges[at]))) {
    plan[at].step = chains;
    plan[at].vectors = 8;
  }
  return blocks.value_or(plan);
}

std::string range_text(const Graph& g, Id range) { return "the loop of " + index_text_or_id(g, g.end(range)) + " iterations"; }

void explain(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges, std::span<const LoopPlan> plan) {
  if (!plan.empty()) remark(g, stores[0], remarks::plan, [&] { return in_one_line(plan_text(g, ranges, plan)); });
  const auto lanes = std::ranges::find(plan, true, &LoopPlan::lanes);
  if (lanes != plan.end()) {
    remark(g, stores[0], remarks::vectorised, [&] {
      return range_text(g, lanes->range) + " runs " + std::to_string(lanes->step) + " iterations at a time, in lanes";
    });
    return;
  }
  if (ranges.empty()) return;  // one iteration
  remark(g, stores[0], remarks::not_vectorised, [&] {
    const std::string_view why = why_no_lanes(g, stores, ranges.back(), 1);
    return range_text(g, ranges.back()) + ": " + (why.empty() ? "too few iterations for lanes to pay" : std::string(why));
  });
}

}  // namespace

std::vector<Tail> masked_tails(int lanes, int one_register, const Target& target) {
  if (lanes <= one_register || target.has_mask_registers()) return {{lanes, true}};
  return {{one_register, false}, {one_register, true}};
}

std::vector<LoopPlan> vectorize_plan(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges,
                                     const Target& target) {
  std::vector<LoopPlan> plan = planned(g, stores, ranges, target);
  if (g.remarks() != nullptr && !stores.empty()) explain(g, stores, ranges, plan);
  return plan;
}

}  // namespace kiln::compiler
