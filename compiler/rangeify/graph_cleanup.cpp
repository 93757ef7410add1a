#include "compiler/rangeify/graph_cleanup.h"

#include <algorithm>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/reduce_identity.h"
#include "compiler/ir/shapes.h"

namespace kiln::compiler {
namespace {

class Cleanup {
 public:
  explicit Cleanup(Graph& g) : g_(g), shapes_(g) {}

  // The clean form of `id`, whose sources are clean.
  Id node(Id id) {
    if (is_data(id) && has_zero_extent(shapes_.of(id))) return filled_with_zero(id);
    if (may_come_first(id)) return elementwise(id);
    switch (g_.op(id)) {
      case Op::REDUCE: return reduce(id);
      case Op::RESHAPE:
      case Op::EXPAND: return to_extents(id);
      case Op::PERMUTE: return permute(id);
      case Op::SLICE: return slice(id);
      case Op::PAD: return pad(id);
      case Op::UNSHEAR:
      case Op::GATHER: return has_zero_extent(shapes_.of(g_.data(id))) ? filled_with_zero(id) : id;
      case Op::STAGE: return stage(id);
      default: return id;
    }
  }

  // Whether the store has no elements, or stores the parameter's own value. The sources of `store` are clean.
  bool stores_nothing(Id store) {
    const auto [param, value] = g_.operands<2>(store);
    return value == param || has_zero_extent(shapes_.of(param));
  }

 private:
  bool is_data(Id id) const {
    const Op op = g_.op(id);
    return is_elementwise(op) || is_movement(op) || op == Op::GATHER || op == Op::REDUCE || op == Op::SCAN || op == Op::IOTA;
  }
  bool has_zero_extent(const std::vector<Id>& extents) const {
    return std::ranges::any_of(extents, [&](Id e) { return g_.is_index_const(e, 0); });
  }

  Id filled_with_zero(Id id) {
    const std::vector<Id> extents = shapes_.of(id);
    std::vector<Id> src(extents.size() + 1, g_.index(1));
    src[0] = g_.constant(g_.dtype(id), 0);
    const Id flat = g_.make(Op::RESHAPE, g_.dtype(id), src);
    src = {flat};
    src.insert(src.end(), extents.begin(), extents.end());
    return g_.make(Op::EXPAND, g_.dtype(id), src);
  }

  // A selection stays at its reader: a sum over a selection by position reads one element (collapse_reductions), but not if the
  // selection is stored.
  bool may_come_first(Id id) const {
    return is_elementwise(g_.op(id)) && g_.op(id) != Op::WHERE && g_.dtype(id) != DType::boolean;
  }

  Id expanded(Id x, const std::vector<Id>& to) {
    if (shapes_.of(x) == to) return x;
    std::vector<Id> src{x};
    src.insert(src.end(), to.begin(), to.end());
    return g_.make(Op::EXPAND, g_.dtype(x), src);
  }

  // The operation on the elements that the operands repeat along some axes, and then the EXPAND along these axes.
  Id elementwise(Id id) {
    const std::vector<Id> to = shapes_.of(id);
    std::vector<Id> src = g_.sources(id), different(to.size(), g_.index(1));
    for (Id& s : src) {
      if (shapes_.of(s).empty()) continue;
      if (g_.op(s) != Op::EXPAND) return id;
      s = g_.data(s);
      const std::vector<Id> from = shapes_.of(s);
      for (std::size_t a = 0; a < to.size(); ++a)
        if (from[a] == to[a]) different[a] = to[a];
    }
    if (different == to) return id;
    for (Id& s : src)
      if (!shapes_.of(s).empty()) s = expanded(s, different);
    return expanded(g_.with_src(id, src), to);
  }

  Id reduce(Id id) {
    const ReduceKind kind = g_.reduce_kind(id);
    const std::vector<std::int64_t> axes(g_.args(id).begin() + 1, g_.args(id).end());
    if (axes.empty()) {
      if (kind != ReduceKind::fma) return g_.data(id);
      const auto [a, b] = g_.operands<2>(id);
      return g_.make(Op::FMA, g_.dtype(id), {a, b, g_.constant(g_.dtype(id), 0)});
    }
    if (axes.size() < 2 || kind == ReduceKind::fma) return id;
    const DType result = g_.dtype(id), wide = rounds(kind) ? accumulation_dtype(result) : result;
    Id value = as(g_.data(id), wide);
    for (std::size_t i = axes.size(); i-- > 0;) value = g_.make(Op::REDUCE, wide, {value}, {kind, axes[i]});
    return as(value, result);
  }

