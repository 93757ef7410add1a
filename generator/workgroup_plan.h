// WorkgroupPlan: splits a kernel with workgroups at its barriers.
//
// Before: the records of a kernel with workgroups.
// After: by record, whether it runs once for the workgroup or once for each of its work items, and the number of its barrier
//   interval.
//   - A loop or condition around a barrier, and a value that is the same for all work items, belongs to the workgroup.
//   - A barrier interval is the part between two barriers, or between a barrier and the begin or end of a loop or condition
//   around it.
//   - A value or variable that is used in several barrier intervals is kept in an array with an element for each work item.
//     Exception: a value that is cheap to compute again.
#pragma once

#include <map>
#include <set>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "generator/record.h"

namespace kiln::generator {

inline bool is_shared_array(const record::node& n) { return n.o == record::op::local && (n.imm & record::shared_array) != 0; }

class WorkgroupPlan {
 public:
  // kernel: the number of its record. Throws Diagnostic E-barrier if some work items might not reach a barrier.
  WorkgroupPlan(const record::program& in, int kernel);

  static std::vector<std::int64_t> sizes(const record::node& kernel);  // of a workgroup, by axis; empty: no workgroups

  int end() const { return end_; }
  bool ends_interval(int position) const { return boundary_[at(position)]; }
  int interval(int position) const { return interval_[at(position)]; }
  // Whether the value may differ between the work items of a workgroup. False for records before the kernel.
  bool varies(int position) const { return position >= begin_ && varies_[at(position)]; }
  bool variable_varies(std::uint64_t variable) const { return varying_variables_.contains(variable); }

  // The values (by record), variables and local arrays that exist for each work item in an array of the workgroup.
  const std::set<int>& values() const { return values_; }
  const std::set<std::uint64_t>& variables() const { return variables_; }
  const std::set<std::uint64_t>& locals() const { return locals_; }
  // Whether the value is computed again in each barrier interval that needs it.
  bool is_cheap(int position) const { return cheap_[at(position)]; }

 private:
  static constexpr int none = -1;
  std::size_t at(int position) const { return static_cast<std::size_t>(position - begin_); }
  const record::node& node(int position) const { return in_.nodes[position]; }
  std::span<const std::int32_t> sources(int position) const {
    return {in_.sources + node(position).source_begin, static_cast<std::size_t>(node(position).n_sources)};
  }

  void find_scopes();
  void split(int scope);
  bool of_workgroup(int position) const;
  void number_intervals();
  void find_varying();
  bool differs(int position) const;
  bool find_varying_variable(int position);
  bool is_private(std::uint64_t variable) const { return private_variables_.contains(variable); }
  void check() const;
  void find_cheap();
  void find_saved();

  const record::program& in_;
  int begin_, end_;
  std::vector<int> scope_;     // by record: the record that opens the scope around it
  std::vector<int> closes_;    // by record that closes a scope: the record that opens it
  std::vector<int> before_;    // by otherwise: the when or otherwise before it
  std::map<int, int> splits_;  // scope that runs once for a workgroup -> the barrier or array in it that is the reason
  std::vector<bool> boundary_, varies_, cheap_;
  std::vector<int> interval_;
  std::set<std::pair<int, std::uint64_t>> written_;  // by barrier interval: tensors that it writes
  std::set<std::uint64_t> private_variables_, private_arrays_, varying_variables_, variables_, locals_;
  std::set<int> values_;
};

}  // namespace kiln::generator
