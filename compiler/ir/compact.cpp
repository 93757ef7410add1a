#include "compiler/ir/compact.h"

namespace kiln::compiler {
namespace {

std::vector<Id> roots_of(Schedule& s) {
  std::vector<Id> roots;
  for_each_node(s, [&](Id id) {
    if (id != no_id) roots.push_back(id);
  });
  return roots;
}

Graph copy(const Graph& g, Schedule& s, std::span<const Id> nodes) {
  Graph out;
  out.set_remarks(g.remarks());
  for (const auto& [name, divisor] : g.multiples()) out.set_multiple(g.string(name), divisor);
  const auto moved = [&](SourceLoc loc) { return SourceLoc{out.intern(g.string(loc.file)), loc.line, loc.column}; };
  std::vector<Id> sources, place;
  for (const Id id : nodes) {
    sources.clear();
    for (const Id source : g.src(id)) sources.push_back(place[source]);
    out.set_loc(moved(g.loc(id)));
    if (id >= place.size()) place.resize(id + 1, no_id);
    place[id] = out.make(g.op(id), g.dtype(id), sources, g.args(id), g.name(id), g.lanes(id));
  }
  out.set_loc({});
  for_each_node(s, [&](Id& id) {
    if (id != no_id) id = place[id];
  });
  for (Parameter& p : s.program.params) p.loc = moved(p.loc);
  for (DataCheck& c : s.program.checks) c.loc = moved(c.loc);
  return out;
}

}  // namespace

Graph compact(const Graph& g, Schedule& s) { return copy(g, s, g.reachable(roots_of(s))); }
Graph in_order(const Graph& g, Schedule& s) { return copy(g, s, g.in_order(roots_of(s))); }

}  // namespace kiln::compiler
