#include "compiler/races/work_items.h"

#include <algorithm>
#include <map>
#include <string>

#include "compiler/ir/scopes.h"
#include "compiler/symbolic/linear.h"

namespace kiln::compiler {

Facts facts_where(Graph& g, const Program& p, const WorkItems& work_items) {
  Facts facts = facts_of(p);
  std::vector<Id> ranges = work_items.ranges;
  const auto own = scope_ranges(g, work_items.kernel);
  ranges.insert(ranges.end(), own.begin(), own.end());
  for (const Id r : ranges) {
    Id end = g.end(r);
    if (g.op(end) == Op::MAX)
      if (const auto [n, zero] = g.operands<2>(end); g.is_index_const(zero, 0)) end = n;
    const auto sum = symbolic::sum_of(g, end);
    if (!sum || sum->empty() || sum->size() > 2) continue;
    const Monomial& t = sum->front();
    const std::int64_t c = constant_term(*sum);
    const bool is_shifted = sum->size() == 2 && c != 0 && t.atoms.size() == 1 && t.coefficient == 1;
    if (t.coefficient < 1 || (sum->size() == 2 && !is_shifted) ||
        std::ranges::any_of(t.atoms, [&](Id a) { return g.op(a) != Op::SYM || facts.of(g.name(a)).min < 0; }))
      continue;
    for (const Id a : t.atoms) {
      SymFact f = facts.of(g.name(a));
      f.min = std::max<std::int64_t>(f.min, is_shifted ? 1 - c : 1);
      facts.syms[std::string(g.name(a))] = f;
    }
  }
  for (const Parameter& x : p.params) {
    Id size = g.index(1);
    for (const Id e : x.extents) size = g.make(Op::MUL, DType::index, {size, e});
    const auto sum = symbolic::sum_of(g, size);
    if (sum && std::ranges::any_of(*sum, [](const Monomial& t) { return t.atoms.size() > 1; }))
      facts.nonnegative.push_back(g.make(Op::SUB, DType::index, {g.index(std::int64_t{1} << 61), size}));
  }
  return facts;
}

std::vector<WorkItems> barrier_intervals(const Graph& g, const Regions& regions, const std::vector<Id>& order) {
  std::map<Id, std::vector<Id>> inner;  // by FOR or KERNEL: the FORs over work items in it
  for (const Id id : order)
    if (is_workgroup_loop(g, id)) inner[regions.list[regions.of[id]].owner].push_back(id);
  const auto is_next_axis = [&](Id loop) {
    const Id around = regions.list[regions.of[loop]].owner;
    return around != no_id && is_workgroup_loop(g, around) && inner.at(around).size() == 1;
  };
  std::vector<WorkItems> out;
  for (const Id id : order) {
    if (!is_workgroup_loop(g, id) || !regions.list[regions.of[id]].in_kernel || is_next_axis(id)) continue;
    WorkItems p{regions.list[regions.of[id]].owner, id, {}};
    while (g.op(p.kernel) != Op::KERNEL) p.kernel = regions.list[regions.of[p.kernel]].owner;
    for (Id axis = id;; axis = inner.at(axis)[0]) {
      p.ranges.push_back(g.range_of(axis));
      if (!inner.contains(axis) || inner.at(axis).size() != 1) break;
    }
    out.push_back(std::move(p));
  }
  return out;
}

}  // namespace kiln::compiler
