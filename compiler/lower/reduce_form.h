// ReduceForm: decides for reduce_lowering which loops a reduction becomes. It makes no nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/lower/reduction.h"
#include "compiler/lower/striped_reduce.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

// The ranges of a tile step, outermost first; none if it has other loops.
std::vector<Id> loops_around(const Graph& g, Id sink);

class ReduceForm {
 public:
  // kernel: the loops of the kernel, outermost first. tile: the one over tiles, which never becomes lanes; no_id: none.
  ReduceForm(Graph& g, const Facts& facts, std::vector<Id> kernel, Id tile);

  // Whether 32 accumulators share the elements (striped_reduce.h).
  bool is_striped(const Reduction& r) const;
  Stripes stripes_of(const Reduction& r) const;
  // Up to so many elements of a symbolic extent are written out.
  int most_apart(const Reduction& r, Stripes stripes) const;

  // Whether the reduction is written out. A matrix product keeps its loop, because tiles share its loads, unless the kernel has
  // short ranges, which are written out anyway. The windows of one channel share loads only if they are written out.
  bool is_written_out(const Reduction& r) const;
  bool is_small(const Reduction& r) const;
  bool is_light(const Reduction& r) const;

  // Whether the products are of values that fit i16, and loads of them are contiguous.
  bool fit_pairs(const Reduction& r) const;

  // Whether this is a maximum of magnitudes of floats.
  bool is_of_magnitudes(const Reduction& r) const;

  // Whether argmax or argmin search the element in a second pass: lanes twice are faster than one element after the other.
  bool finds_in_lanes(const Reduction& r) const;

  // Whether the innermost loop of the kernel is better as lanes than the range of this reduction: the elements of a column of a
  // matrix are far apart, and neighbouring columns are contiguous.
  bool loop_has_lanes(const Reduction& r) const;

  bool is_in_loop() const { return innermost_ != no_id; }

 private:
  // Whether this is a short sum of products over constant ranges, and vectors along the innermost loop differ in all loops.
  bool is_window(const Reduction& r) const;

  // Whether a matrix product is better as a dot product for each element: its operands are contiguous in its range, but not in
  // the innermost loop of the kernel.
  bool is_far_over_lanes(const Reduction& r) const;

  // Whether code for short rows pays: single elements are faster than masked vectors and their tree if they take few
  // operations.
  bool has_short_rows(const Reduction& r, Stripes stripes) const;

  // Whether some loop of the kernel, or a reduction around this one, repeats the loads that lanes of the innermost loop make.
  bool walks_again(const Reduction& r) const;

  std::int64_t registers_of(Id id) const;
  std::int64_t operations_of(const Reduction& r) const;  // on registers

  Graph& g_;
  const Facts& facts_;
  const std::vector<Id> kernel_;
  const bool in_unrollable_loops_;
  const Id innermost_;
  const std::int64_t most_small_;  // elements of a reduction that is written out
};

}  // namespace kiln::compiler
