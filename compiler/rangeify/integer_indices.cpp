#include "compiler/rangeify/integer_indices.h"

#include <algorithm>
#include <vector>

#include "compiler/rangeify/exact_index.h"

namespace kiln::compiler {

void integer_indices(Graph& g, Program& p) {
  const Facts facts = facts_of(p);
  const std::vector<Id> order = g.reachable(p.sink);
  const auto is_index_cast = [&](Id id) { return g.op(id) == Op::CAST && g.dtype(id) == DType::index; };
  if (std::ranges::none_of(order, is_index_cast)) return;
  Simplifier simplify(g, facts);
  ExactIndex exact(g, simplify);
  std::vector<Id> done(order.back() + 1, no_id), src;
  for (const Id id : order) {
    src.clear();
    for (const Id s : g.src(id)) src.push_back(done[s]);
    const LocScope of_node(g, g.loc(id));
    const Id index = is_index_cast(id) ? exact(src[0]) : no_id;
    const Id made = index == no_id ? g.with_src(id, src) : exact.uncut(index);
    const bool is_index = g.dtype(id) == DType::index && g.op(id) != Op::RANGE;  // a kernel keeps its ranges, even of extent 1
    done[id] = is_index && made != id ? simplify(made) : made;
  }
  p.sink = done[p.sink];
}

}  // namespace kiln::compiler
