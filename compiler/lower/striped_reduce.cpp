#include "compiler/lower/striped_reduce.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "compiler/lower/expand.h"
#include "compiler/lower/index_vector.h"

namespace kiln::compiler {
namespace {

class Lowering {
 public:
  Lowering(Graph& g, RangeIds& loops, const Striped& r)
      : g_(g),
        loops_(loops),
        r_(r),
        identity_(g.constant(r.dtype, static_cast<std::uint64_t>(g.arg(r.identity, 0)), reduce_stripes)) {}

  // The loops over blocks, around the reduction of one block. Outer loops are opened first, because inner ones use their
  // RANGEs.
  Id run() {
    struct Level {
      Id range, begin, end, carry;
    };
    std::vector<Level> open;
    Id begin = g_.index(0), end = r_.extent;
    for (int level = r_.levels; level-- > 1;) {
      // A block of this level has 65536^level elements. The loop covers [begin, end), one block of the level above.
      const std::int64_t elements = level == 1 ? reduce_block : reduce_block * reduce_block;
      const Id size = g_.index(elements);
      const Id first = g_.make(Op::FLOORDIV, DType::index, {begin, size});
      const Id last = g_.make(Op::FLOORDIV, DType::index, {add_index(g_, end, g_.index(elements - 1)), size});
      const Id range = loops_.range(g_, last, RangeKind::reduce);
      const Id from = g_.is_index_const(begin, 0) ? begin : first;
      open.push_back({range, from, last, carry(range, identity_)});
      begin = mul_index(g_, range, size);
      end = g_.make(Op::MIN, DType::index, {add_index(g_, begin, size), end});
    }
    Id value = r_.lanes ? by_lanes(begin, end) : by_elements(begin, end);
    for (; !open.empty(); open.pop_back()) {
      const Level& l = open.back();
      value = tree(loop(l.range, l.begin, l.end, identity_, select_lane(l.range, l.carry, value), 1));
    }
    return value;
  }

  // Combines the lanes: lane j with lane j + half. `low` is a statement of its own, because C++ does not define the order in
  // which arguments are evaluated.
  Id tree(Id acc) {
    for (int half = reduce_stripes / 2; half >= 1; half /= 2) {
      const Id low = part(acc, 0, half);
      acc = combine(low, part(acc, half, half));
    }
    return acc;
  }

  Id combine(Id a, Id b) { return g_.make(r_.op, r_.dtype, {a, b}, {}, {}, g_.lanes(a)); }

 private:
  Id carry(Id range, Id init) { return g_.make(Op::CARRY, r_.dtype, {range, init}, {0}, {}, g_.lanes(init)); }

  Id loop(Id range, Id begin, Id end, Id init, Id yield, std::int64_t step) {
    const Id made = g_.make(Op::FOR, DType::none, {range, begin, end, init, yield}, {1, step});
    return g_.make(Op::GET, r_.dtype, {made}, {0}, {}, g_.lanes(init));
  }

  Id part(Id v, int from, int count) {
    if (count == 1) return g_.make(Op::LANE, r_.dtype, {v}, {from});
    std::vector<std::int64_t> lanes(static_cast<std::size_t>(count));
    std::iota(lanes.begin(), lanes.end(), from);
    return g_.make(Op::SHUFFLE, r_.dtype, std::vector<Id>{v}, lanes, {}, count);
  }

  Id where(Id mask, Id a, Id b) { return g_.make(Op::WHERE, r_.dtype, {mask, a, b}, {}, {}, reduce_stripes); }

  // acc[position % 32] = op(acc[position % 32], value)
  Id select_lane(Id position, Id acc, Id value) {
    const Id lane = g_.make(Op::FLOORMOD, DType::index, {position, g_.index(reduce_stripes)});
    const Id narrow = g_.make(Op::CAST, DType::i32, {lane});
    const Id mask = g_.make(Op::EQ, DType::boolean,
                            {ramp(g_, g_.constant(DType::i32, 0), 1, reduce_stripes), widen_lanes(g_, narrow, reduce_stripes)},
                            {}, {}, reduce_stripes);
    return where(mask, combine(acc, widen_lanes(g_, value, reduce_stripes)), acc);
  }

