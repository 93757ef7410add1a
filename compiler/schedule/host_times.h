// When things outside of kernels happen. A region (the program, or a turn of a loop outside of kernels) runs in pieces, and
// after piece n the loops of gap n: a value is of the first piece in which what it needs is there. The results of a loop are
// there in the next piece, and so is an integer that data gives where a kernel's extent asks for it.
//
// Index arithmetic is no value of its own here: who uses it uses the data in it.
#pragma once

#include <unordered_map>
#include <vector>

#include "compiler/ir/regions.h"

namespace kiln::compiler {

struct TensorUse {
  Id node;  // who uses it
  Id user;  // that, or the kernel or loop around it in the region of what it uses
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
  bool is_host_carry(Id n) const { return g_.op(n) == Op::CARRY && host_range_[g_.src(n, 0)]; }
  bool is_host_result(Id n) const { return g_.op(n) == Op::GET && is_host_loop(g_.src(n, 0)); }
  const std::vector<Id>& loops() const { return loops_; }      // outside of kernels, outer ones first
  const std::vector<Id>& kernels() const { return kernels_; }  // ascending
  const std::vector<Id>& nodes() const { return nodes_; }      // ascending
  std::size_t depth(std::uint32_t region) const;

  // The piece of a value, the gap of a loop.
  std::uint32_t time(Id n) const { return time_[n]; }
  std::uint32_t result_time(Id n) const { return time_[n] + (is_host_loop(n) ? 1 : 0); }
  std::uint32_t last_piece(std::uint32_t region) const { return last_[region]; }

  // Values and loops in order: piece n is 2n, gap n is 2n + 1; `never`: after all of them.
  std::uint32_t moment(const TensorUse& u, Id of) const;
  const std::vector<TensorUse>& uses(Id n) const;

  // What a node uses, through index arithmetic.
  std::vector<Id> data_of(Id n) const;
  // The parts of an index expression that are more than arithmetic on symbols and positions of loops: data decides them.
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
