#include "compiler/ir/compact.h"

namespace kiln::compiler {

Graph compact(const Graph& g, Schedule& s) {
  Graph out;
  const auto moved = [&](SourceLoc loc) { return SourceLoc{out.intern(g.string(loc.file)), loc.line, loc.column}; };
  std::vector<Id> roots, sources, place;
  for_each_node(s, [&](Id id) {
    if (id != no_id) roots.push_back(id);
  });
  for (const Id id : g.reachable(roots)) {
    sources.clear();
    for (const Id source : g.src(id)) sources.push_back(place[source]);
    out.set_loc(moved(g.loc(id)));
    place.resize(id + 1, no_id);
    place[id] = out.make(g.op(id), g.dtype(id), sources, g.args(id), g.name(id), g.lanes(id));
  }
  out.set_loc({});
  for_each_node(s, [&](Id& id) {
    if (id != no_id) id = place[id];
  });
  for (Parameter& p : s.program.params) p.loc = moved(p.loc);
  return out;
}

}  // namespace kiln::compiler
