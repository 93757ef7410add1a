// Finds the programs and the extents for which the arithmetic of the fast path (entry.h) cannot overflow.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/schedule.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

// Largest absolute value of a stride that the fast path accepts.
inline constexpr std::int64_t fast_stride = std::int64_t{1} << 22;

// The symbols that are extents, without strides.
std::vector<Symbol> extents_of(const Program& p);

// The facts for which no expression of the fast path overflows. nullopt: the program has no fast path.
std::optional<Facts> fast_path_facts(const Graph& g, const Schedule& schedule, std::span<const LoweredKernel> lowered);

// Kernels that follow each other and run in no call in which `condition` is 0, as the versions of a program for some extents.
// no_id: any call may run them. The value of a condition is 0 or 1.
struct KernelGroup {
  Id condition = no_id;
  std::size_t end = 0;  // behind the last kernel
};
KernelGroup kernel_group(const Graph& g, const Facts& facts, std::span<const LoweredKernel> lowered, std::size_t first);

}  // namespace kiln::compiler