  Id at(Id position, Id mask) {
    const Id roots[] = {r_.value};
    const Copy copies[] = {{{{r_.range, position}}, mask}};
    return expand(g_, loops_, roots, copies)[0][0];
  }

  Id by_elements(Id begin, Id end) {
    const Id range = loops_.range(g_, end, RangeKind::reduce);
    const Id acc = carry(range, identity_);
    const Id next = select_lane(range, acc, at(range, no_id));
    return tree(loop(range, begin, end, identity_, next, 1));
  }

  // Whole vectors of 32 elements, then one masked vector.
  Id by_lanes(Id begin, Id end) {
    const Id step = g_.index(reduce_stripes);
    const Id count = sub_index(g_, end, begin);
    const Id whole = mul_index(g_, index_binary(g_, Op::FLOORDIV, count, step), step);
    const Id middle = add_index(g_, begin, whole);
    Id acc = identity_;
    if (middle != begin) {
      const Id range = loops_.range(g_, middle, RangeKind::vector);
      const Id x = widen_lanes(g_, at(ramp(g_, range, 1, reduce_stripes), no_id), reduce_stripes);
      acc = loop(range, begin, middle, acc, combine(carry(range, acc), x), reduce_stripes);
    }
    if (middle != end) {
      const Id range = loops_.range(g_, end, RangeKind::vector);
      const Id positions = ramp(g_, range, 1, reduce_stripes);
      const Id mask = lane_mask(g_, range, end, reduce_stripes);
      const Id x = widen_lanes(g_, at(positions, mask), reduce_stripes);
      const Id before = carry(range, acc);
      acc = loop(range, middle, end, acc, where(mask, combine(before, x), before), reduce_stripes);
    }
    return tree(acc);
  }

  Graph& g_;
  RangeIds& loops_;
  const Striped& r_;
  Id identity_;
};

}  // namespace

Id lower_striped(Graph& g, RangeIds& loops, const Striped& r) { return Lowering(g, loops, r).run(); }

static bool may_be_negative_zero(const Graph& g, Id x) {
  const bool is_square = g.op(x) == Op::MUL && g.src(x, 0) == g.src(x, 1);
  return is_float(g.dtype(x)) && !is_square && g.op(x) != Op::ABS;
}

// Stripes behind the extent would hold the identity, so the tree leaves them out. The identity changes one value only: -0 + 0
// is +0. A sum with an operand that is not -0 is not -0 itself, so adding the identity to the first stripe is enough.
Id lower_striped_unrolled(Graph& g, RangeIds& loops, const Striped& r) {
  Lowering lowering(g, loops, r);
  const auto n = g.slot(r.extent);
  std::vector<Copy> copies(n);
  for (std::size_t i = 0; i < n; ++i) copies[i].values[r.range] = g.index(static_cast<std::int64_t>(i));
  std::vector<Id> acc;
  const Id roots[] = {r.value};
  if (n > 0)
    for (const std::vector<Id>& x : expand(g, loops, roots, copies)) {
      const bool is_first = acc.empty() && r.op == Op::ADD && may_be_negative_zero(g, x[0]);
      acc.push_back(is_first ? lowering.combine(r.identity, x[0]) : x[0]);
    }
  for (std::size_t half = reduce_stripes / 2; half >= 1; half /= 2) {
    for (std::size_t j = 0; j + half < acc.size() && j < half; ++j) acc[j] = lowering.combine(acc[j], acc[j + half]);
    acc.resize(std::min(acc.size(), half));
  }
  return acc.empty() ? r.identity : acc[0];
}

}  // namespace kiln::compiler
