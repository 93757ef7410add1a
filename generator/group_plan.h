// A kernel in groups without its barriers: what runs once for a group, what runs for each of its positions, and what the
// positions keep from one barrier to the next.
//
// before: the records of a kernel in groups. after: by record, whether it is of the group (a loop or condition that has
// barriers, what comes out the same everywhere) or of the positions, and then its phase: the records between two barriers, or
// between a barrier and the beginning or end of such a loop or condition. Values and variables that live in several phases are
// kept in arrays with an element for each position, unless they are cheap to compute again.
#pragma once

#include <map>
#include <set>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "generator/record.h"

namespace kiln::generator {

class GroupPlan {
 public:
  // kernel: the position of its record. Throws Diagnostic E-barrier where some positions would not reach a barrier.
  GroupPlan(const record::program& in, int kernel);

  static std::vector<std::int64_t> sizes(const record::node& kernel);  // of a group, by axis; empty: not in groups

  int end() const { return end_; }
  bool ends_phase(int position) const { return boundary_[at(position)]; }
  int phase(int position) const { return phase_[at(position)]; }
  // Whether it may differ between the positions of a group. false for records before the kernel.
  bool varies(int position) const { return position >= begin_ && varies_[at(position)]; }
  bool variable_varies(std::uint64_t variable) const { return varying_variables_.contains(variable); }

  // What is kept: records of values, variables, and local arrays of the kernel.
  const std::set<int>& values() const { return values_; }
  const std::set<std::uint64_t>& variables() const { return variables_; }
  const std::set<std::uint64_t>& locals() const { return locals_; }
  // Made again where it is needed.
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
  bool of_group(int position) const;
  void number_phases();
  void find_varying();
  bool differs(int position) const;
  bool find_varying_variable(int position);
  bool is_own(std::uint64_t variable) const { return own_variables_.contains(variable); }
  void check() const;
  void find_cheap();
  void find_kept();

  const record::program& in_;
  int begin_, end_;
  std::vector<int> scope_;     // by record: the record that opens the scope around it
  std::vector<int> closes_;    // by record that closes a scope: the one that opens it
  std::vector<int> before_;    // by otherwise: the when or otherwise before it
  std::map<int, int> splits_;  // scopes that run once for a group: why, a barrier or an array in it
  std::vector<bool> boundary_, varies_, cheap_;
  std::vector<int> phase_;
  std::set<std::pair<int, std::uint64_t>> written_;  // phase, tensor
  std::set<std::uint64_t> own_variables_, own_arrays_, varying_variables_, variables_, locals_;
  std::set<int> values_;
};

}  // namespace kiln::generator
