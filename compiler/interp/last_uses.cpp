#include "compiler/interp/last_uses.h"

#include "compiler/ir/scopes.h"

namespace kiln::compiler {

LastUses::LastUses(const Graph& g, std::span<const Id> reached, const Regions& regions)
    : last_(g.size(), no_id), captured_(g.size(), false), ends_iteration_(g.size(), false) {
  std::vector<std::uint32_t> position(g.size(), 0);
  for (const Region& r : regions.list)
    for (std::uint32_t i = 0; i < r.nodes.size(); ++i) position[r.nodes[i]] = i;
  const auto ends_iteration = [&](Id user, Id s) { return is_scope(g.op(user)) && regions.owned[user] == regions.of[s]; };
  for (Id id : reached) {
    if (g.op(id) == Op::OLD) continue;  // the old element has a slot of its own
    for (Id s : g.src(id)) {
      if (ends_iteration(id, s)) {
        ends_iteration_[s] = true;
        continue;
      }
      const Id user = regions.lifted(id, regions.of[s]);
      if (last_[s] == no_id || position[user] > position[last_[s]]) last_[s] = user;
    }
  }
  for (Id id : reached) {
    if (is_scope(g.op(id)))  // the result of each iteration may be a value from outside
      for (Id s : g.op(id) == Op::FOR ? loop_parts(g, id).yield : kernel_parts(g, id).final)
        if (!ends_iteration(id, s) && last_[s] == id) captured_[s] = true;
    for (Id s : g.src(id)) {
      if (ends_iteration(id, s) || regions.of[id] == regions.of[s]) continue;
      const Id user = regions.lifted(id, regions.of[s]);
      const bool enters = g.op(id) == Op::CARRY && g.range_of(id) == scope_ranges(g, user).front();
      if (user == last_[s] && !enters) captured_[s] = true;
    }
  }
}

}  // namespace kiln::compiler
