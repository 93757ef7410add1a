#include "compiler/lower/workgroup_bounds.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/state.h"

namespace kiln::compiler {
namespace {

struct Bound {
  Id condition, begin, end;  // begin: no_id if it does not change
};

class ActiveWorkItems {
 public:
  ActiveWorkItems(Graph& g, Id loop) : g_(g), range_(g.range_of(loop)), nodes_(g.reachable(loop_parts(g, loop).yield)) {
    inside_ = depends_on_range(g, nodes_, range_);
  }

  // A bound that all STOREs and ATOMICs to shared memory have in common.
  std::optional<Bound> bound() {
    std::optional<std::vector<Id>> common;
    for (const Id id : nodes_) {
      const Op op = g_.op(id);
      if (!inside_.contains(id) || (op != Op::STORE && op != Op::ATOMIC) || inside_.contains(memory_of(g_, g_.state(id))))
        continue;
      const std::vector<Id> here = conditions(id);
      if (!common)
        common = here;
      else
        std::erase_if(*common, [&](Id c) { return std::ranges::find(here, c) == here.end(); });
    }
    if (!common) return std::nullopt;
    for (const Id c : *common)
      if (const auto b = bound_of(c)) return b;
    return std::nullopt;
  }

 private:
  std::vector<Id> conditions(Id effect) const {
    const auto src = g_.src(effect);
    std::vector<Id> out;
    if (g_.op(effect) == Op::STORE && src.size() < 4) return out;
    out.push_back(g_.op(effect) == Op::STORE ? src[3] : src[1]);
    for (std::size_t i = 0; i < out.size(); ++i)
      if (g_.op(out[i]) == Op::AND) {
        const auto [a, b] = g_.operands<2>(out[i]);
        out.insert(out.end(), {a, b});
      }
    return out;
  }

  bool is_work_item(Id id) const {
    return id == range_ ||
           (g_.op(id) == Op::CAST && g_.operand(id) == range_ && is_int(g_.dtype(id)) && bits(g_.dtype(id)) >= 16);
  }
  // Whether the value is the same for all work items, and the value + 1 fits an index.
  bool is_shared(Id id) const {
    const DType d = g_.dtype(id);
    return !inside_.contains(id) && (d == DType::index || (is_int(d) && bits(d) <= 32));
  }

  std::optional<Bound> bound_of(Id condition) {
    const Op op = g_.op(condition);
    if (op != Op::LT && op != Op::LE && op != Op::EQ) return std::nullopt;
    auto [item, n] = g_.operands<2>(condition);
    if (op == Op::EQ && !is_work_item(item)) std::swap(item, n);
    if (!is_work_item(item) || !is_shared(n)) return std::nullopt;
    if (g_.dtype(n) != DType::index) n = index_cast(n);
    const Id behind = op == Op::LT ? n : index_add(g_, n, g_.index(1));
    return Bound{condition, op == Op::EQ ? n : no_id, behind};
  }
  Id index_cast(Id n) { return g_.is_const(n) ? g_.index(g_.value(n)) : g_.make(Op::CAST, DType::index, {n}); }

  Graph& g_;
  Id range_;
  std::vector<Id> nodes_;
  std::unordered_set<Id> inside_;
};

// Sets the bound of the loop and removes the condition. Other nodes must stay, because the bound may depend on them.
Id bounded(Graph& g, Id sink, Id loop, const Bound& b) {
  const Id always = g.constant(DType::boolean, 1);
  return rewrite(g, sink, [&](Id id, std::span<const Id> x) -> Id {
    const Op op = g.op(id);
    if (id == b.condition) return always;
    if (std::ranges::equal(x, g.src(id))) return no_id;
    if (op == Op::AND && (x[0] == always || x[1] == always)) return x[x[0] == always ? 1 : 0];
    if (op == Op::WHERE && x[0] == always) return x[1];
    if ((op == Op::STORE || op == Op::LOAD) && x.size() == 4 && x[3] == always)
      return g.make(op, g.dtype(id), x.first(op == Op::STORE ? 3 : 2));
    if (id != loop) return no_id;
    std::vector<Id> src(x.begin(), x.end());
    const Id zero = g.index(0);
    if (b.begin != no_id) src[1] = index_max(g, b.begin, zero);
    src[2] = index_max(g, index_min(g, src[2], b.end), zero);
    return g.with_src(id, src);
  });
}

}  // namespace

Id workgroup_bounds(Graph& g, Id sink, Id range) {
  for (;;) {
    const Id loop = loop_of(g, sink, range);
    const auto bound = ActiveWorkItems(g, loop).bound();
    if (!bound) return sink;
    sink = bounded(g, sink, loop, *bound);
  }
}

}  // namespace kiln::compiler
