#include "compiler/schedule/split_stripes.h"

#include <algorithm>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/range_ids.h"
#include "compiler/ir/reduce_identity.h"
#include "compiler/rangeify/index_expr.h"
#include "compiler/schedule/each_kernel.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/schedule/reduce_blocks.h"
#include "compiler/symbolic/bounds.h"

namespace kiln::compiler {
namespace {

// A shorter reduction, or fewer columns, cost less than the memory for the stripes. A length that only the call knows is often
// short.
constexpr std::int64_t long_stripes = 4 * reduce_stripes, long_in_some_calls = 16 * reduce_stripes;
constexpr std::int64_t many_columns = 32;
constexpr std::int64_t far_apart = 16;  // elements

class StripeSplitter {
 public:
  StripeSplitter(Graph& g, Schedule& s, Kernel& k, const Facts& facts, std::vector<Kernel>& made)
      : g_(g), s_(s), kernel_(k), made_(made), bounds_(g, facts), ids_(g, k.sink), loops_(loop_ranges_of(g, k)) {}

  void run() {
    if (loops_.empty() || bounds_(g_.end(loops_.back())).max < many_columns) return;
    const Id reduce = only_reduce();
    if (reduce == no_id || !is_down_columns(reduce)) return;
    g_.set_loc(g_.loc(reduce));
    kernel_.sink = substitute(g_, kernel_.sink, {{reduce, combined(reduce)}});
  }

 private:
  // The REDUCE of the kernel; no_id: there is none, or more than one.
  Id only_reduce() const {
    Id found = no_id;
    for (const Id id : g_.reachable(kernel_.sink)) {
      if (g_.op(id) != Op::REDUCE) continue;
      if (found != no_id) return no_id;
      found = id;
    }
    return found;
  }

  // Whether the REDUCE is long, and goes down the columns of a matrix.
  bool is_down_columns(Id reduce) {
    const std::size_t n = operands_of(g_.reduce_kind(reduce));
    const bool is_one = g_.src(reduce).size() == n + 1 && g_.op(g_.src(reduce, n)) == Op::RANGE;
    if (!is_one || g_.reduce_order(reduce) != ReduceOrder::striped || !is_float(g_.dtype(reduce))) return false;
    if (is_extremum(g_.reduce_kind(reduce))) return false;
    const Id r = g_.src(reduce, n);
    if (bounds_(g_.end(r)).max < (g_.is_const(g_.end(r)) ? long_stripes : long_in_some_calls)) return false;
    bool is_far = false;
    for (const Id id : g_.reachable(g_.src(reduce).first(n))) {
      if (g_.op(id) != Op::LOAD) continue;
      const auto across = distance_along(g_, g_.src(id, 1), loops_.back()), along = distance_along(g_, g_.src(id, 1), r);
      if (across != std::int64_t{0} && across != std::int64_t{1}) return false;
      if (across == std::int64_t{1} && (!along || *along > far_apart || *along < -far_apart))
        is_far = is_far || is_read_once(id);
    }
    return is_far;
  }
  // Whether each iteration of the loops reads other elements, so that the memory for the stripes is at most a part of the
  // operand's if the reduction is long. The stripes of the distances of all pairs would be 32 times the result.
  bool is_read_once(Id load) const {
    return std::ranges::all_of(loops_, [&](Id r) {
      return g_.is_index_const(g_.end(r), 1) || distance_along(g_, g_.src(load, 1), r) != std::int64_t{0};
    });
  }
  static bool is_extremum(ReduceKind kind) {
    return kind != ReduceKind::sum && kind != ReduceKind::prod && kind != ReduceKind::dot;
  }

  Id range(Id end, RangeKind kind) { return ids_.range(g_, end, kind); }
  Id add(Id a, Id b) { return g_.make(Op::ADD, DType::index, {a, b}); }
  Id mul(Id a, Id b) { return g_.make(Op::MUL, DType::index, {a, b}); }

  // A buffer over the kernel's loops, with `inner` between the last loop and the others.
  struct Partial {
    int buffer = 0;
    std::vector<Id> inner;  // extents
  };

  Id place(const Partial& p, std::span<const Id> inner) {
    std::vector<Id> index(loops_.begin(), loops_.end() - 1), extents;
    index.insert(index.end(), inner.begin(), inner.end());
    index.push_back(loops_.back());
    for (const Id r : std::span(loops_).first(loops_.size() - 1)) extents.push_back(g_.end(r));
    extents.insert(extents.end(), p.inner.begin(), p.inner.end());
    extents.push_back(g_.end(loops_.back()));
    return row_major(g_, index, extents);
  }

  // Adds a kernel that stores `value` for each iteration of the loops and of the ranges `inner`.
  Partial stored(Id value, std::vector<Id> inner) {
    Partial p{count_of(s_.buffers), {}};
    for (const Id r : inner) p.inner.push_back(g_.end(r));
    Kernel k;
    k.buffers = kernel_.buffers;
    k.buffers.push_back(p.buffer);
    const DType d = g_.dtype(value);
    const Id slot = g_.make(Op::BUFFER, d, {}, {std::ssize(k.buffers) - 1}), at = place(p, inner);
    std::vector<Id> ranges(loops_.begin(), loops_.end() - 1);
    ranges.insert(ranges.end(), inner.begin(), inner.end());
    ranges.push_back(loops_.back());
    Id size = g_.index(1);
    for (const Id r : ranges) size = index_mul(g_, size, g_.end(r));
    s_.buffers.push_back({.dtype = d, .size = size});
    k.sink = sink_of_store(g_, slot, at, value, ranges);
    made_.push_back(std::move(k));
    kernel_.buffers.push_back(p.buffer);
    return p;
  }

