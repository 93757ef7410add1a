// ScalarLoops: finds the loops outside of kernels that work on single elements only. Such a loop is fastest in one thread,
// as a kernel with one work item.
#pragma once

#include <vector>

#include "compiler/ir/regions.h"
#include "compiler/ir/shapes.h"

namespace kiln::compiler {

// Tensors of at most max_small_elements elements count as scalars.
class ScalarLoops {
 public:
  ScalarLoops(Graph& g, std::span<const Id> order, const Regions& regions);

  bool is_scalar(Id loop) const { return scalar_[regions_.owned[loop]]; }
  // Whether this slot carries a tensor that the loop writes or reads element by element.
  bool is_memory(Id loop, std::size_t slot) const { return memory_[loop][slot]; }

 private:
  bool is_large(Id id);
  void find_written(std::span<const Id> order);
  bool slots(Id loop);
  bool keeps_memory(Id loop, Id next, std::size_t slot) const;
  bool hands_on(Id loop);
  bool is_state(Id id) const;
  bool is_memory(Id id) const;
  bool fits(Id id);
  bool uses(Id id);
  bool enters(Id loop);
  bool take(Id state, Id writer);
  bool read(Id state, Id reader) const;

  const Graph& g_;
  const Regions& regions_;
  Shapes shapes_;
  std::vector<bool> scalar_;               // by region: whether its loop is scalar
  std::vector<bool> written_;              // by state: whether a write uses it, directly or through a loop
  std::vector<std::vector<bool>> memory_;  // by loop and slot: is_memory(loop, slot)
  std::vector<Id> loop_of_;                // by RANGE: its FOR
  std::vector<Id> origins_;                // by node: see state_origins()
  std::vector<bool> taken_;                // by state: whether its writer is known
};

}  // namespace kiln::compiler
