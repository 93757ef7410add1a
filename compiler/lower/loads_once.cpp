#include "compiler/lower/loads_once.h"

#include <algorithm>

#include "compiler/lower/rewrite.h"

namespace kiln::compiler {

std::vector<Id> loads_once(Graph& g, std::span<const Id> stores, Id last) {
  const std::unordered_set<Id> varying = depends_on_range(g, g.reachable(stores), last);
  const auto varies = [&](Id id) { return varying.contains(id); };
  const Id zero = g.index(0), extent = g.end(last), all = g.make(Op::SINK, DType::none, stores);
  const bool may_be_empty = !g.is_const(extent) || g.value(extent) < 1;
  const Id sink = rewrite(g, all, [&](Id id, std::span<const Id> x) -> Id {
    if (g.op(id) != Op::LOAD || g.op(g.state(id)) != Op::ENTRY || !varies(g.state(id))) return no_id;
    if (std::ranges::any_of(g.src(id).subspan(1), varies)) return no_id;
    std::vector<Id> positions = g.sources(g.state(id)), src(x.begin(), x.end());
    std::erase(positions, last);
    src[0] = g.with_src(g.state(id), positions);
    if (!may_be_empty) return g.with_src(id, src);
    const Id runs = g.make(Op::LT, DType::boolean, {zero, extent});
    if (src.size() < 4)
      src.insert(src.end(), {g.constant(g.dtype(id), 0), runs});
    else
      src[3] = g.make(Op::AND, DType::boolean, {src[3], runs});
    return g.with_src(id, src);
  });
  return g.sources(sink);
}

}  // namespace kiln::compiler
