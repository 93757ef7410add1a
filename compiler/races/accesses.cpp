#include "compiler/races/accesses.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "compiler/ir/scopes.h"

namespace kiln::compiler {

WorkItemAccesses::WorkItemAccesses(const Graph& g, const Regions& regions, const std::vector<Id>& origins, Id scope)
    : g_(g), regions_(regions), origins_(origins), inside_(regions.list.size(), false) {
  inside_[regions.owned[scope]] = true;
  for (std::size_t r = regions.list.size(); r-- > 1;)  // inner regions come before outer ones
    if (inside_[regions.list[r].parent]) inside_[r] = true;
  for (std::size_t r = 0; r < inside_.size(); ++r)
    if (inside_[r]) nodes_.insert(nodes_.end(), regions.list[r].nodes.begin(), regions.list[r].nodes.end());
  std::ranges::sort(nodes_);
  find_changed();
  uncertain_.assign(g.size(), false);
  for (const Id id : nodes_) {
    const auto src = g.src(id);
    uncertain_[id] = (g.op(id) == Op::INDEX && is_changed(src[0])) || g.op(id) == Op::OLD ||
                     g.op(id) == Op::CARRY ||  // the iteration before may have read anything
                     std::ranges::any_of(src, [&](Id s) { return uncertain_[s]; });
  }
  for (const Id id : nodes_) {
    if (!is_write(g.op(id)) || !is_changed(id)) continue;
    const WriteParts w = write_parts(g, id);
    WorkItemAccess a{.node = id,
                     .kind = g.op(id) == Op::ATOMIC ? WorkItemAccess::Kind::atomic : WorkItemAccess::Kind::store,
                     .memory = origins_[id],
                     .index = {w.index.begin(), w.index.end()},
                     .gates = {}};
    add_gates(a, w.gate, false);
    add_loop_gates(a, id, false);
    list_.push_back(std::move(a));
  }
  add_reads();
}

// A LOCAL array inside the scope belongs to one work item, so it is not shared.
void WorkItemAccesses::find_changed() {
  for (const Id id : nodes_)
    if (const Id memory = origins_[id]; is_write(g_.op(id)) && (g_.op(memory) == Op::CARRY || !is_inside(memory)))
      changed_.insert(memory);
}

// only_certain: leaves out gates that depend on memory that the scope changes.
void WorkItemAccesses::add_gates(WorkItemAccess& a, Id gate, bool only_certain) const {
  std::vector<std::pair<Id, bool>> open{{gate, true}};
  while (!open.empty()) {
    const auto [id, holds] = open.back();
    open.pop_back();
    const Op op = g_.op(id);
    if (op == Op::NOT) {
      open.emplace_back(g_.operand(id), !holds);
    } else if (op == (holds ? Op::AND : Op::OR)) {
      const auto [left, right] = g_.operands<2>(id);
      open.emplace_back(left, holds);
      open.emplace_back(right, holds);
    } else if (!only_certain || !uncertain_[id]) {
      a.gates.emplace_back(id, holds);
    }
  }
}

// An access inside a conditional loop happens only if the loop has an iteration, so its condition holds at entry.
void WorkItemAccesses::add_loop_gates(WorkItemAccess& a, Id node, bool only_certain) const {
  for (Id loop = regions_.list[regions_.of[node]].owner; is_inside(loop); loop = regions_.list[regions_.of[loop]].owner)
    if (const LoopParts l = loop_parts(g_, loop); l.conditional) add_gates(a, l.init[0], only_certain);
}

// By node: the set of writes that depend on it. One write stands for all writes in one region with the same gate. Equal sets
// are stored once, because neighbouring nodes mostly have the same set.
class WorkItemAccesses::Decided {
 public:
  explicit Decided(const WorkItemAccesses& a) : sets_{{}, {}} {
    numbers_.emplace(sets_[0], 0);
    std::unordered_map<Id, std::vector<std::uint32_t>> of_users;
    std::map<std::pair<Id, std::uint32_t>, Id> alike;  // by gate and region: the first write
    for (const Id id : a.nodes_)
      if (is_write(a.g_.op(id))) alike.try_emplace({write_parts(a.g_, id).gate, a.regions_.of[id]}, id);
    for (std::size_t i = a.nodes_.size(); i-- > 0;) {  // users have larger ids than their sources
      const Id id = a.nodes_[i];
      const Op op = a.g_.op(id);
      if (is_write(op))
        of_[id] = number({alike.at({write_parts(a.g_, id).gate, a.regions_.of[id]})});
      else
        of_[id] = op == Op::FOR ? anything : united(of_users[id]);
      for (const Id s : a.g_.src(id))
        if (std::vector<std::uint32_t>& sets = of_users[s]; sets.empty() || sets.back() != of_[id]) sets.push_back(of_[id]);
    }
  }

  bool decides_anything(Id read) const { return of_.at(read) == anything; }
  const std::vector<Id>& operator()(Id read) const { return sets_[of_.at(read)]; }

 private:
  static constexpr std::uint32_t anything = 1;  // number of the set of a node that a loop uses: any write may depend on it
  std::uint32_t number(std::vector<Id> set) {
    const auto [at, is_new] = numbers_.emplace(std::move(set), static_cast<std::uint32_t>(sets_.size()));
    if (is_new) sets_.push_back(at->first);
    return at->second;
  }
  std::uint32_t united(std::vector<std::uint32_t>& sets) {
    std::ranges::sort(sets);
    sets.erase(std::ranges::unique(sets).begin(), sets.end());
    if (std::ranges::find(sets, anything) != sets.end()) return anything;
    if (sets.size() < 2) return sets.empty() ? 0 : sets[0];
    std::vector<Id> all;
    for (const std::uint32_t set : sets) all.insert(all.end(), sets_[set].begin(), sets_[set].end());
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    return number(std::move(all));
  }

  std::vector<std::vector<Id>> sets_;
  std::map<std::vector<Id>, std::uint32_t> numbers_;
  std::unordered_map<Id, std::uint32_t> of_;
};

void WorkItemAccesses::add_reads() {
  const Decided decided(*this);
  for (const Id id : nodes_)
    if (g_.op(id) == Op::INDEX && is_changed(g_.data(id))) add_read(id, decided);
}

void WorkItemAccesses::add_read(Id read, const Decided& decided) {
  const IndexGate first = index_gate(g_, read);
  WorkItemAccess a{
      .node = read, .kind = WorkItemAccess::Kind::read, .memory = origins_[g_.data(read)], .index = {}, .gates = {}};
  a.index = g_.sources(read, 1);
  if (first.gate != no_id) {
    a.index[0] = first.first;
    add_gates(a, first.gate, false);
  }
  add_loop_gates(a, read, false);
  if (decided.decides_anything(read)) {
    list_.push_back(std::move(a));
    return;
  }
  for (const Id id : decided(read)) {
    list_.push_back(a);
    add_gates(list_.back(), write_parts(g_, id).gate, true);
    add_loop_gates(list_.back(), id, true);
  }
}

}  // namespace kiln::compiler
