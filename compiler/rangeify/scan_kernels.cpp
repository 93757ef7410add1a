#include "compiler/rangeify/scan_kernels.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/reduce_identity.h"
#include "compiler/ir/rewrite_in_order.h"

namespace kiln::compiler {
namespace {

class Scans {
 public:
  Scans(Graph& g, const std::vector<Id>& order) : g_(g), build_(g) {
    build_.trust_bounds();
    for (const Id id : order) {
      if (g.op(id) == Op::RANGE) ranges_ = std::max(ranges_, g.range_number(id) + 1);
      for (const Id s : g.src(id)) ++readers_[s];
    }
  }

  // x: the operand, in which scans are kernels already. old: the operand before.
  Id kernel(Id scan, Id x, Id old) {
    const ReduceKind kind = g_.scan_kind(scan);
    const std::size_t axis = g_.slot(scan, 1);
    const bool exclusive = g_.arg(scan, 2) != 0, reversed = g_.arg(scan, 3) != 0;
    const std::vector<Id> extents = build_.shape_of(x);
    const Id empty = build_.broadcast_to(g_.constant(g_.dtype(x), 0), extents);
    std::vector<Id> index, outer;
    for (std::size_t a = 0; a < extents.size(); ++a) {
      index.push_back(a == axis ? no_id : build_.range(extents[a], ranges_++));
      if (a != axis) outer.push_back(index[a]);
    }
    if (outer.empty()) outer.push_back(build_.range(g_.index(1), ranges_++));
    const Id n = extents[axis], r = build_.range(n, ranges_++);
    index[axis] = reversed ? index_sub(g_, index_sub(g_, n, g_.index(1)), r) : r;

    const Id at_entry = build_.carry(outer[0], empty, 0), before = build_.carry(r, at_entry, 0);
    const Id value = as(element(x, old, index), accumulation_dtype(g_.dtype(x)));
    const Id result = g_.make(Op::SCAN, g_.dtype(value), {value, r}, {kind, exclusive});
    const Id stored = build_.update(before, no_id, as(result, g_.dtype(x)), index);
    const Id loop = build_.loop(r, g_.index(0), n, std::span(&at_entry, 1), std::span(&stored, 1), 1);
    const Id after = build_.get(loop, 0);
    return build_.get(build_.kernel(outer, std::span(&empty, 1), std::span(&after, 1)), 0);
  }

 private:
  Id as(Id value, DType d) { return g_.dtype(value) == d ? value : g_.make(Op::CAST, d, {value}); }

  // Whether the operation is part of the kernel: it is short, and nothing else needs its result.
  bool is_inside(Id x, Id old) const {
    const auto it = readers_.find(old);
    return is_elementwise(g_.op(x)) && !is_math(g_.op(x)) && it != readers_.end() && it->second == 1;
  }

  // Element `index` of x. old: x before the scans in it became kernels.
  Id element(Id x, Id old, const std::vector<Id>& index) {
    if (build_.shape_of(x).empty()) return x;
    const auto source = [&](std::size_t i, const std::vector<Id>& at) { return element(g_.src(x, i), g_.src(old, i), at); };
    switch (g_.op(x)) {
      case Op::PERMUTE: {
        std::vector<Id> at(index.size(), no_id);
        for (std::size_t i = 0; i < index.size(); ++i) at[g_.slot(x, i)] = index[i];
        return source(0, at);
      }
      case Op::EXPAND: {
        std::vector<Id> at = index;
        const std::vector<Id> from = build_.shape_of(g_.data(x)), to = build_.shape_of(x);
        for (std::size_t i = 0; i < at.size(); ++i)
          if (from[i] != to[i]) at[i] = g_.index(0);
        return source(0, at);
      }
      case Op::RESHAPE:
        if (build_.shape_of(g_.data(x)).empty()) return g_.data(x);
        break;
      case Op::IOTA: return g_.make(Op::CAST, g_.dtype(x), {index[0]});
      default: break;
    }
    if (!is_inside(x, old)) return build_.element(x, index);
    std::vector<Id> src;
    for (std::size_t i = 0; i < g_.src(x).size(); ++i) src.push_back(source(i, index));
    return g_.with_src(x, src);
  }

  Graph& g_;
  Builder build_;
  std::int64_t ranges_ = 0;
  std::unordered_map<Id, std::size_t> readers_;  // by node of the program: how many operands it is
};

}  // namespace

void scan_kernels(Graph& g, Program& p) {
  const std::vector<Id> order = g.reachable(p.sink);
  if (std::ranges::none_of(order, [&](Id id) { return g.op(id) == Op::SCAN; })) return;
  Scans scans(g, order);
  std::vector<Id> done(order.back() + 1, no_id);
  p.sink = rewrite_in_order(g, order, done, [&](Id id) {
    std::vector<Id> src;
    for (const Id s : g.src(id)) src.push_back(done[s]);
    return g.op(id) == Op::SCAN ? scans.kernel(id, src[0], g.data(id)) : g.with_src(id, src);
  });
}

}  // namespace kiln::compiler
