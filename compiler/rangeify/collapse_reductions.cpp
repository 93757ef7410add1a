#include "compiler/rangeify/collapse_reductions.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/ir/reduce_identity.h"
#include "compiler/rangeify/assumed_extents.h"
#include "compiler/rangeify/collapse.h"

namespace kiln::compiler {

void collapse_reductions(Graph& g, Program& p) {
  const LocScope restored(g);
  const Facts facts = facts_of(p);
  Simplifier simplify(g, facts);
  std::unordered_map<Id, Id> now;
  std::vector<Id> sources;
  for (const Id id : g.reachable(p.sink)) {
    sources.clear();
    for (const Id s : g.src(id)) sources.push_back(now.at(s));
    g.set_loc(g.loc(id));
    const Id same = g.with_src(id, sources);
    now[id] = same;
    if (g.op(same) != Op::REDUCE) continue;
    now[id] = collapsed(g, simplify, same);
    if (now[id] == same) now[id] = collapsed_by_assumption(g, facts, same);
  }
  p.sink = now.at(p.sink);
}

}  // namespace kiln::compiler
