// Loops outside of kernels that work on single elements only: one thread runs them fastest, in a kernel of one position.
#pragma once

#include <vector>

#include "compiler/ir/regions.h"
#include "compiler/ir/shapes.h"

namespace kiln::compiler {

// Tensors of a few elements count as scalars.
class ScalarLoops {
 public:
  ScalarLoops(Graph& g, std::span<const Id> order, const Regions& regions);

  bool is_scalar(Id loop) const { return scalar_[regions_.owned[loop]]; }
  // Is the carried value of this slot memory that the loop writes or reads by element?
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
  std::vector<bool> scalar_;               // by region
  std::vector<bool> written_;              // states that a write takes, directly or through a loop
  std::vector<std::vector<bool>> memory_;  // by loop: slots
  std::vector<Id> loop_of_;                // by RANGE
  std::vector<Id> origins_;
  std::vector<bool> taken_;  // states, by a writer
};

}  // namespace kiln::compiler
