#include "compiler/lower/striped_reduce.h"

#include <algorithm>
#include <vector>

#include "compiler/ir/nth.h"
#include "compiler/lower/expand.h"
#include "compiler/lower/index_vector.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t most_written = 64;  // elements of chains that are written out: two elements of each chain

// Whether the value, or the product of the values, may be -0. A product that is too small rounds to a zero of its sign.
bool may_be_negative_zero(const Graph& g, const std::vector<Id>& x) {
  const auto is_square = [&](const auto& factors) { return factors[0] == factors[1]; };
  if (!is_float(g.dtype(x[0]))) return false;
  if (x.size() > 1) return !is_square(x);
  return g.op(x[0]) != Op::ABS && !(g.op(x[0]) == Op::MUL && is_square(g.src(x[0])));
}

class StripedLoops {
 public:
  StripedLoops(Graph& g, RangeIds& loops, const Striped& r)
      : g_(g),
        loops_(loops),
        r_(r),
        identity_(g.constant(r.dtype, static_cast<std::uint64_t>(g.value(r.identity)), reduce_stripes)) {}

  Id run() {
    const Id zero = g_.index(0);
    if (r_.one_each) return by_branches();
    if (!g_.is_const(r_.extent) && (r_.most_apart > 0 || (r_.often_short && r_.levels > 1))) return by_length();
    if (r_.levels > 1) return blocks(zero);
    const Id value = block(zero, r_.extent);
    return r_.values.size() > 1 && is_float(r_.dtype) ? combine(r_.identity, value) : value;  // the sum of one block
  }

  // Combines the lanes: lane j with lane j + half. `low` is a statement of its own, because C++ does not define the order in
  // which arguments are evaluated.
  Id tree(Id acc) {
    for (int half = g_.lanes(acc) / 2; half >= 1; half /= 2) {
      const Id low = part(acc, 0, half);
      acc = combine(low, part(acc, half, half));
    }
    return acc;
  }

  // The same for n scalars: the sum of leaf(j) for j = first, first + step, first + 2 * step.. below n. The nodes are made
  // from the left of the tree to the right, so that few values wait in registers.
  template <class Leaf>
  Id tree_of(std::int64_t n, const Leaf& leaf, std::int64_t first = 0, std::int64_t step = 1) {
    if (first + step >= n) return leaf(first);
    const Id left = tree_of(n, leaf, first, 2 * step);
    return combine(left, tree_of(n, leaf, first + step, 2 * step));
  }

  Id combine(Id a, Id b) { return g_.make(r_.op, r_.dtype, {a, b}, {}, {}, g_.lanes(a)); }

  // The accumulator after one element, or after one element in each lane.
  Id accumulate(Id acc, std::vector<Id> x) {
    for (Id& v : x) v = widen_lanes(g_, v, g_.lanes(acc));
    if (x.size() == 1) return combine(acc, x[0]);
    return g_.make(Op::FMA, r_.dtype, {x[0], x[1], acc}, {}, {}, g_.lanes(acc));
  }

  // The values at one position, or at 32 of them.
  std::vector<Id> at(Id position, Id mask) { return at(position, mask, r_.values); }
  std::vector<Id> at(Id position, Id mask, std::span<const Id> roots) {
    const Copy copies[] = {{{{r_.range, position}}, mask}};
    return expand(g_, loops_, roots, copies)[0];
  }

  // The accumulator of one element. Stripes behind the extent would hold the identity, so the tree leaves them out. The
  // identity changes one value only: -0 + 0 is +0. A sum with an operand that is not -0 is not -0 itself, so adding the
  // identity to the first stripe is enough.
  Id element(Id identity, const std::vector<Id>& x, std::int64_t j) {
    const Id value = x.size() == 1 ? x[0] : accumulate(identity, x);
    const bool needs_zero = j == 0 && r_.op == Op::ADD && may_be_negative_zero(g_, x);
    return needs_zero ? combine(identity, value) : value;
  }