  static bool rounds(ReduceKind kind) { return kind == ReduceKind::sum || kind == ReduceKind::prod; }

  Id as(Id value, DType d) { return g_.dtype(value) == d ? value : g_.make(Op::CAST, d, {value}); }

  // A RESHAPE of a RESHAPE is one RESHAPE, and an EXPAND of an EXPAND one EXPAND.
  Id to_extents(Id id) {
    const std::vector<Id> to = shapes_.of(id);
    Id x = g_.data(id);
    if (g_.op(x) == g_.op(id)) x = g_.data(x);
    return shapes_.of(x) == to ? x : with_data(id, x);
  }

  Id permute(Id id) {
    std::vector<std::int64_t> axes(g_.args(id).begin(), g_.args(id).end());
    Id x = g_.data(id);
    if (g_.op(x) == Op::PERMUTE) {
      for (std::int64_t& a : axes) a = nth(g_.args(x), a);
      x = g_.data(x);
    }
    if (std::ranges::is_sorted(axes)) return x;  // each axis stays in its place
    return g_.make(Op::PERMUTE, g_.dtype(id), std::span(&x, 1), axes);
  }

  Id slice(Id id) {
    const std::vector<Id> to = shapes_.of(id);
    const std::size_t rank = to.size();
    std::vector<std::int64_t> step(g_.args(id).begin(), g_.args(id).end());
    std::vector<Id> src = g_.sources(id);
    if (const Id inner = src[0]; g_.op(inner) == Op::SLICE) {  // in = b1 + (b2 + i*s2)*s1
      for (std::size_t i = 0; i < rank; ++i) {
        const std::int64_t s1 = g_.arg(inner, i);
        if (__builtin_mul_overflow(step[i], s1, &step[i])) return id;
        src[1 + i] = index_add(g_, g_.src(inner, 1 + i), index_mul(g_, src[1 + i], g_.index(s1)));
      }
      src[0] = g_.data(inner);
    }
    bool all = shapes_.of(src[0]) == to;
    for (std::size_t i = 0; i < rank; ++i) all = all && step[i] == 1 && g_.is_index_const(src[1 + i], 0);
    return all ? src[0] : g_.make(Op::SLICE, g_.dtype(id), src, step);
  }

  Id pad(Id id) {
    const std::vector<Id> to = shapes_.of(id);
    bool none = shapes_.of(g_.data(id)) == to;
    for (std::size_t i = 0; i < to.size(); ++i) none = none && g_.is_index_const(g_.src(id, 2 + i), 0);
    return none ? g_.data(id) : id;
  }

  // Drops the STAGE of a tensor that has storage already, and of a constant.
  Id stage(Id id) {
    const Op op = g_.op(g_.data(id));
    return op == Op::PARAM || op == Op::GET || op == Op::CONST || op == Op::STAGE ? g_.data(id) : id;
  }

  Id with_data(Id id, Id x) {
    std::vector<Id> src = g_.sources(id);
    src[0] = x;
    return g_.with_src(id, src);
  }

  Graph& g_;
  Shapes shapes_;
};

}  // namespace

void graph_cleanup(Graph& g, Program& p) {
  Cleanup cleanup(g);
  std::vector<Id> clean(p.sink + 1, no_id), sources;
  for (Id id : g.reachable(p.sink)) {
    sources.clear();
    for (Id s : g.src(id))
      if (clean[s] != no_id) sources.push_back(clean[s]);
    const LocScope of_node(g, g.loc(id));
    const Id now = cleanup.node(g.with_src(id, sources));
    if (g.op(id) != Op::STORE || !cleanup.stores_nothing(now)) clean[id] = now;
  }
  p.sink = clean[p.sink];
}

}  // namespace kiln::compiler
