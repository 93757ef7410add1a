#include "compiler/lower/arg_reduce.h"

#include <utility>

#include "compiler/ir/reduce_identity.h"
#include "compiler/lower/access.h"
#include "compiler/lower/carried_loops.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/striped_reduce.h"
#include "compiler/symbolic/bounds.h"

namespace kiln::compiler {
namespace {

Id compare(Graph& g, Op op, Id a, Id b) { return g.make(op, DType::boolean, {a, b}); }

// Narrow, so that as many positions as elements of four bytes fit a register.
DType position_type(Graph& g, const Facts& facts, Id elements) {
  return Bounds(g, facts)(elements).max < std::int64_t{1} << 31 ? DType::i32 : DType::i64;
}

Id no_place(Graph& g, DType d) { return g.constant(d, reduce_identity(ReduceKind::min, d)); }

// The place as i64: 0 if there is none, because the axis is empty.
Id or_first(Graph& g, Id place, DType d) {
  const Id known = g.make(Op::WHERE, d, {compare(g, Op::EQ, place, no_place(g, d)), g.constant(d, 0), place});
  return d == DType::i64 ? known : g.make(Op::CAST, DType::i64, {known});
}

}  // namespace

Id arg_reduce(Graph& g, RangeIds& loops, const Facts& facts, const Reduction& r) {
  Id elements = g.index(1);
  for (const Id range : r.ranges) elements = mul_index(g, elements, g.end(range));
  const DType d = position_type(g, facts, elements);
  const Id worst = g.constant(r.acc, reduce_identity(r.kind, r.acc));
  const CarriedLoops n = open_loops(g, loops, r, {worst, g.constant(d, 0)});
  const Copy copies[] = {n.copy};
  const Id x = r.ranges.empty() ? r.values[0] : expand(g, loops, r.values, copies)[0][0];
  const Id best = n.carries[0];
  Id beats = r.kind == ReduceKind::argmax ? compare(g, Op::LT, best, x) : compare(g, Op::LT, x, best);
  if (r.acc == DType::boolean) {  // argmax: true beats false; argmin: false beats true
    const Id no = g.make(Op::NOT, DType::boolean, {r.kind == ReduceKind::argmax ? best : x});
    beats = g.make(Op::AND, DType::boolean, {no, r.kind == ReduceKind::argmax ? x : best});
  }
  if (is_float(r.acc)) {  // x is better or one is a NaN, but best is none
    const Id no_better = r.kind == ReduceKind::argmax ? compare(g, Op::LE, x, best) : compare(g, Op::LE, best, x);
    const Id no_nan = compare(g, Op::EQ, best, best);
    beats = g.make(Op::AND, DType::boolean, {g.make(Op::NOT, DType::boolean, {no_better}), no_nan});
  }
  Id position = g.index(0);
  for (const Id range : n.ranges) position = add_index(g, mul_index(g, position, g.end(range)), range);
  position = g.make(Op::CAST, d, {position});
  const Id element = g.make(Op::WHERE, r.acc, {beats, x, best});
  const Id first = close_loops(g, n, {element, g.make(Op::WHERE, d, {beats, position, n.carries[1]})})[1];
  return d == DType::i64 ? first : g.make(Op::CAST, DType::i64, {first});
}

Id arg_reduce_in_lanes(Graph& g, RangeIds& loops, const Facts& facts, const Reduction& r) {
  const Id range = r.ranges[0], extent = g.end(range), x = r.values[0];
  const auto [op, kind] =
      r.kind == ReduceKind::argmax ? std::pair(Op::MAX, ReduceKind::max) : std::pair(Op::MIN, ReduceKind::min);
  const Id worst = g.constant(r.acc, reduce_identity(kind, r.acc));
  const Id best = lower_striped(g, loops, {op, r.acc, worst, {x}, range, extent, Stripes::vector, false, 0, 1});
  Id hit = compare(g, Op::EQ, x, best);
  if (is_float(r.acc)) {
    const Id both_nan = g.make(Op::AND, DType::boolean, {compare(g, Op::NE, x, x), compare(g, Op::NE, best, best)});
    hit = g.make(Op::OR, DType::boolean, {hit, both_nan});
  }
  const auto first_in = [&](Id within, Id end, Id found) {
    const Id none = no_place(g, DType::i32), position = g.make(Op::CAST, DType::i32, {within});
    const Id place = g.make(Op::WHERE, DType::i32, {found, position, none});
    return lower_striped(g, loops, {Op::MIN, DType::i32, none, {place}, within, end, Stripes::vector, false, 0, 1});
  };
  if (position_type(g, facts, extent) == DType::i32) return or_first(g, first_in(range, extent, hit), DType::i32);
  // Parts of 2^30 elements, so that their positions are narrow too.
  const Id size = g.index(std::int64_t{1} << 30), more = add_index(g, extent, g.index((std::int64_t{1} << 30) - 1));
  const Id none = no_place(g, DType::i64), part = loops.range(g, index_binary(g, Op::FLOORDIV, more, size), RangeKind::reduce);
  const CarriedLoops n = open_loops(g, loops, {r.kind, r.order, {}, {part}, DType::i64, {}}, {none});
  const Id begin = mul_index(g, n.ranges[0], size), end = index_binary(g, Op::MIN, size, sub_index(g, extent, begin));
  const Id within = loops.range(g, size, RangeKind::reduce);
  const Id first = first_in(within, end, substitute(g, hit, {{range, add_index(g, begin, within)}}));
  const Id place = g.make(Op::ADD, DType::i64, {g.make(Op::CAST, DType::i64, {first}), g.make(Op::CAST, DType::i64, {begin})});
  const Id found = g.make(Op::WHERE, DType::i64, {compare(g, Op::EQ, first, no_place(g, DType::i32)), none, place});
  return or_first(g, close_loops(g, n, {g.make(Op::MIN, DType::i64, {n.carries[0], found})})[0], DType::i64);
}

}  // namespace kiln::compiler