 private:
  // The loops over blocks, around the reduction of one block. Outer loops are opened first, because inner ones use their
  // RANGEs.
  Id blocks(Id begin) {
    std::vector<Level> open;
    Id end = r_.extent;
    for (int level = r_.levels; level-- > 1;) {
      // A block of this level has 65536^level elements. The loop covers [begin, end), one block of the level above.
      const std::int64_t elements = level == 1 ? reduce_block : reduce_block * reduce_block;
      const Id size = g_.index(elements);
      const Id first = g_.make(Op::FLOORDIV, DType::index, {begin, size});
      const Id last = g_.make(Op::FLOORDIV, DType::index, {add_index(g_, end, g_.index(elements - 1)), size});
      const Id range = loops_.range(g_, last, RangeKind::reduce);
      const Id from = g_.is_index_const(begin, 0) ? begin : first;
      const bool scalars = r_.stripes == Stripes::scalars || r_.stripes == Stripes::chains;
      open.push_back({range, from, last, scalars ? carries(range, all_identities()) : std::vector{carry(range, identity_)}});
      begin = mul_index(g_, range, size);
      end = g_.make(Op::MIN, DType::index, {add_index(g_, begin, size), end});
    }
    Id value = r_.stripes == Stripes::chains ? by_rolled_chains(begin, end) : block(begin, end);
    for (; !open.empty(); open.pop_back()) {
      const Level& l = open.back();
      value = l.acc.size() > 1 ? blocks_of_scalars(l, value)
                               : tree(loop(l.range, l.begin, l.end, identity_, select_lane(l.range, l.acc[0], {value}), 1));
    }
    return value;
  }

  // Loops for few elements, for one block, and for more. One of them has one iteration, the others none. The body of each
  // uses its RANGE, which is 0, and its CARRY, which is the identity in this iteration: LLVM would move code that uses
  // neither out of the loop.
  Id by_length() {
    if (r_.most <= reduce_stripes && has_short_vectors())
      return of_one_vector(of_one_vector(of_one_vector(r_.identity, 1, 8), 9, 16), 17, reduce_stripes);
    const Id zero = g_.index(0), one = g_.index(1);
    const auto once = [&](Id count, Id init, const auto& sum) {
      const Id range = loops_.range(g_, count, RangeKind::reduce), acc = carry(range, init);
      return loop(range, zero, count, init, combine(acc, sum(range)), 1);
    };
    const bool has_few = r_.most_apart > 0 && r_.least <= r_.most_apart;
    const Id of_few = has_few ? of_single_elements() : r_.identity;
    const Id several = has_few ? at_least(r_.most_apart + 1) : one;
    if (r_.levels == 1) return once(several, of_few, [&](Id begin) { return block(begin, zero, r_.extent); });
    const Id rounded = add_index(g_, r_.extent, g_.index(reduce_block - 1));  // at least 2 * reduce_block for two blocks
    const Id whole = index_binary(g_, Op::FLOORDIV, rounded, g_.index(2 * reduce_block));
    const Id is_long = index_binary(g_, Op::MIN, whole, one), is_short = sub_index(g_, several, is_long);
    const Id end = index_binary(g_, Op::MIN, r_.extent, g_.index(reduce_block));
    const Id of_block = once(is_short, of_few, [&](Id begin) { return block(begin, zero, end); });
    return once(is_long, of_block, [&](Id begin) { return blocks(begin); });
  }

  // 1 if there are at least n elements, else 0.
  Id at_least(std::int64_t n) {
    const Id above = sub_index(g_, r_.extent, g_.index(n - 1)), positive = index_binary(g_, Op::MAX, g_.index(0), above);
    return index_binary(g_, Op::MIN, g_.index(1), positive);
  }

  // The reduction of so few elements that each has a stripe of its own; the identity if there are more. The tree of half + 1
  // to 2 * half elements has `half` leaves, of one element or two.
  Id of_single_elements() {
    const Id zero = g_.index(0), one = g_.index(1);
    const Id n = index_binary(g_, Op::MIN, r_.extent, g_.index(r_.most_apart + 1));
    // One branch around all of them, for rows with more elements.
    const Id is_few = sub_index(g_, one, at_least(r_.most_apart + 1)), outer = loops_.range(g_, is_few, RangeKind::reduce);
    Id value = carry(outer, r_.identity);
    for (std::int64_t half = 1; half < r_.most_apart; half *= 2) {
      // Both factors are positive for these numbers only. They are small, so the product is exact.
      const Id above = sub_index(g_, n, g_.index(half == 1 ? 0 : half)), below = sub_index(g_, g_.index(2 * half + 1), n);
      const Id both = index_binary(g_, Op::MAX, zero, mul_index(g_, above, below));
      const Id count = index_binary(g_, Op::MIN, one, both);
      const Id range = loops_.range(g_, count, RangeKind::reduce);
      const Id sum = tree_of(half, [&](std::int64_t j) { return one_or_two(range, j, half); });
      value = loop(range, outer, count, value, sum, 1);
    }
    return loop(outer, zero, is_few, r_.identity, value, 1);
  }

