// Copies of tensors that the windows of several kernels read (pack_windows). Where a kernel needs a part of what another one
// needs, both read one copy, as the phases of the derivative of a convolution with steps: their windows have different lengths,
// so they reach over the border by different widths.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/schedule.h"
#include "compiler/schedule/window_operand.h"

namespace kiln::compiler {

// A copy that a kernel needs.
struct WindowCopy {
  int segment = 0;
  std::vector<int> buffers;  // of the kernel
  WindowOperand operand;
  std::vector<int> layout;  // equal for copies with the same axes in the same order
  int made = -1;            // index into Schedule::buffers, once a kernel has made the copy
};

class WindowCopies {
 public:
  WindowCopies(Graph& g, Simplifier& simplify) : g_(g), simplify_(simplify) {}

  void add(WindowCopy c) { copies_.push_back(std::move(c)); }

  // The largest copy, not much larger than the one that is needed, whose elements at the needed places are the needed ones.
  // `needed` then has its operand over new ranges, and the places of its axes. nullptr: no kernel needs such a copy.
  WindowCopy* find(WindowCopy& needed, RangeIds& ids);

 private:
  // The operand of `from` in the kernel of `to`, at these indices in place of the axes' ranges; no_id: the copies differ in
  // more than their axes.
  Id value_in(const WindowCopy& from, const WindowCopy& to, std::span<const Id> axes);
  // By axis: the place in the larger copy at which the needed one begins. nullopt: it does not contain the needed one.
  std::optional<std::vector<std::int64_t>> places_in(const WindowCopy& larger, const WindowCopy& needed);

  Graph& g_;
  Simplifier& simplify_;
  std::vector<WindowCopy> copies_;
};

}  // namespace kiln::compiler
