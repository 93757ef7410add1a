// HostTimes: assigns nodes outside of kernels to segments.
//
// A region (the program, or one iteration of a host loop) is a sequence of segments and boundaries. The loops of boundary n run
// between segments n and n + 1. A value belongs to the first segment in which its operands are available. A loop's results are
// available in the segment after its boundary. An integer from data that a kernel's extent needs must be computed in an earlier
// segment.
//
// Index arithmetic belongs to no segment: a node with an index operand uses the data in that operand.
#pragma once

#include <unordered_map>
#include <vector>

#include "compiler/ir/regions.h"

namespace kiln::compiler {

struct TensorUse {
  Id node;  // the node that uses the value
  Id user;  // `node`, or the KERNEL or FOR around `node` in the value's region
};

class HostTimes {
 public:
  static constexpr std::uint32_t never = UINT32_MAX;

  HostTimes(const Graph& g, Id sink);

  const Regions& regions() const { return regions_; }
  std::uint32_t region(Id n) const { return regions_.of[n]; }
  bool is_host(Id n) const { return !regions_.list[region(n)].in_kernel; }
  bool is_host_loop(Id n) const { return g_.op(n) == Op::FOR && is_host(n); }
  bool is_host_range(Id n) const { return g_.op(n) == Op::RANGE && host_range_[n]; }
  bool is_host_carry(Id n) const { return g_.op(n) == Op::CARRY && host_range_[g_.range_of(n)]; }
  bool is_host_result(Id n) const { return g_.op(n) == Op::GET && is_host_loop(g_.scope(n)); }
  const std::vector<Id>& loops() const { return loops_; }      // host loops, outer ones first
  const std::vector<Id>& kernels() const { return kernels_; }  // KERNELs, ascending
  const std::vector<Id>& nodes() const { return nodes_; }      // reachable nodes, ascending
  std::size_t depth(std::uint32_t region) const;

  // The segment of a value, or the boundary of a loop.
  std::uint32_t time(Id n) const { return time_[n]; }
  std::uint32_t result_time(Id n) const { return time_[n] + (is_host_loop(n) ? 1 : 0); }
  std::uint32_t last_segment(std::uint32_t region) const { return last_[region]; }

  // The time of a use of value `of`: 2n in segment n, 2n + 1 in boundary n, `never` at the end of the region (a STORE of the
  // program, or a loop's next value).
  std::uint32_t moment(const TensorUse& u, Id of) const;
  const std::vector<TensorUse>& uses(Id n) const;

  // The values that a node uses, directly or inside index arithmetic.
  std::vector<Id> data_of(Id n) const;
  // The parts of an index expression that depend on data: all but arithmetic on constants, symbols and loop counters.
  std::vector<Id> cuts_of(Id expression) const;

 private:
  void find_scopes();
  void add(Id n, Id source);
  void add_cuts(Id scope, Id expression, std::uint32_t later);
  bool is_yield(Id n, Id source) const { return is_host_loop(n) && region(source) == regions_.owned[n]; }

  const Graph& g_;
  Regions regions_;
  std::vector<Id> nodes_, loops_, kernels_;
  std::vector<bool> host_range_;
  std::vector<std::uint32_t> time_, last_;
  std::unordered_map<Id, std::vector<TensorUse>> uses_;
};

}  // namespace kiln::compiler
