// WorkItemAccesses: lists the reads, stores and atomics that the work items of a KERNEL, or of a workgroup between two
// barriers, make on memory that they share.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/regions.h"

namespace kiln::compiler {

struct WorkItemAccess {
  enum class Kind : std::uint8_t { read, store, atomic };
  Id node = no_id;  // INDEX, UPDATE or ATOMIC
  Kind kind = Kind::read;
  Id memory = no_id;                       // the shared memory: a CARRY of the KERNEL, or a LOCAL
  std::vector<Id> index;                   // one per axis of the memory
  std::vector<std::pair<Id, bool>> gates;  // conditions, each with the value that it has where the access happens
};

class WorkItemAccesses {
 public:
  // scope: the KERNEL, or the FOR over a workgroup's work items.
  WorkItemAccesses(const Graph& g, const Regions& regions, const std::vector<Id>& origins, Id scope);

  // All writes to shared memory, then the reads of memory that the scope writes. A read is listed once for each write that
  // depends on it, with that write's gates (writes in one region with one gate count as one). A read on which no write depends
  // cannot change a result, so it is left out.
  const std::vector<WorkItemAccess>& list() const { return list_; }
  bool is_inside(Id id) const { return regions_.of[id] < inside_.size() && inside_[regions_.of[id]]; }

 private:
  void add_reads();
  class Decided;
  void add_read(Id read, const Decided& decided);
  void add_loop_gates(WorkItemAccess& a, Id node, bool only_certain) const;
  void add_gates(WorkItemAccess& a, Id gate, bool only_certain) const;
  void find_changed();
  bool is_changed(Id state) const { return changed_.contains(origins_[state]); }

  const Graph& g_;
  const Regions& regions_;
  const std::vector<Id>& origins_;
  std::vector<bool> inside_;     // by region: whether it is part of the scope
  std::vector<Id> nodes_;        // nodes of the scope, ascending
  std::vector<bool> uncertain_;  // by node: whether it depends on memory that the scope changes
  std::set<Id> changed_;         // shared memory that the scope changes
  std::vector<WorkItemAccess> list_;
};

}  // namespace kiln::compiler