  Id load(const Partial& p, DType d, std::span<const Id> inner) {
    const auto slot = std::ranges::find(kernel_.buffers, p.buffer) - kernel_.buffers.begin();
    const Id buffer = g_.make(Op::BUFFER, d, {}, {slot}), at = place(p, inner);
    return g_.make(Op::LOAD, d, {buffer, at});
  }

  // The stripe of a block, or of the whole if `block` is no_id. If the number of elements is known, all stripes have the same
  // number of positions, and tree() adds the elements behind the last multiple of 32.
  Id stripe(Id reduce, Id block, Id number) {
    const Id r = g_.src(reduce, operands_of(g_.reduce_kind(reduce))), stripes = g_.index(reduce_stripes);
    ReduceBlock here{g_.index(0), g_.end(r)};
    if (block != no_id) here = reduce_block_at(g_, g_.end(r), block);
    const auto elements = index_value(g_, here.elements);
    const Id up = add(here.elements, g_.index(reduce_stripes - 1));
    const Id left = g_.make(Op::SUB, DType::index, {up, number});
    const Id count = elements ? g_.index(*elements / reduce_stripes) : g_.make(Op::FLOORDIV, DType::index, {left, stripes});
    const Id q = range(count, RangeKind::reduce), first = block == no_id ? number : add(here.first, number);
    std::vector<Id> src = values_at(g_, reduce, add(mul(q, stripes), first));
    src.push_back(q);
    const ReduceKind kind = g_.reduce_kind(reduce) == ReduceKind::dot ? ReduceKind::fma : g_.reduce_kind(reduce);
    return g_.make(Op::REDUCE, g_.dtype(src[0]), src, {kind, ReduceOrder::sequential});
  }

  // The number of stripes that have memory: 1 at least.
  Id stripes_of(Id elements) {
    if (bounds_(elements).min >= reduce_stripes) return g_.index(reduce_stripes);
    const Id most = index_min(g_, elements, g_.index(reduce_stripes));
    return index_max(g_, g_.index(1), most);
  }

  // A stripe without memory has no elements.
  Id stripe_of(const Partial& p, DType d, ReduceKind kind, std::vector<Id> block, std::int64_t number, Id elements) {
    block.push_back(g_.index(number));
    if (bounds_(elements).min > number) return load(p, d, block);
    block.back() = index_min(g_, block.back(), index_sub(g_, p.inner.back(), g_.index(1)));
    const Id inside = index_less(g_, g_.index(number), elements), value = load(p, d, block);
    return g_.make(Op::WHERE, d, {inside, value, g_.constant(d, reduce_identity(kind, d))});
  }

  // The stripe with the element at one more position.
  Id with_element(Id reduce, Id stripe, std::int64_t position) {
    std::vector<Id> src = values_at(g_, reduce, g_.index(position));
    src.insert(src.size() > 1 ? src.end() : src.begin(), stripe);
    const Op op = src.size() > 2 ? Op::FMA : g_.reduce_kind(reduce) == ReduceKind::prod ? Op::MUL : Op::ADD;
    return g_.make(op, g_.dtype(stripe), src);
  }

  // The tree over the stripes.
  Id tree(const Partial& p, DType d, Id reduce, const std::vector<Id>& block, Id elements) {
    const ReduceKind kind = g_.reduce_kind(reduce);
    const std::int64_t known = block.empty() ? index_value(g_, elements).value_or(0) : 0, rest = known % reduce_stripes;
    std::vector<Id> acc;
    for (std::int64_t s = 0; s < reduce_stripes; ++s) {
      acc.push_back(stripe_of(p, d, kind, block, s, elements));
      if (s < rest) acc.back() = with_element(reduce, acc.back(), known - rest + s);
    }
    const Op op = kind == ReduceKind::prod ? Op::MUL : Op::ADD;
    for (std::size_t half = acc.size() / 2; half > 0; half /= 2)
      for (std::size_t i = 0; i < half; ++i) acc[i] = g_.make(op, d, {acc[i], acc[i + half]});
    return acc[0];
  }

  Id combined(Id reduce) {
    const ReduceKind kind = g_.reduce_kind(reduce);
    const Id r = g_.src(reduce, operands_of(kind)), elements = g_.end(r);
    const Id number = range(stripes_of(elements), RangeKind::loop);
    const DType exact = accumulation_dtype(g_.dtype(g_.src(reduce, 0)));
    if (bounds_(elements).max <= reduce_block) {
      const Partial p = stored(stripe(reduce, no_id, number), {number});
      Id whole = tree(p, exact, reduce, {}, elements);
      if (kind == ReduceKind::dot)  // the result of the only block is summed, from +0
        whole = g_.make(Op::ADD, exact, {g_.constant(exact, 0), whole});
      return as_result(g_, reduce, whole);
    }
    const Id blocks = number_of_blocks(g_, elements), block = range(blocks, RangeKind::loop);
    const Partial p = stored(stripe(reduce, block, number), {block, number});
    const Partial of_block = stored(tree(p, exact, reduce, {block}, elements), {block});
    const Id each = range(blocks, RangeKind::reduce);
    return reduce_of_blocks(g_, reduce, load(of_block, exact, std::span(&each, 1)), each);
  }

  Graph& g_;
  Schedule& s_;
  Kernel& kernel_;
  std::vector<Kernel>& made_;
  Bounds bounds_;
  RangeIds ids_;
  const std::vector<Id> loops_;
};

}  // namespace

void split_stripes(Graph& g, Schedule& s) {
  insert_kernels(g, s, [&](Kernel& k, const Facts& facts, std::vector<Kernel>& made) {
    if (!k.is_explicit && !has_tile_steps(g, k.sink)) StripeSplitter(g, s, k, facts, made).run();
  });
}

}  // namespace kiln::compiler
