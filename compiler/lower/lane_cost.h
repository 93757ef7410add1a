// What the iterations of a kernel cost when one of its ranges becomes lanes, or its short inner ranges are written out.
//
// precondition: reductions lowered. Costs are in operations of one register, for all short iterations at one position of the
// other ranges.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/lower/target.h"

namespace kiln::compiler {

class LaneCost {
 public:
  // ranges: outermost first. Those from `first_short`, at least one, have few iterations (short_loops.h).
  LaneCost(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges, std::size_t first_short,
           const Target& target);

  double lanes_of_last() const;   // the last range becomes lanes
  double lanes_of_outer() const;  // the range outside of the short ones does; these are written out
  double loops() const;           // no lanes, one short iteration after the other
  double loops_around() const;    // the same, short ones outside of the others
  double written_out() const;     // no lanes, short ones written out

  int operations() const;  // of the short iterations written out, without the turns of inner loops
  int registers() const;   // of values that the loops inside carry, short iterations written out

 private:
  struct Node {
    double cost = 0;           // of one evaluation
    double turns = 1;          // of the loops inside the kernel's ranges
    double outer_lanes = 0;    // the share of it for one lane of the outer range
    std::uint64_t ranges = 0;  // that it depends on: bit i for the short range i
    bool is_operation = false;
  };
  struct Carried {
    int registers = 0;
    std::uint64_t ranges = 0;
  };
  double copies(std::uint64_t ranges) const;

  std::vector<std::int64_t> extents_;  // of the short ranges
  std::vector<Node> nodes_;
  std::vector<Carried> carried_;
  double lanes_ = 1;  // of one register
};

}  // namespace kiln::compiler