  // At most one element for each stripe: a tree in which a branch leaves out each part that is behind the extent. A branch is a
  // loop of at most one iteration, whose RANGE is the first position of the part.
  Id by_branches() { return branch(g_.index(0), r_.identity, 0, 1); }

  // Adds the part of positions j, j + step, j + 2 * step.. to the value. Position 0 is the first one.
  Id branch(Id begin, Id value, std::int64_t j, std::int64_t step) {
    const Id range = loops_.range(g_, r_.extent, RangeKind::reduce), acc = carry(range, value);
    Id part = element(r_.identity, at(range, no_id), j);
    for (std::int64_t half = reduce_stripes / 2; half >= step; half /= 2) {
      const Id next = add_index(g_, range, g_.index(half));
      part = branch(next, part, j + half, 2 * half);
    }
    return loop(range, begin, r_.extent, value, j == 0 ? part : combine(acc, part), reduce_stripes);
  }

  bool has_short_vectors() const { return r_.stripes == Stripes::vector && r_.most_apart > 0 && r_.stores.empty(); }

  // The reduction of `least` to `lanes` elements, which each have a stripe of its own; `other` if there are fewer or more. The
  // mask does not depend on the loop around it, so it is made once.
  Id of_one_vector(Id other, int least, int lanes) {
    const Id zero = g_.index(0), one = g_.index(1);
    const Id n = index_binary(g_, Op::MIN, r_.extent, g_.index(lanes + 1));
    const Id above = sub_index(g_, n, g_.index(least - 1)), below = sub_index(g_, g_.index(lanes + 1), n);
    const Id both = index_binary(g_, Op::MAX, zero, mul_index(g_, above, below));
    const Id count = index_binary(g_, Op::MIN, one, both), range = loops_.range(g_, count, RangeKind::reduce);
    const Id mask = lane_mask(g_, zero, r_.extent, lanes);
    const Id none = g_.constant(r_.dtype, static_cast<std::uint64_t>(g_.value(r_.identity)), lanes);
    const std::vector<Id> x = at(ramp(g_, range, 1, lanes), mask);
    const Id terms = x.size() == 1 ? widen_lanes(g_, x[0], lanes) : accumulate(none, x);
    Id value = g_.make(Op::WHERE, r_.dtype, {mask, terms, none}, {}, {}, lanes);
    value = tree(value);
    if (r_.op == Op::ADD && may_be_negative_zero(g_, x)) value = combine(r_.identity, value);
    return loop(range, zero, count, other, value, 1);
  }

  // Element j, or its sum with element j + half.
  Id one_or_two(Id zero, std::int64_t j, std::int64_t half) {
    const Id end = index_binary(g_, Op::MIN, r_.extent, g_.index(2 * half)), begin = g_.index(j + half);
    const Id first = element(r_.identity, at(add_index(g_, zero, g_.index(j)), no_id), j);
    const Id range = loops_.range(g_, end, RangeKind::reduce), acc = carry(range, first);
    const Id second = element(r_.identity, at(range, no_id), j + half);
    return loop(range, begin, end, first, combine(acc, second), half);
  }

  Id block(Id begin, Id end) { return block(begin, begin, end); }
  Id block(Id begin, Id from, Id end) {
    switch (r_.stripes) {
      case Stripes::vector: return by_lanes(begin, from, end, identity_);
      case Stripes::pairs: return by_pairs(begin, end);
      case Stripes::element: return by_elements(begin, end);
      case Stripes::scalars: return by_scalars(begin, end);
      case Stripes::chains: break;
    }
    return by_chains(begin, end);
  }

  // A loop over the blocks of one level, and the accumulators of their results: one vector, or 32 scalars.
  struct Level {
    Id range, begin, end;
    std::vector<Id> acc;
  };

  Id carry(Id range, Id init) { return g_.make(Op::CARRY, r_.dtype, {range, init}, {0}, {}, g_.lanes(init)); }

  Id loop(Id range, Id begin, Id end, Id init, Id yield, std::int64_t step, std::span<const Id> stores = {}) {
    std::vector<Id> src = {range, begin, end, init, yield};
    src.insert(src.end(), stores.begin(), stores.end());
    const Id made = g_.make(Op::FOR, DType::none, src, std::vector<std::int64_t>{1, step});
    return g_.make(Op::GET, r_.dtype, {made}, {0}, {}, g_.lanes(init));
  }

