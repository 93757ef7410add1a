// loop_nest: stores over LOOP ranges and a plan -> nested FORs.
//
// before: STOREs over ranges. after: FOR around FOR ... around the expanded stores. A range with step s becomes a main loop in
// turns of s and, unless the extent is known to be a multiple of s, a loop for what is left; lanes leave out the borders of
// padding and clamping (interior.h), and in the interior go over the pixels and channels of a row as one contiguous range where
// all accesses do. The outermost loop runs from
// SYM("$begin") to SYM("$end"), a chunk that the runtime chooses.
// postcondition: every loop has a RANGE of its own.
#pragma once

#include <span>

#include "compiler/lower/optimise.h"
#include "compiler/lower/rewrite.h"
#include "compiler/symbolic/facts.h"

namespace kiln::compiler {

// Whether the borders of padding and clamping are split off.
enum class Borders : std::uint8_t { split, stay };

// The effects of the kernel: one or two FORs.
std::vector<Id> loop_nest(Graph& g, LoopIds& loops, std::span<const Id> stores, std::span<const LoopPlan> plan,
                          const Facts& facts, Borders borders = Borders::split);

// The same for stores inside another loop: the outermost range runs from 0 to its end.
std::vector<Id> inner_nest(Graph& g, LoopIds& loops, std::span<const Id> stores, std::span<const LoopPlan> plan,
                           const Facts& facts);

}  // namespace kiln::compiler
