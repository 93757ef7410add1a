// Finds the last use of each array, so that steps may free it or change it in place.
#pragma once

#include <span>
#include <vector>

#include "compiler/ir/regions.h"

namespace kiln::compiler {

class LastUses {
 public:
  LastUses(const Graph& g, std::span<const Id> reached, const Regions& regions);

  // The last node in the region of s that uses s; no_id: there is none, or the end of the region's iteration uses s.
  Id last_user(Id s) const { return ends_iteration_[s] ? no_id : last_[s]; }
  // Whether `user`, a node of any region, may reuse the array of s: no later node and no node inside needs s.
  bool takes(Id s, Id user) const { return last_user(s) == user && !captured_[s]; }

 private:
  std::vector<Id> last_;
  std::vector<bool> captured_;        // s is used inside the scope that is its last user, not only as an initial value
  std::vector<bool> ends_iteration_;  // s is a yield or final state of its scope
};

}  // namespace kiln::compiler
