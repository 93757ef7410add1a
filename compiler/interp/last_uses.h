// When arrays are used for the last time, so that steps may change them in place or free them.
#pragma once

#include <span>
#include <vector>

#include "compiler/ir/regions.h"

namespace kiln::compiler {

class LastUses {
 public:
  LastUses(const Graph& g, std::span<const Id> reached, const Regions& regions);

  // The node of its region that uses s last; no_id when nothing does, or when the end of the region's turn does.
  Id last_user(Id s) const { return ends_turn_[s] ? no_id : last_[s]; }
  // May `user`, a node of any region, take s over? Nothing in or after `user` needs s then, but for what `user` makes of it.
  bool takes(Id s, Id user) const { return last_user(s) == user && !captured_[s]; }

 private:
  std::vector<Id> last_;
  std::vector<bool> captured_;   // used inside the scope that is the last user, not only as an initial value
  std::vector<bool> ends_turn_;  // what a scope takes from the end of a turn
};

}  // namespace kiln::compiler
