// Estimates the cost of a kernel's iterations for different choices: which range becomes lanes, and whether the short inner
// ranges (unrollable_loops.h) are written out.
//
// The unit is an operation on one register. A cost covers all short iterations for one iteration of each other range.
// Requires: reductions lowered.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/target/target.h"

namespace kiln::compiler {

class LaneCost {
 public:
  // ranges: outermost first. The ranges from `first_short` on are short; there is at least one.
  LaneCost(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges, std::size_t first_short,
           const Target& target);

  double lanes_of_last(bool masked) const;  // lanes of the last range. masked: of its last vector, some lanes are inactive
  double lanes_of_outer() const;            // lanes of the range around the short ranges; short ranges written out
  double lanes_of_outer_alone() const;      // the same; short ranges stay loops, around the others
  double loops() const;                     // no lanes; short ranges stay loops
  double loops_around() const;              // no lanes; short ranges stay loops, around the others
  double written_out() const;               // no lanes; short ranges written out

  int operations() const;  // operations in the code of the short iterations, written out
  int registers() const;   // registers for values that inner loops carry, short iterations written out

 private:
  struct Node {
    double cost = 0;               // cost of one evaluation
    double copies = 0;             // evaluations in the code of the short iterations, written out
    double iterations = 1;         // iterations of the inner loops that the node depends on
    double outer_lanes = 0;        // the part of `cost` for one lane, if the outer range becomes lanes
    double outer_lanes_alone = 0;  // the same, if short ranges stay loops around it
    std::uint64_t ranges = 0;      // ranges that the node depends on: bit i is short range i
    bool is_operation = false;
    bool is_load = false;
  };
  struct Carried {
    int registers = 0;
    std::uint64_t ranges = 0;
  };
  double copies(std::uint64_t ranges) const;
  void count_copies(const Graph& g, std::span<const Id> stores, std::span<const Id> short_ranges);

  std::vector<std::int64_t> extents_;  // extents of the short ranges
  std::vector<Node> nodes_;
  std::vector<Carried> carried_;
  double lanes_ = 1;          // lanes of one register
  double rows_of_block_ = 1;  // iterations of the outer range that share loads in inner loops, if the last range becomes lanes
};

}  // namespace kiln::compiler
