// Imports kernels with workgroups. The work items of a workgroup become loops, one nest for each barrier interval. Values that
// are used in several barrier intervals are kept in arrays of the workgroup, with an element for each work item.
#include <algorithm>

#include "compiler/ir/index_poly.h"
#include "compiler/symbolic/bounds.h"
#include "generator/import_scopes.h"

namespace kiln::generator {

using namespace compiler;
using record::op;

namespace {

// Calls f(indices) for each element, in row-major order. The extents are constants.
template <class F>
void each_element(const Graph& g, std::span<const Id> extents, F&& f) {
  std::int64_t count = 1;
  for (const Id e : extents) count *= g.value(e);
  std::vector<std::int64_t> at(extents.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    f(at);
    for (std::size_t k = at.size(); k-- > 0 && ++at[k] == g.value(extents[k]);) at[k] = 0;
  }
}

}  // namespace

// The arrays of kept values belong to the workgroup.
void ScopeImporter::open_workgroups(int position) {
  workgroup_ranges_ = scopes_.back().ranges;
  saved_values_.clear();
  saved_variables_.clear();
  workgroup_.emplace(in_, position);
  for (const int i : workgroup_->values()) saved_values_[i] = keep(in_.nodes[i]);
  for (int i = position; i < workgroup_->end(); ++i)
    if (const record::node& n = in_.nodes[i]; n.o == op::var && workgroup_->variables().contains(n.imm))
      saved_variables_[n.imm] = keep(n);
}

std::uint64_t ScopeImporter::keep(const record::node& n) {
  locals_.push_back(array(n, true, workgroup_ranges_[0]));
  local_extents_.push_back(read_.extents(*n.s));
  return record::local_tensors + locals_.size() - 1;
}

Id ScopeImporter::array(const record::node& n, bool for_each_work_item, Id range) {
  std::vector<Id> extents;
  if (for_each_work_item)
    for (const std::int64_t size : workgroup_sizes_) extents.push_back(g_.index(size));
  for (const Id e : read_.extents(*n.s)) extents.push_back(e);
  return build_.local(ir_dtype(n.d), range, extents, ids_++);
}

bool ScopeImporter::is_of_workgroup(int position) const {
  const record::node& n = in_.nodes[position];
  if (n.o == op::set || (sets_variable(n) && is_of_kernel_.at(*variable_of(n))))
    return !workgroup_->variable_varies(*variable_of(n));
  if (n.o == op::local) return is_shared_array(n) || workgroup_->locals().contains(n.imm & 0xffffffffu);
  return n.o == op::element && !workgroup_->varies(position);
}

Id ScopeImporter::global_id(std::size_t axis) const {
  const Id own = local_ids()[axis];
  return index_add(g_, index_mul(g_, workgroup_ranges_[axis], g_.index(workgroup_sizes_[axis])), own);
}

// The indices of the work item in its workgroup: the RANGEs of the barrier interval's loops, one for each axis.
std::vector<Id> ScopeImporter::local_ids() const {
  std::vector<Id> out;
  for (const Scope& s : scopes_)
    if (s.kind == op::barrier) out.push_back(s.ranges[0]);
  return out;
}

// Whether the integer is the work item's index on an axis with this extent. Then it is inside the axis, because work items of a
// workgroup that are outside of the kernel's extents do nothing.
bool ScopeImporter::is_inside(Id integer, Id extent) const {
  if (!in_interval_ || g_.op(integer) != Op::CAST) return false;
  for (std::size_t axis = 0; axis < workgroup_sizes_.size(); ++axis)
    if (workgroup_extents_[axis] == extent && g_.operand(integer) == global_id(axis)) return true;
  return false;
}

// Whether the extent is a multiple of the size, so that all workgroups are whole.
bool ScopeImporter::is_multiple(Id extent, std::int64_t size) {
  const Facts facts = facts_of(out_);
  const Congruence c = Bounds(g_, facts).residue(extent);
  return c.stride % size == 0 && c.offset % size == 0;
}

void ScopeImporter::open_interval(int position) {
  interval_begin_ = interval_end_ = position;
  while (!workgroup_->ends_interval(interval_end_)) ++interval_end_;
  interval_ = workgroup_->interval(position - 1);
  const auto scope = std::ranges::find_if(scopes_.rbegin(), scopes_.rend(), [](const Scope& x) { return !x.ranges.empty(); });
  std::vector<Changed> changed;
  for (int i = position; i < interval_end_; ++i) {
    const record::node& n = in_.nodes[i];
    if (const std::uint64_t number = n.imm & 0xffffffffu; n.o == op::local && is_of_workgroup(i)) {
      local_extents_[number] = read_.extents(*n.s);
      locals_[number] = array(n, !is_shared_array(n), scope->ranges[0]);
    }
    for (const Changed& c : changes(i))
      if (is_bound(c) && is_memory(c) && std::ranges::find(changed, c) == changed.end()) changed.push_back(c);
  }
  for (std::size_t axis = 0; axis < workgroup_sizes_.size(); ++axis) {
    enter(op::barrier);
    const Id size = g_.index(workgroup_sizes_[axis]);
    const Id left = index_sub(g_, workgroup_extents_[axis], index_mul(g_, workgroup_ranges_[axis], size));
    scopes_.back().end = is_multiple(workgroup_extents_[axis], workgroup_sizes_[axis]) ? size : index_min(g_, left, size);
    scopes_.back().ranges.push_back(build_.range(size, ids_++, RangeKind::workgroup));
    carry(changed, 0);
  }
  in_interval_ = true;
  cond_ = live_ = no_id;
  here_.clear();
  load_variables(position, interval_end_);
}

void ScopeImporter::load_variables(int begin, int end) {
  std::set<std::uint64_t> here;
  for (int i = begin; i < end; ++i) {
    const record::node& n = in_.nodes[i];
    const auto variable = variable_of(n);
    if (!variable || !saved_variables_.contains(*variable) || !here.insert(*variable).second) continue;
    if (n.o != op::var) variables_.at(*variable) = load_saved(saved_variables_.at(*variable));
  }
}

void ScopeImporter::close_interval() {
  if (!in_interval_) return;
  std::set<std::uint64_t> stored;
  for (int i = interval_begin_; i < interval_end_; ++i) {
    const record::node& n = in_.nodes[i];
    if (n.o != op::var && !sets_variable(n)) continue;
    if (const std::uint64_t variable = *variable_of(n); saved_variables_.contains(variable) && stored.insert(variable).second)
      store_saved(saved_variables_.at(variable), variables_.at(variable));
  }
  for (std::size_t axis = 0; axis < workgroup_sizes_.size(); ++axis) {
    const Scope s = leave();
    cond_ = s.cond, live_ = s.live;
    if (s.changed.empty()) continue;
    std::vector<Id> before, after;
    for (const Changed& c : s.changed) before.push_back(c.before), after.push_back(bound(c));
    const Id loop = build_.loop(s.ranges[0], g_.index(0), s.end, before, after, 1, false);
    for (std::size_t k = 0; k < s.changed.size(); ++k) bound(s.changed[k]) = build_.get(loop, k);
  }
  in_interval_ = false;
}

bool ScopeImporter::is_elsewhere(int position) const {
  return in_interval_ && workgroup_->varies(position) && workgroup_->interval(position) != interval_;
}

void ScopeImporter::made(int position, Id value) {
  if (workgroup_ && saved_values_.contains(position)) store_saved(saved_values_.at(position), value);
}

Id ScopeImporter::saved(int position) { return load_saved(saved_values_.at(position)); }

void ScopeImporter::store_saved(std::uint64_t number, Id value) {
  const std::vector<Id> extents = local_extents_.at(number - record::local_tensors);
  Id& state = bound({false, number, no_id});
  each_element(g_, extents, [&](std::span<const std::int64_t> at) {
    std::vector<Id> element;
    for (const std::int64_t i : at) element.push_back(g_.index(i));
    std::vector<Id> index = local_ids();
    index.insert(index.end(), element.begin(), element.end());
    state = build_.update(state, no_id, element_of(value, element), index);
  });
}

Id ScopeImporter::load_saved(std::uint64_t number) {
  const std::vector<Id> extents = local_extents_.at(number - record::local_tensors);
  const Id state = bound({false, number, no_id});
  std::vector<Id> elements;
  each_element(g_, extents, [&](std::span<const std::int64_t> at) {
    std::vector<Id> index = local_ids();
    for (const std::int64_t i : at) index.push_back(g_.index(i));
    elements.push_back(build_.element(state, index, no_id));
  });
  return extents.empty() ? elements[0] : joined(g_.dtype(state), elements, extents);
}

// The indices of an element in memory. A local array that is used in several barrier intervals has one copy for each work item.
std::vector<Id> ScopeImporter::places(const Tensor& t, std::span<const Id> index) const {
  std::vector<Id> out;
  if (!t.place.is_variable && is_local(t.place.number) && workgroup_ &&
      workgroup_->locals().contains(t.place.number - record::local_tensors))
    out = local_ids();
  out.insert(out.end(), index.begin(), index.end());
  return out;
}

}  // namespace kiln::generator