  Id part(Id v, int from, int count) {
    if (count == 1) return g_.make(Op::LANE, r_.dtype, {v}, {from});
    std::vector<std::int64_t> lanes;
    for (int i = 0; i < count; ++i) lanes.push_back(from + i);
    return g_.make(Op::SHUFFLE, r_.dtype, std::vector<Id>{v}, lanes, {}, count);
  }

  Id where(Id mask, Id a, Id b) { return g_.make(Op::WHERE, r_.dtype, {mask, a, b}, {}, {}, g_.lanes(mask)); }

  // Accumulates the values in the accumulator position % 32.
  Id select_lane(Id position, Id acc, const std::vector<Id>& x) {
    const Id lane = g_.make(Op::FLOORMOD, DType::index, {position, g_.index(reduce_stripes)});
    const Id narrow = g_.make(Op::CAST, DType::i32, {lane});
    const Id mask = g_.make(Op::EQ, DType::boolean,
                            {ramp(g_, g_.constant(DType::i32, 0), 1, reduce_stripes), widen_lanes(g_, narrow, reduce_stripes)},
                            {}, {}, reduce_stripes);
    return where(mask, accumulate(acc, x), acc);
  }

  Id by_elements(Id begin, Id end) {
    const Id range = loops_.range(g_, end, RangeKind::reduce);
    const Id acc = carry(range, identity_);
    const Id next = select_lane(range, acc, at(range, no_id));
    return tree(loop(range, begin, end, identity_, next, 1));
  }

  // begin + the largest multiple of `positions` that fits.
  Id end_of_whole(Id begin, Id end, int positions = reduce_stripes) {
    const Id step = g_.index(positions);
    const Id count = sub_index(g_, end, begin);
    return add_index(g_, begin, mul_index(g_, index_binary(g_, Op::FLOORDIV, count, step), step));
  }

  struct Here {
    std::vector<Id> values, stores;
  };
  Here values_and_stores(Id positions, Id mask) {
    std::vector<Id> roots = r_.values;
    roots.insert(roots.end(), r_.stores.begin(), r_.stores.end());
    const std::vector<Id> made = at(positions, mask, roots);
    const auto first_store = made.begin() + std::ssize(r_.values);
    return {{made.begin(), first_store}, {first_store, made.end()}};
  }

  // Whether a loop over vectors of 32 elements has one iteration in every call, and stores nothing. It is written out, so that
  // a mask is constant.
  bool is_written(Id begin, Id end) const {
    return r_.stores.empty() && g_.is_const(begin) && g_.is_const(end) && g_.value(begin) < g_.value(end) &&
           g_.value(end) - g_.value(begin) <= reduce_stripes;
  }

  // Whether a rest is computed for half of the stripes at a time. Often no element is left for the second half. A branch takes
  // less time than to compute values that are not used, if these are more than a few operations.
  bool is_rest_halved() const {
    constexpr int few_operations = 4, narrowest = 4;  // bytes: half of the stripes fill a register
    int operations = 0;
    for (const Id id : g_.reachable(r_.values))
      if (is_elementwise(g_.op(id)) && g_.dtype(id) != DType::index) ++operations;
    return operations > few_operations && bytes(r_.dtype) >= narrowest;
  }

  // The accumulators after one element in each lane of the mask. No accumulator is -0, so adding the identity changes none. A
  // load under the mask that is zero elsewhere takes no select.
  Id accumulate_masked(Id acc, const std::vector<Id>& x, Id mask) {
    if (x.size() > 1) return where(mask, accumulate(acc, x), acc);
    const int lanes = g_.lanes(acc);
    const Id value = widen_lanes(g_, x[0], lanes), none = widen_lanes(g_, r_.identity, lanes);
    return combine(acc, where(mask, value, none));
  }

