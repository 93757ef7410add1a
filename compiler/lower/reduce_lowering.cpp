#include "compiler/lower/reduce_lowering.h"

#include <algorithm>
#include <stdexcept>

#include "compiler/ir/reduce_identity.h"
#include "compiler/lower/access.h"
#include "compiler/lower/expand.h"
#include "compiler/lower/index_vector.h"
#include "compiler/lower/striped_reduce.h"
#include "compiler/symbolic/bounds.h"
#include "compiler/symbolic/value_bounds.h"
#include "compiler/target/lane_limits.h"
#include "compiler/target/unrollable_loops.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t unrolled_extent = 16;  // for a longer one, a masked vector for each row is faster
// Limits for reductions that are written out. They count all iterations and all registers of a vector, because the copies of
// nested reductions multiply.
constexpr int register_bytes = 32;
constexpr std::int64_t most_unrolled = 1000;       // operations
constexpr std::int64_t most_carried = 16;          // values that inner loops carry: as many as there are registers
constexpr std::int64_t most_of_window = 32;        // products of a window that is written out
constexpr int short_row = 8;                       // elements of a contiguous row whose sum is faster without lanes
constexpr std::int64_t most_of_short_rows = 4000;  // operations of all copies of rows inside rows
constexpr std::int64_t most_loads_apart = 16;  // loads that are not contiguous over lanes, each about a hundred instructions

struct Reduction {
  ReduceKind kind;
  ReduceOrder order;
  std::vector<Id> values, ranges;
  DType acc;               // accumulator type
  std::vector<Id> around;  // ranges of the reductions that repeat it

  bool is_arg() const { return kind == ReduceKind::argmax || kind == ReduceKind::argmin; }
  bool order_matters() const {
    return is_float(acc) && (kind == ReduceKind::sum || kind == ReduceKind::prod || kind == ReduceKind::dot);
  }
};

// Whether some LOAD of the values is contiguous in the range.
bool contiguous_over(const Graph& g, std::span<const Id> values, Id range) {
  for (const Id id : g.reachable(values))
    if (g.op(id) == Op::LOAD && index_stride(g, index_of(g, id), range) == 1) return true;
  return false;
}

// The number of LOADs that are not contiguous if the range becomes lanes.
std::int64_t loads_apart(const Graph& g, std::span<const Id> values, Id range) {
  return std::ranges::count_if(g.reachable(values), [&](Id id) {
    const auto stride = g.op(id) == Op::LOAD ? index_stride(g, index_of(g, id), range) : 0;
    return stride != 0 && stride != 1;
  });
}

class Lowering {
 public:
  // loops_of_kernel: outermost first.
  Lowering(Graph& g, RangeIds& loops, const Facts& facts, std::span<const Id> loops_of_kernel, Id sink)
      : g_(g),
        loops_(loops),
        facts_(facts),
        kernel_(loops_of_kernel.begin(), loops_of_kernel.end()),
        in_short_loops_(long_loops(g, loops_of_kernel) < loops_of_kernel.size()),
        innermost_(loops_of_kernel.empty() ? no_id : loops_of_kernel.back()) {
    for (const Id id : g.reachable(sink)) {
      if (g.op(id) != Op::REDUCE) continue;
      const std::size_t values = operands_of(g.reduce_kind(id));
      for (const Id inner : g.reachable(g.src(id).first(values)))
        if (g.op(inner) == Op::REDUCE) std::ranges::copy(g.src(id).subspan(values), std::back_inserter(around_[inner]));
    }
  }

  Id operator()(Id id, std::span<const Id> x) {
    Reduction r = read(id, x);
    if (const auto it = around_.find(id); it != around_.end()) r.around = it->second;
    const Id value = r.is_arg()            ? (finds_in_lanes(r) ? found(r) : arg_reduce(r))
                     : is_of_magnitudes(r) ? magnitude(r)
                                           : lowered(r);
    return g_.dtype(value) == g_.dtype(id) ? value : g_.make(Op::CAST, g_.dtype(id), {value});
  }

