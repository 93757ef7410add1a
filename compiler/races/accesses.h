// What the positions of a KERNEL, or those of one group between two barriers, do to the memory that they share.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/regions.h"

namespace kiln::compiler {

struct PositionAccess {
  enum class Kind : std::uint8_t { read, store, atomic };
  Id node = no_id;  // INDEX, UPDATE, ATOMIC
  Kind kind = Kind::read;
  Id memory = no_id;                       // CARRY of the KERNEL, or LOCAL
  std::vector<Id> index;                   // one for each axis
  std::vector<std::pair<Id, bool>> gates;  // what holds, or does not, where it happens
};

class PositionAccesses {
 public:
  // scope: the KERNEL, or the FOR over a group's positions.
  PositionAccesses(const Graph& g, const Regions& regions, const std::vector<Id>& origins, Id scope);

  // Reads count once for each write that they decide, where that write happens: what is read in vain does no harm.
  const std::vector<PositionAccess>& list() const { return list_; }
  bool is_inside(Id id) const { return regions_.of[id] < inside_.size() && inside_[regions_.of[id]]; }

 private:
  void add_reads();
  class Decided;
  void add_read(Id read, const Decided& decided);
  void add_loop_gates(PositionAccess& a, Id node, bool only_certain) const;
  void add_gates(PositionAccess& a, Id gate, bool only_certain) const;
  void find_changed();
  bool is_changed(Id state) const { return changed_.contains(origins_[state]); }

  const Graph& g_;
  const Regions& regions_;
  const std::vector<Id>& origins_;
  std::vector<bool> inside_;     // by region
  std::vector<Id> nodes_;        // of the scope, ascending
  std::vector<bool> uncertain_;  // by node: depends on what the scope changes
  std::set<Id> changed_;         // memories
  std::vector<PositionAccess> list_;
};

}  // namespace kiln::compiler