  // Whole vectors of 32 elements, then one masked vector. acc: the accumulators before them. from: the value of begin, in a
  // form that does not depend on a loop around the elements, so that the mask is made outside of it.
  Id by_lanes(Id begin, Id end, Id acc) { return by_lanes(begin, begin, end, acc); }
  Id by_lanes(Id begin, Id from, Id end, Id acc) {
    const Id middle = end_of_whole(begin, end);
    if (is_written(begin, middle)) {
      acc = accumulate(acc, at(ramp(g_, begin, 1, reduce_stripes), no_id));
    } else if (middle != begin) {
      const Id range = loops_.range(g_, middle, RangeKind::vector);
      const auto [x, stores] = values_and_stores(ramp(g_, range, 1, reduce_stripes), no_id);
      acc = loop(range, begin, middle, acc, accumulate(carry(range, acc), x), reduce_stripes, stores);
    }
    if (middle == end) return tree(acc);
    const Id whole = end_of_whole(from, end);
    if (is_written(middle, end)) {
      const Id mask = lane_mask(g_, middle, end, reduce_stripes);
      return tree(accumulate_masked(acc, at(ramp(g_, middle, 1, reduce_stripes), mask), mask));
    }
    if (!is_rest_halved()) return tree(rest(middle, whole, end, acc));
    constexpr int half = reduce_stripes / 2;
    const Id size = g_.index(half), next = add_index(g_, middle, size), from_next = add_index(g_, whole, size);
    const Id end_of_low = index_binary(g_, Op::MIN, end, next), low = part(acc, 0, half), high = part(acc, half, half);
    const Id sum_of_low = rest(middle, whole, end_of_low, low);
    return tree(combine(sum_of_low, rest(next, from_next, end, high)));
  }

  // The accumulators after the elements of [begin, end), of which there is at most one for each. from: the value of begin that
  // by_lanes() describes.
  Id rest(Id begin, Id from, Id end, Id acc) {
    const int lanes = g_.lanes(acc);
    const Id range = loops_.range(g_, end, RangeKind::vector), mask = lane_mask(g_, from, end, lanes);
    const auto [x, stores] = values_and_stores(ramp(g_, range, 1, lanes), mask);
    return loop(range, begin, end, acc, accumulate_masked(carry(range, acc), x, mask), lanes, stores);
  }

  // One iteration multiplies 64 elements, and each of its 32 lanes adds the products of two neighbours. by_lanes() adds the
  // last elements, of which there are less than 64.
  Id by_pairs(Id begin, Id end) {
    constexpr int positions = 2 * reduce_stripes;
    const Id middle = end_of_whole(begin, end, positions);
    if (middle == begin) return by_lanes(begin, end, identity_);
    const Id range = loops_.range(g_, middle, RangeKind::vector);
    std::vector<Id> x = at(ramp(g_, range, 1, positions), no_id);
    for (Id& v : x) {
      v = g_.make(Op::CAST, DType::i16, {widen_lanes(g_, v, positions)}, {}, {}, positions);
      v = g_.make(Op::PAIRS, DType::i32, {v}, {}, {}, reduce_stripes);
    }
    const Id products = g_.make(Op::DOT2, DType::i32, {x[0], x[1]}, {}, {}, reduce_stripes);
    const Id next = combine(carry(range, identity_), products);
    return by_lanes(middle, end, loop(range, begin, middle, identity_, next, positions));
  }

  // Iterations of 32 elements, then one iteration for the rest.
  Id by_scalars(Id begin, Id end) {
    const Id middle = end_of_whole(begin, end);
    std::vector<Id> acc = all_identities();
    if (middle != begin) acc = loop_of_scalars(begin, middle, acc, false);
    if (middle != end && g_.is_const(middle) && g_.is_const(end))
      acc = accumulated(acc, positions(middle, g_.value(end) - g_.value(middle)));
    else if (middle != end)
      acc = loop_of_scalars(middle, end, acc, true);
    return tree_of_scalars(std::move(acc));
  }

  std::vector<Id> all_identities() const { return std::vector<Id>(reduce_stripes, r_.identity); }

  Id tree_of_scalars(const std::vector<Id>& acc) {
    return tree_of(reduce_stripes, [&](std::int64_t j) { return acc[static_cast<std::size_t>(j)]; });
  }

  Id by_chains(Id begin, Id end) {
    const bool is_const = g_.is_const(begin) && g_.is_const(end);
    const bool written = is_const && g_.value(end) - g_.value(begin) <= most_written;
    return tree_of(reduce_stripes, [&](std::int64_t j) {
      const Id first = add_index(g_, begin, g_.index(j));
      return written ? written_chain(g_.value(first), g_.value(end)) : chain(first, end);
    });
  }

  // Like by_chains(), but the code has one chain, in a loop over the stripes. In a long block the selects cost little.
  Id by_rolled_chains(Id begin, Id end) {
    const Id first = g_.index(0), last = g_.index(reduce_stripes), range = loops_.range(g_, last, RangeKind::reduce);
    const std::vector<Id> acc = carries(range, all_identities());
    const Id from = add_index(g_, begin, range);
    return blocks_of_scalars({range, first, last, acc}, chain(from, end));
  }

