#include "compiler/races/accesses.h"

#include <algorithm>

#include "compiler/ir/scopes.h"

namespace kiln::compiler {

PositionAccesses::PositionAccesses(const Graph& g, const Regions& regions, const std::vector<Id>& origins, Id scope)
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
                     g.op(id) == Op::CARRY ||  // the turn before may have read anything
                     std::ranges::any_of(src, [&](Id s) { return uncertain_[s]; });
  }
  for (const Id id : nodes_) {
    if (!is_write(g.op(id)) || !is_changed(id)) continue;
    const WriteParts w = write_parts(g, id);
    PositionAccess a{.node = id,
                     .kind = g.op(id) == Op::ATOMIC ? PositionAccess::Kind::atomic : PositionAccess::Kind::store,
                     .memory = origins_[id],
                     .index = {w.index.begin(), w.index.end()},
                     .gates = {}};
    add_gates(a, w.gate, false);
    add_loop_gates(a, id, false);
    list_.push_back(std::move(a));
  }
  add_reads();
}

// Arrays that are made inside are each position's own.
void PositionAccesses::find_changed() {
  for (const Id id : nodes_)
    if (const Id memory = origins_[id]; is_write(g_.op(id)) && (g_.op(memory) == Op::CARRY || !is_inside(memory)))
      changed_.insert(memory);
}

// only_certain: without what depends on the scope's own changes.
void PositionAccesses::add_gates(PositionAccess& a, Id gate, bool only_certain) const {
  std::vector<std::pair<Id, bool>> open{{gate, true}};
  while (!open.empty()) {
    const auto [id, holds] = open.back();
    open.pop_back();
    const Op op = g_.op(id);
    if (op == Op::NOT) {
      open.emplace_back(g_.src(id, 0), !holds);
    } else if (op == (holds ? Op::AND : Op::OR)) {
      open.emplace_back(g_.src(id, 0), holds);
      open.emplace_back(g_.src(id, 1), holds);
    } else if (!only_certain || !uncertain_[id]) {
      a.gates.emplace_back(id, holds);
    }
  }
}

// What is inside of a loop happens where the loop has a turn.
void PositionAccesses::add_loop_gates(PositionAccess& a, Id node, bool only_certain) const {
  for (Id loop = regions_.list[regions_.of[node]].owner; is_inside(loop); loop = regions_.list[regions_.of[loop]].owner)
    if (const LoopParts l = loop_parts(g_, loop); l.conditional) add_gates(a, l.init[0], only_certain);
}

void PositionAccesses::add_reads() {
  std::unordered_map<Id, std::vector<Id>> users;  // of the scope
  for (const Id id : nodes_)
    for (const Id s : g_.src(id)) users[s].push_back(id);
  for (const Id id : nodes_)
    if (g_.op(id) == Op::INDEX && is_changed(g_.src(id, 0))) add_read(id, users);
}

void PositionAccesses::add_read(Id read, const std::unordered_map<Id, std::vector<Id>>& users) {
  const IndexGate first = index_gate(g_, read);
  PositionAccess a{
      .node = read, .kind = PositionAccess::Kind::read, .memory = origins_[g_.src(read, 0)], .index = {}, .gates = {}};
  a.index.assign(g_.src(read).begin() + 1, g_.src(read).end());
  if (first.gate != no_id) {
    a.index[0] = first.first;
    add_gates(a, first.gate, false);
  }
  add_loop_gates(a, read, false);
  std::set<Id> reached{read}, writes;
  std::vector<Id> open{read};
  while (!open.empty()) {
    const auto used = users.find(open.back());
    open.pop_back();
    if (used == users.end()) continue;
    for (const Id id : used->second) {
      if (g_.op(id) == Op::FOR) {  // may decide anything
        list_.push_back(std::move(a));
        return;
      }
      if (is_write(g_.op(id)))
        writes.insert(id);
      else if (reached.insert(id).second)
        open.push_back(id);
    }
  }
  for (const Id id : writes) {
    list_.push_back(a);
    add_gates(list_.back(), write_parts(g_, id).gate, true);
    add_loop_gates(list_.back(), id, true);
  }
}

}  // namespace kiln::compiler
