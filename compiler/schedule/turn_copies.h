// Which copies a loop outside of kernels can do without, because the buffers may change roles from turn to turn instead.
//
// Without a copy `d := s`, what d holds lies in s from there on: later kernels of the turn read s, and none may write d or s.
// When the turn ends, the place of each buffer whose contents are still needed has to be a place of its own; buffers that hold
// nothing then get the places that are left.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/ir/program.h"

namespace kiln::compiler {

struct Cycle {
  std::vector<int> buffers;  // each has the next one's place in the next turn, the last one the first one's
  // By number of turns modulo the length, from 1 on: copies {to, from} that bring what is needed behind the loop back, in
  // order.
  std::vector<std::vector<std::pair<int, int>>> back;
};

struct RoleChange {
  std::vector<Cycle> cycles;
  std::map<std::size_t, std::vector<Id>> dropped;  // by kernel: ENDs
  // By kernel of the loop: the buffers that hold what others were copied to.
  std::map<std::size_t, std::map<int, int>> renamed;
};

// kernels: those in the loop, first to last. fixed: buffers that may not change. nullopt: no copy can be spared.
std::optional<RoleChange> find_role_change(Graph& g, const Schedule& s, int loop, const std::set<int>& fixed);

// Whether a loop is another one or inside it.
bool is_in(const Schedule& s, int loop, int outer);

// Its kernel without these ENDs.
Kernel without(Graph& g, const Kernel& k, const std::vector<Id>& ends);

}  // namespace kiln::compiler