  Id written_chain(std::int64_t begin, std::int64_t end) {
    Id acc = r_.identity;
    for (std::int64_t i = begin; i < end; i += reduce_stripes) acc = accumulate(acc, at(g_.index(i), no_id));
    return acc;
  }

  // The accumulator of every 32nd position.
  Id chain(Id begin, Id end) {
    const Id range = loops_.range(g_, end, RangeKind::reduce);
    const Id acc = carry(range, r_.identity);
    return loop(range, begin, end, r_.identity, accumulate(acc, at(range, no_id)), reduce_stripes);
  }

  std::vector<Id> carries(Id range, const std::vector<Id>& init) {
    std::vector<Id> out;
    for (std::size_t j = 0; j < init.size(); ++j) out.push_back(g_.make(Op::CARRY, r_.dtype, {range, init[j]}, {j}));
    return out;
  }

  std::vector<Id> loop(Id range, Id begin, Id end, const std::vector<Id>& init, const std::vector<Id>& next,
                       std::int64_t step) {
    std::vector<Id> src = {range, begin, end};
    src.insert(src.end(), init.begin(), init.end());
    src.insert(src.end(), next.begin(), next.end());
    const Id made = g_.make(Op::FOR, DType::none, src, {init.size(), step});
    std::vector<Id> out;
    for (std::int64_t j = 0; j < std::ssize(init); ++j) out.push_back(g_.make(Op::GET, r_.dtype, {made}, {j}));
    return out;
  }

  // Reduces the results of blocks or of chains. `value` is one such result.
  Id blocks_of_scalars(const Level& l, Id value) {
    const Id stripe = g_.make(Op::FLOORMOD, DType::index, {l.range, g_.index(reduce_stripes)});
    std::vector<Id> next;
    for (std::size_t j = 0; j < l.acc.size(); ++j) {
      const Id here = g_.make(Op::EQ, DType::boolean, {stripe, g_.index(j)});
      const Id sum = combine(l.acc[j], value);
      next.push_back(g_.make(Op::WHERE, r_.dtype, {here, sum, l.acc[j]}));
    }
    return tree_of_scalars(loop(l.range, l.begin, l.end, all_identities(), next, 1));
  }

  std::vector<Id> positions(Id first, std::int64_t count) {
    std::vector<Id> out;
    for (std::int64_t j = 0; j < count; ++j) out.push_back(add_index(g_, first, g_.index(j)));
    return out;
  }

  // The accumulators after one element each. Elements are computed one by one, so that few values wait in registers.
  std::vector<Id> accumulated(std::vector<Id> acc, const std::vector<Id>& places) {
    for (std::size_t j = 0; j < places.size(); ++j) acc[j] = accumulate(acc[j], at(places[j], no_id));
    return acc;
  }

  // partial: positions from `end` on read the last element and change nothing.
  std::vector<Id> loop_of_scalars(Id begin, Id end, const std::vector<Id>& init, bool partial) {
    const Id range = loops_.range(g_, end, RangeKind::reduce);
    const std::vector<Id> acc = carries(range, init), at = positions(range, std::ssize(init));
    std::vector<Id> places = at;
    const Id last = partial ? sub_index(g_, end, g_.index(1)) : no_id;
    for (Id& p : places)
      if (partial) p = index_binary(g_, Op::MIN, p, last);
    std::vector<Id> next = accumulated(acc, places);
    for (std::size_t j = 1; partial && j < next.size(); ++j) {
      const Id inside = g_.make(Op::LT, DType::boolean, {at[j], end});
      next[j] = g_.make(Op::WHERE, r_.dtype, {inside, next[j], acc[j]});
    }
    return loop(range, begin, end, init, next, reduce_stripes);
  }

  Graph& g_;
  RangeIds& loops_;
  const Striped& r_;
  Id identity_;
};

}  // namespace

Id lower_striped(Graph& g, RangeIds& loops, const Striped& r) { return StripedLoops(g, loops, r).run(); }

Id lower_striped_unrolled(Graph& g, RangeIds& loops, const Striped& r) {
  StripedLoops lowering(g, loops, r);
  const std::int64_t n = g.value(r.extent);
  if (n == 0) return r.identity;
  return lowering.tree_of(n, [&](std::int64_t j) { return lowering.element(r.identity, lowering.at(g.index(j), no_id), j); });
}

}  // namespace kiln::compiler
