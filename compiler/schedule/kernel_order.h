// KernelOrder: the order of the roots of a program of ranges, the nodes that become kernels, for storage.h.
//
// A root is a STAGE, a KERNEL, or a group of ENDs with the same ranges. An END that stores a KERNEL's result is a root of its
// own. A root comes after the roots whose results it reads, and after the roots that read_before() puts before it.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// Whether an END stores the elements of a KERNEL's result, unchanged.
bool hands_on_state(const Graph& g, Id end);

class KernelOrder {
 public:
  KernelOrder(const Graph& g, Id sink);

  // Orders all readers of the tensor, except `except`, before the root. False, without a change: a reader needs the root's
  // result.
  bool read_before(Id tensor, Id except, Id root);

 private:
  void add_root(Id id);
  void find_reads(Id id);
  bool reaches_one_of(std::size_t from, const std::vector<std::size_t>& roots) const;

  const Graph& g_;
  std::unordered_map<Id, std::size_t> root_of_;
  std::vector<std::vector<std::size_t>> next_;       // by root: the roots after it
  std::unordered_map<Id, std::vector<Id>> readers_;  // by tensor: STAGEs, KERNELs and ENDs
};

}  // namespace kiln::compiler
