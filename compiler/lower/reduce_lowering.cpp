#include "compiler/lower/reduce_lowering.h"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/reduce_identity.h"
#include "compiler/lower/access.h"
#include "compiler/lower/arg_reduce.h"
#include "compiler/lower/carried_loops.h"
#include "compiler/lower/expand.h"
#include "compiler/lower/reduce_form.h"
#include "compiler/lower/striped_reduce.h"
#include "compiler/symbolic/bounds.h"

namespace kiln::compiler {
namespace {

class ReduceRule {
 public:
  // kernel: the loops of the kernel, outermost first.
  ReduceRule(Graph& g, RangeIds& loops, const Facts& facts, std::vector<Id> kernel, Id tile, Id sink,
             const StoresInReductions& stores)
      : g_(g), loops_(loops), facts_(facts), form_(g, facts, std::move(kernel), tile), stores_(stores) {
    for (const Id id : g.reachable(sink)) {
      if (g.op(id) != Op::REDUCE) continue;
      const std::size_t values = operands_of(g.reduce_kind(id));
      for (const Id inner : g.reachable(g.src(id).first(values)))
        if (g.op(inner) == Op::REDUCE) std::ranges::copy(g.src(id).subspan(values), std::back_inserter(around_[inner]));
      if (order_matters(g.reduce_kind(id), g.dtype(id)))
        for (const Id range : g.src(id).subspan(values))
          if (g.op(range) == Op::RANGE) in_blocks_.insert(g.end(range));
    }
  }

  Id operator()(Id id, std::span<const Id> x) {
    Reduction r = read(id, x);
    if (const auto it = around_.find(id); it != around_.end()) r.around = it->second;
    if (const auto it = stores_.find(id); it != stores_.end()) r.stores = it->second;
    if (!r.stores.empty() && (r.is_arg() || !form_.is_striped(r) || form_.stripes_of(r) != Stripes::vector))
      throw std::logic_error("lower: a REDUCE with stores that is no loop over vectors");
    const Id value =
        r.is_arg() ? (form_.finds_in_lanes(r) ? arg_reduce_in_lanes(g_, loops_, facts_, r) : arg_reduce(g_, loops_, facts_, r))
        : form_.is_of_magnitudes(r) ? magnitude(r)
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

  Id lowered(const Reduction& r) {
    return form_.is_striped(r) ? striped(r) : form_.is_written_out(r) ? in_a_row(r) : sequential(r);
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

  Id identity(const Reduction& r) { return g_.constant(r.acc, reduce_identity(r.kind, r.acc)); }

  Id striped(const Reduction& r) {
    const Id range = r.ranges[0];
    const Id extent = g_.end(range);
    const auto [least, most] = Bounds(g_, facts_)(extent);
    const bool has_blocks = (r.order_matters() || in_blocks_.contains(extent)) && most > reduce_block;
    const int levels = !has_blocks ? 1 : most <= reduce_block * reduce_block ? 2 : 3;
    const Op op = r.kind == ReduceKind::dot ? Op::ADD : operation_of(r.kind);
    const Stripes stripes = form_.stripes_of(r);
    if (stripes == Stripes::vector && r.stores.empty() && !form_.is_small(r) && form_.fit_pairs(r)) return pairs(r);
    const bool few = form_.loop_has_lanes(r) && most <= reduce_stripes, one_for_each = few && g_.is_const(extent);
    Striped s{op,     r.acc, identity(r), r.values, range, extent, stripes, form_.is_in_loop(), form_.most_apart(r, stripes),
              levels, least, most};
    s.one_each = few && !one_for_each;
    if (!r.stores.empty()) s.stores = r.stores, s.often_short = false, s.most_apart = 0;  // one place for each STORE
    const bool is_short = r.stores.empty() && (one_for_each || (form_.is_small(r) && form_.is_light(r)));
    return is_short ? lower_striped_unrolled(g_, loops_, s) : lower_striped(g_, loops_, s);
  }

  // The sum in i32, which has the bits of the sum in u32.
  Id pairs(const Reduction& r) {
    std::vector<Id> x = factors(g_, r);
    for (Id& v : x)
      if (r.acc != DType::i32) v = g_.make(Op::CAST, DType::i32, {v});
    const Id zero = g_.constant(DType::i32, 0), range = r.ranges[0];
    return lower_striped(g_, loops_, {Op::ADD, DType::i32, zero, x, range, g_.end(range), Stripes::pairs, false, 0, 1});
  }

  Id sequential(const Reduction& r) {
    const CarriedLoops n = open_loops(g_, loops_, r, {identity(r)});
    const Copy copies[] = {n.copy};
    std::vector<Id> x = r.ranges.empty() ? r.values : expand(g_, loops_, r.values, copies)[0];
    x.insert(r.values.size() > 1 ? x.end() : x.begin(), n.carries[0]);
    const Id value = close_loops(g_, n, {g_.make(operation_of(r.kind), r.acc, x)})[0];
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

  Graph& g_;
  RangeIds& loops_;
  const Facts& facts_;
  const ReduceForm form_;
  const StoresInReductions& stores_;
  std::unordered_set<Id> in_blocks_;  // ends of ranges that some REDUCE adds in blocks; others can share its loops
  std::unordered_map<Id, std::vector<Id>> around_;  // by REDUCE: the ranges of the reductions that repeat it
};

}  // namespace

Id reduce_lowering(Graph& g, RangeIds& loops, Id sink, const Facts& facts, Id tile, const StoresInReductions& stores) {
  ReduceRule rule(g, loops, facts, loops_around(g, sink), tile, sink, stores);
  return rewrite(g, sink, [&](Id id, std::span<const Id> x) { return g.op(id) == Op::REDUCE ? rule(id, x) : no_id; });
}

}  // namespace kiln::compiler
