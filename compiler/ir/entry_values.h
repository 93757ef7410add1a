// Buffers with values on entry.
#pragma once

#include <algorithm>
#include <vector>

#include "compiler/ir/nth.h"
#include "compiler/ir/schedule.h"

namespace kiln::compiler {

// Whether the buffer is a parameter whose value on entry the program may read.
inline bool is_entry_value(const Schedule& schedule, int buffer) {
  const int param = nth(schedule.buffers, buffer).param;
  return param >= 0 && nth(schedule.program.params, param).direction != Direction::out;
}

// By slot: whether the kernel reads the buffer's value on entry. An iteration loads such elements before it stores any.
inline std::vector<bool> entry_slots(const Schedule& schedule, const Kernel& kernel) {
  std::vector<bool> out;
  for (const int b : kernel.buffers) {
    if (kernel.at_entry) {
      out.push_back(std::ranges::find(*kernel.at_entry, b) != kernel.at_entry->end());
      continue;
    }
    const int param = nth(schedule.buffers, b).param;
    out.push_back(param >= 0 && nth(schedule.program.params, param).direction == Direction::inout);
  }
  return out;
}

}  // namespace kiln::compiler