 private:
  Reduction read(Id id, std::span<const Id> x) {
    Reduction r{g_.reduce_kind(id), g_.reduce_order(id), {}, {}, DType::none, {}};
    const std::size_t n_values = operands_of(r.kind);
    r.acc = accumulation_dtype(g_.dtype(x[0]));
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (i < n_values)
        r.values.push_back(g_.dtype(x[i]) == r.acc ? x[i] : g_.make(Op::CAST, r.acc, {x[i]}));
      else if (g_.op(x[i]) == Op::RANGE)
        r.ranges.push_back(x[i]);
      else if (!g_.is_index_const(x[i], 0))
        throw std::logic_error("lower: REDUCE over something that is no range");
    }
    return r;
  }

  Id lowered(const Reduction& r) { return stripes(r) ? striped(r) : few(r) ? in_a_row(r) : sequential(r); }

  bool is_of_magnitudes(const Reduction& r) const {
    return r.kind == ReduceKind::max && is_float(r.acc) && g_.op(r.values[0]) == Op::ABS;
  }
  // The bits of magnitudes are integers in the same order, with NaN above infinity. The maximum of integers is one instruction,
  // that of floats three. The integer maximum of no elements is the least integer, so the result is raised to the bits of
  // -infinity.
  Id magnitude(Reduction r) {
    const DType d = r.acc;
    r.acc = bytes(d) == 8 ? DType::i64 : DType::i32;
    r.values[0] = g_.make(Op::BITCAST, r.acc, {r.values[0]});
    const Id least = g_.constant(d, reduce_identity(ReduceKind::max, d)), most = lowered(r);
    return g_.make(Op::BITCAST, d, {g_.make(Op::MAX, r.acc, {most, g_.make(Op::BITCAST, r.acc, {least})})});
  }

  bool stripes(const Reduction& r) {
    if (r.ranges.empty()) return false;
    if (r.kind == ReduceKind::fma) return is_far_over_lanes(r) && fit_pairs(r);
    if (r.order_matters() && r.order == ReduceOrder::striped) {
      if (r.ranges.size() != 1) throw std::logic_error("lower: striped REDUCE over several ranges");
      return true;
    }
    if (r.order_matters() || r.ranges.size() != 1 || small(r) || loop_has_lanes(r)) return false;
    if ((r.kind == ReduceKind::dot || is_paired(r)) && loads_apart(g_, r.values, r.ranges[0]) > 0) return false;
    return contiguous_over(g_, r.values, r.ranges[0]) && !has_vectors_over(g_, r.values, r.ranges[0]);
  }
  bool small(const Reduction& r) const {
    const Id n = g_.end(r.ranges[0]);
    return g_.is_const(n) && g_.value(n) <= unrolled_extent;
  }
  // Whether the reduction is written out. A matrix product keeps its loop, because tiles share its loads, unless the kernel has
  // short ranges, which are written out anyway. The windows of one channel share loads only if they are written out.
  bool few(const Reduction& r) const {
    if (r.kind == ReduceKind::fma && !in_short_loops_) return is_window(r);
    return r.ranges.size() == 1 && small(r) && is_light(r) && (!is_paired(r) || in_short_loops_);
  }
  // Whether this is a short sum of products over constant ranges, and vectors along the innermost loop differ in all loops.
  bool is_window(const Reduction& r) const {
    std::int64_t products = 1;
    for (const Id range : r.ranges) {
      if (!g_.is_const(g_.end(range)) || g_.value(g_.end(range)) > most_of_window) return false;
      products *= g_.value(g_.end(range));
    }
    if (products > most_of_window || innermost_ == no_id) return false;
    std::vector<Id> vectors;
    for (const Id id : g_.reachable(r.values)) {
      if (g_.op(id) == Op::FOR) return false;
      if (g_.op(id) == Op::LOAD && index_stride(g_, index_of(g_, id), innermost_) != 0) vectors.push_back(index_of(g_, id));
    }
    return std::ranges::all_of(vectors, [&](Id index) {
      const std::vector<Id> below = g_.reachable(index);
      return std::ranges::all_of(kernel_, [&](Id loop) { return std::ranges::binary_search(below, loop); });
    });
  }
  // Whether a matrix product is better as a dot product for each element: its operands are contiguous in its range, but not in
  // the innermost loop of the kernel.
  bool is_far_over_lanes(const Reduction& r) const {
    if (r.ranges.size() != 1 || small(r) || innermost_ == no_id || loads_apart(g_, r.values, innermost_) == 0) return false;
    return contiguous_over(g_, r.values, r.ranges[0]) && !has_vectors_over(g_, r.values, r.ranges[0]);
  }
  bool is_paired(const Reduction& r) const { return g_.op(r.values[0]) == Op::DOT2; }

  Id identity(const Reduction& r) { return g_.constant(r.acc, reduce_identity(r.kind, r.acc)); }

  Id striped(const Reduction& r) {
    const Id range = r.ranges[0];
    const Id extent = g_.end(range);
    const std::int64_t most = Bounds(g_, facts_)(extent).max;
    const int levels = !r.order_matters() || most <= reduce_block ? 1 : most <= reduce_block * reduce_block ? 2 : 3;
    const Op op = r.kind == ReduceKind::dot ? Op::ADD : operation_of(r.kind);
    const bool across = loop_has_lanes(r);
    const Stripes stripes = across                                  ? (walks_again(r) ? Stripes::chains : Stripes::scalars)
                            : has_vectors_over(g_, r.values, range) ? Stripes::element
                            : loads_apart(g_, r.values, range) <= most_loads_apart ? Stripes::vector
                                                                                   : Stripes::element;
    if (stripes == Stripes::vector && !small(r) && fit_pairs(r)) return pairs(r);
    const int most_apart = innermost_ == no_id ? 0 : across ? reduce_stripes : has_short_rows(r, stripes) ? short_row : 0;
    const Striped s{op, r.acc, identity(r), r.values, range, extent, stripes, innermost_ != no_id, most_apart, levels};
    const bool one_for_each = across && g_.is_const(extent) && most <= reduce_stripes;
    return one_for_each || (small(r) && is_light(r)) ? lower_striped_unrolled(g_, loops_, s) : lower_striped(g_, loops_, s);
  }
  // Whether code for short rows pays: single elements are faster than masked vectors and their tree if they take few
  // operations.
  bool has_short_rows(const Reduction& r, Stripes stripes) const {
    const std::int64_t operations = operations_of(r);
    if (stripes == Stripes::vector) return operations <= most_of_columns;
    return operations * 2 * short_row <= most_of_short_rows;
  }

  // The factors of the elements that a sum of products adds; empty: it adds something else.
  std::vector<Id> factors(const Reduction& r) const {
    if (operands_of(r.kind) == 2) return r.values;
    if (r.kind == ReduceKind::sum && g_.op(r.values[0]) == Op::MUL) return g_.sources(r.values[0]);
    return {};
  }
  // Whether the products are of values that fit i16, and loads of them are contiguous.
  bool fit_pairs(const Reduction& r) const {
    const std::vector<Id> x = factors(r);
    if ((r.acc != DType::i32 && r.acc != DType::u32) || x.empty() || loads_apart(g_, x, r.ranges[0]) > 0) return false;
    Bounds indices(g_, facts_);
    ValueBounds bounds(g_, indices);
    return std::ranges::all_of(x, [&](Id v) { return fits_i16(bounds(v)); });
  }

  // The sum in i32, which has the bits of the sum in u32.
  Id pairs(const Reduction& r) {
    std::vector<Id> x = factors(r);
    for (Id& v : x)
      if (r.acc != DType::i32) v = g_.make(Op::CAST, DType::i32, {v});
    const Id zero = g_.constant(DType::i32, 0), range = r.ranges[0];
    return lower_striped(g_, loops_, {Op::ADD, DType::i32, zero, x, range, g_.end(range), Stripes::pairs, false, 0, 1});
  }

  // Whether the innermost loop of the kernel is better as lanes than the range of this reduction: the elements of a column of a
  // matrix are far apart, and neighbouring columns are contiguous.
  bool loop_has_lanes(const Reduction& r) const {
    if (r.ranges.size() != 1 || innermost_ == no_id || innermost_ == r.ranges[0]) return false;
    const Id columns = g_.end(innermost_);
    if (g_.is_const(columns) && g_.value(columns) < fewest_columns) return false;
    int operations = 0;
    bool apart = false;
    for (const Id id : g_.reachable(r.values)) {
      if (g_.op(id) == Op::FOR || g_.lanes(id) > 1) return false;
      if (is_elementwise(g_.op(id)) && g_.op(id) != Op::CAST && g_.dtype(id) != DType::index) ++operations;
      if (g_.op(id) != Op::LOAD) continue;
      const Id index = index_of(g_, id);
      const auto along = index_stride(g_, index, r.ranges[0]), across = index_stride(g_, index, innermost_);
      if (!across || *across > 1 || *across < 0) return false;
      apart = apart || (*across == 1 && (!along || *along < 0 || *along > 1));
    }
    return apart && (!r.order_matters() || operations <= most_of_columns);
  }
  // Whether some loop of the kernel, or a reduction around this one, repeats the loads that lanes of the innermost loop make.
  bool walks_again(const Reduction& r) const {
    std::vector<Id> indices;
    for (const Id id : g_.reachable(r.values))
      if (g_.op(id) == Op::LOAD && index_stride(g_, index_of(g_, id), innermost_) != 0) indices.push_back(index_of(g_, id));
    const std::vector<Id> below = g_.reachable(indices);
    const auto repeats = [&](Id loop) { return !std::ranges::binary_search(below, loop); };
    return std::ranges::any_of(kernel_, repeats) || std::ranges::any_of(r.around, repeats);
  }
  std::int64_t registers_of(Id id) const { return std::max(1, g_.lanes(id) * bytes(g_.dtype(id)) / register_bytes); }
  // Operations on registers.
  std::int64_t operations_of(const Reduction& r) const {
    std::int64_t operations = 0;
    for (const Id id : g_.reachable(r.values))
      if (is_elementwise(g_.op(id)) && g_.dtype(id) != DType::index) operations += registers_of(id);
    return operations;
  }
  bool is_light(const Reduction& r) const {
    std::int64_t carried = 0;
    for (const Id id : g_.reachable(r.values))
      if (g_.op(id) == Op::CARRY) carried += registers_of(id);
    const std::int64_t iterations = g_.value(g_.end(r.ranges[0]));
    return operations_of(r) * iterations <= most_unrolled && carried * iterations <= most_carried;
  }

  // A nest of loops with carried values. open() makes the RANGEs and CARRYs, outermost first. close() makes the FORs, innermost
  // first.
  struct Nest {
    std::vector<Id> ranges;
    std::vector<std::vector<Id>> inits;  // by loop: the initial values
    std::vector<Id> carries;             // CARRYs of the innermost loop
    Copy copy;
  };

  Nest open(const Reduction& r, std::vector<Id> init) {
    Nest n;
    n.carries = std::move(init);
    for (const Id old : r.ranges) {
      const Id range = loops_.range(g_, g_.end(old), RangeKind::reduce);
      n.copy.values[old] = range;
      n.ranges.push_back(range);
      n.inits.push_back(n.carries);
      for (std::size_t i = 0; i < n.carries.size(); ++i)
        n.carries[i] = g_.make(Op::CARRY, g_.dtype(n.carries[i]), {range, n.carries[i]}, {i});
    }
    return n;
  }

  std::vector<Id> close(const Nest& n, std::vector<Id> yields) {
    for (std::size_t l = n.ranges.size(); l-- > 0;) {
      std::vector<Id> s = {n.ranges[l], g_.index(0), g_.end(n.ranges[l])};
      s.insert(s.end(), n.inits[l].begin(), n.inits[l].end());
      s.insert(s.end(), yields.begin(), yields.end());
      const Id loop = g_.make(Op::FOR, DType::none, s, {yields.size(), 1});
      for (std::size_t i = 0; i < yields.size(); ++i) yields[i] = g_.make(Op::GET, g_.dtype(yields[i]), {loop}, {i});
    }
    return yields;
  }

  Id sequential(const Reduction& r) {
    const Nest n = open(r, {identity(r)});
    const Copy copies[] = {n.copy};
    std::vector<Id> x = r.ranges.empty() ? r.values : expand(g_, loops_, r.values, copies)[0];
    x.insert(r.values.size() > 1 ? x.end() : x.begin(), n.carries[0]);
    const Id value = close(n, {g_.make(operation_of(r.kind), r.acc, x)})[0];
    if (r.kind != ReduceKind::dot || !is_float(r.acc)) return value;
    return g_.make(Op::ADD, r.acc, {identity(r), value});  // of one element, so of one block
  }

  // The sequential order for a few values, without a loop.
  Id in_a_row(const Reduction& r) {
    std::vector<Copy> copies(1);
    for (const Id range : r.ranges) {
      std::vector<Copy> inner;
      for (const Copy& outer : copies)
        for (std::int64_t i = 0; i < g_.value(g_.end(range)); ++i) (inner.emplace_back(outer)).values[range] = g_.index(i);
      copies = std::move(inner);
    }
    if (copies.empty()) return identity(r);
    // An extremum of floats begins at the first element: the identity would take an operation. That of integers takes none.
    const bool is_extremum = r.kind == ReduceKind::max || r.kind == ReduceKind::min;
    Id acc = is_extremum ? no_id : identity(r);
    for (std::vector<Id> x : expand(g_, loops_, r.values, copies)) {
      if (acc == no_id) {
        acc = x[0];
        continue;
      }
      x.insert(r.values.size() > 1 ? x.end() : x.begin(), acc);
      acc = g_.make(operation_of(r.kind), r.acc, x);
    }
    return acc;
  }

  // Whether the element is searched in a second pass: lanes twice are faster than one element after the other.
  bool finds_in_lanes(const Reduction& r) const {
    if (r.ranges.size() != 1 || r.acc == DType::boolean || loop_has_lanes(r)) return false;
    const Id extent = g_.end(r.ranges[0]);
    if (g_.is_const(extent) && g_.value(extent) < 2 * reduce_stripes) return false;
    const std::vector<Id> nodes = g_.reachable(r.values[0]);
    const bool has_loops = std::ranges::any_of(nodes, [&](Id id) { return g_.op(id) == Op::FOR; });
    return !has_loops && contiguous_over(g_, r.values, r.ranges[0]) && !has_vectors_over(g_, r.values, r.ranges[0]);
  }

  // The index of the best element: the least position of an element that equals the extremum or, if that is NaN, of a NaN.
  Id found(const Reduction& r) {
    const Id range = r.ranges[0], extent = g_.end(range), x = r.values[0];
    const auto [op, kind] =
        r.kind == ReduceKind::argmax ? std::pair(Op::MAX, ReduceKind::max) : std::pair(Op::MIN, ReduceKind::min);
    const Id worst = g_.constant(r.acc, reduce_identity(kind, r.acc));
    const Id best = lower_striped(g_, loops_, {op, r.acc, worst, {x}, range, extent, Stripes::vector, false, 0, 1});
    Id hit = compare(Op::EQ, x, best);
    if (is_float(r.acc)) {
      const Id both_nan = g_.make(Op::AND, DType::boolean, {compare(Op::NE, x, x), compare(Op::NE, best, best)});
      hit = g_.make(Op::OR, DType::boolean, {hit, both_nan});
    }
    const DType d = position_type(extent);
    const Id none = g_.constant(d, reduce_identity(ReduceKind::min, d)), position = g_.make(Op::CAST, d, {range});
    const Id place = g_.make(Op::WHERE, d, {hit, position, none});
    const Id first = lower_striped(g_, loops_, {Op::MIN, d, none, {place}, range, extent, Stripes::vector, false, 0, 1});
    const Id known = g_.make(Op::WHERE, d, {compare(Op::EQ, first, none), g_.constant(d, 0), first});  // an empty axis gives 0
    return d == DType::i64 ? known : g_.make(Op::CAST, DType::i64, {known});
  }

  // Narrow, so that as many positions as elements of four bytes fit a register.
  DType position_type(Id elements) {
    return Bounds(g_, facts_)(elements).max < std::int64_t{1} << 31 ? DType::i32 : DType::i64;
  }

  // The index of the best element. The first of equal elements wins; a NaN beats every element except a NaN.
  Id arg_reduce(const Reduction& r) {
    Id elements = g_.index(1);
    for (const Id range : r.ranges) elements = mul_index(g_, elements, g_.end(range));
    const DType d = position_type(elements);
    const Nest n = open(r, {identity(r), g_.constant(d, 0)});
    const Copy copies[] = {n.copy};
    const Id x = r.ranges.empty() ? r.values[0] : expand(g_, loops_, r.values, copies)[0][0];
    const Id best = n.carries[0];
    Id beats = r.kind == ReduceKind::argmax ? compare(Op::LT, best, x) : compare(Op::LT, x, best);
    if (r.acc == DType::boolean) {  // argmax: true beats false; argmin: false beats true
      const Id no = g_.make(Op::NOT, DType::boolean, {r.kind == ReduceKind::argmax ? best : x});
      beats = g_.make(Op::AND, DType::boolean, {no, r.kind == ReduceKind::argmax ? x : best});
    }
    if (is_float(r.acc)) {  // x is better or one is a NaN, but best is none
      const Id no_better = r.kind == ReduceKind::argmax ? compare(Op::LE, x, best) : compare(Op::LE, best, x);
      const Id no_nan = compare(Op::EQ, best, best);
      beats = g_.make(Op::AND, DType::boolean, {g_.make(Op::NOT, DType::boolean, {no_better}), no_nan});
    }
    Id position = g_.index(0);
    for (const Id range : n.ranges) position = add_index(g_, mul_index(g_, position, g_.end(range)), range);
    position = g_.make(Op::CAST, d, {position});
    const Id element = g_.make(Op::WHERE, r.acc, {beats, x, best});
    const Id first = close(n, {element, g_.make(Op::WHERE, d, {beats, position, n.carries[1]})})[1];
    return d == DType::i64 ? first : g_.make(Op::CAST, DType::i64, {first});
  }
  Id compare(Op op, Id a, Id b) { return g_.make(op, DType::boolean, {a, b}); }

  Graph& g_;
  RangeIds& loops_;
  const Facts& facts_;
  const std::vector<Id> kernel_;
  const bool in_short_loops_;
  const Id innermost_;
  std::unordered_map<Id, std::vector<Id>> around_;  // by REDUCE
};

// The ranges of the kernel; none if it has other loops.
std::vector<Id> loops_of(const Graph& g, Id sink) {
  const auto effects = g.src(sink);
  if (effects.empty() || g.op(effects[0]) != Op::END) return {};
  std::vector<Id> ranges = g.sources(effects[0], 1);
  if (!std::ranges::all_of(ranges, [&](Id r) { return g.op(r) == Op::RANGE; })) ranges.clear();
  return ranges;
}

}  // namespace

Id reduce_lowering(Graph& g, RangeIds& loops, Id sink, const Facts& facts) {
  Lowering rule(g, loops, facts, loops_of(g, sink), sink);
  return rewrite(g, sink, [&](Id id, std::span<const Id> x) { return g.op(id) == Op::REDUCE ? rule(id, x) : no_id; });
}

}  // namespace kiln::compiler
