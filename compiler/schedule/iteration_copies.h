// Finds the copies that a host loop does not need if its buffers rotate from iteration to iteration.
//
// If a copy `d = s` is dropped, the value of d is in s from there on: later kernels of the iteration read s, and no kernel may
// store to d or s. At the end of the iteration, no two values that are still needed may be in one buffer. A buffer whose value
// is dead moves to one of the buffers that are left.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/ir/schedule.h"

namespace kiln::compiler {

struct Cycle {
  // The value of buffers[i] is in buffers[i + 1] in the next iteration, and the value of the last buffer in the first one.
  std::vector<int> buffers;
  // back[k - 1]: the copies {to, from}, in order, that bring values back that are needed after the loop, if the number of
  // iterations is k modulo the cycle's length.
  std::vector<std::vector<std::pair<int, int>>> back;
};

struct Rotation {
  std::vector<Cycle> cycles;
  std::map<std::size_t, std::vector<Id>> dropped;  // by kernel: the ENDs that are dropped copies
  // By kernel of the loop: buffer d -> buffer s, for each dropped copy `d = s` before it.
  std::map<std::size_t, std::map<int, int>> renamed;
};

// fixed: buffers that must not rotate. nullopt: no copy can be dropped.
std::optional<Rotation> find_rotation(Graph& g, const Schedule& s, int loop, const std::set<int>& fixed);

// Whether `loop` is `outer` or inside it.
bool is_in(const Schedule& s, int loop, int outer);

// The kernel without these ENDs.
Kernel without(Graph& g, const Kernel& k, const std::vector<Id>& ends);

}  // namespace kiln::compiler
