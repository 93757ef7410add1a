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
  const DType d = position_type(g, facts, extent);
  const Id none = g.constant(d, reduce_identity(ReduceKind::min, d)), position = g.make(Op::CAST, d, {range});
  const Id place = g.make(Op::WHERE, d, {hit, position, none});
  const Id first = lower_striped(g, loops, {Op::MIN, d, none, {place}, range, extent, Stripes::vector, false, 0, 1});
  const Id known = g.make(Op::WHERE, d, {compare(g, Op::EQ, first, none), g.constant(d, 0), first});  // an empty axis gives 0
  return d == DType::i64 ? known : g.make(Op::CAST, DType::i64, {known});
}

}  // namespace kiln::compiler
