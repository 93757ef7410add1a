// Imports kernels with workgroups. The work items of a workgroup become loops, one nest for each phase. Values that are used in
// several phases are kept in arrays of the workgroup, with an element for each work item.
#include <algorithm>

#include "compiler/ir/index_poly.h"
#include "compiler/symbolic/bounds.h"
#include "generator/import_scopes.h"

namespace kiln::generator {

using namespace compiler;
using record::op;

namespace {

bool is_group_array(const record::node& n) { return n.o == op::local && (n.imm & record::group_array) != 0; }

// Calls f(indices) for each element, in row-major order. The extents are constants.
template <class F>
void each_element(const Graph& g, std::span<const Id> extents, F&& f) {
  std::int64_t count = 1;
  for (const Id e : extents) count *= g.arg(e, 0);
  std::vector<std::int64_t> at(extents.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    f(at);
    for (std::size_t k = at.size(); k-- > 0 && ++at[k] == g.arg(extents[k], 0);) at[k] = 0;
  }
}

}  // namespace

// The arrays of kept values belong to the workgroup.
void ScopeImporter::open_groups(int position) {
  group_ranges_ = scopes_.back().ranges;
  kept_values_.clear();
  kept_variables_.clear();
  group_.emplace(in_, position);
  for (const int i : group_->values()) kept_values_[i] = keep(in_.nodes[i]);
  for (int i = position; i < group_->end(); ++i)
    if (const record::node& n = in_.nodes[i]; n.o == op::var && group_->variables().contains(n.imm))
      kept_variables_[n.imm] = keep(n);
}

std::uint64_t ScopeImporter::keep(const record::node& n) {
  locals_.push_back(array(n, true, group_ranges_[0]));
  local_extents_.push_back(read_.extents(*n.s));
  return record::local_tensors + locals_.size() - 1;
}

Id ScopeImporter::array(const record::node& n, bool for_each_position, Id range) {
  std::vector<Id> extents;
  if (for_each_position)
    for (const std::int64_t size : group_sizes_) extents.push_back(g_.index(size));
  for (const Id e : read_.extents(*n.s)) extents.push_back(e);
  return build_.local(static_cast<DType>(n.d), range, extents, ids_++);
}

bool ScopeImporter::is_of_group(int position) const {
  const record::node& n = in_.nodes[position];
  if (n.o == op::set || (sets_variable(n) && is_of_kernel_.at(*variable_of(n))))
    return !group_->variable_varies(*variable_of(n));
  if (n.o == op::local) return is_group_array(n) || group_->locals().contains(n.imm & 0xffffffffu);
  return n.o == op::element && !group_->varies(position);
}

Id ScopeImporter::position_on(std::size_t axis) const {
  const Id own = own_positions()[axis];
  return index_add(g_, index_mul(g_, group_ranges_[axis], g_.index(group_sizes_[axis])), own);
}

// The indices of the work item in its workgroup: the RANGEs of the phase's loops, one for each axis.
std::vector<Id> ScopeImporter::own_positions() const {
  std::vector<Id> out;
  for (const Scope& s : scopes_)
    if (s.kind == op::barrier) out.push_back(s.ranges[0]);
  return out;
}

// Whether the integer is the work item's index on an axis with this extent. Then it is inside the axis, because work items of a
// workgroup that are outside of the kernel's extents do nothing.
bool ScopeImporter::is_inside(Id integer, Id extent) const {
  if (!in_phase_ || g_.op(integer) != Op::CAST) return false;
  for (std::size_t axis = 0; axis < group_sizes_.size(); ++axis)
    if (group_extents_[axis] == extent && g_.src(integer, 0) == position_on(axis)) return true;
  return false;
}

// Whether the extent is a multiple of the size, so that all workgroups are whole.
bool ScopeImporter::is_multiple(Id extent, std::int64_t size) {
  const Facts facts = facts_of(out_);
  const Congruence c = Bounds(g_, facts).residue(extent);
  return c.stride % size == 0 && c.offset % size == 0;
}

void ScopeImporter::open_phase(int position) {
  phase_begin_ = phase_end_ = position;
  while (!group_->ends_phase(phase_end_)) ++phase_end_;
  phase_ = group_->phase(position - 1);
  const auto scope = std::ranges::find_if(scopes_.rbegin(), scopes_.rend(), [](const Scope& x) { return !x.ranges.empty(); });
  std::vector<Changed> changed;
  for (int i = position; i < phase_end_; ++i) {
    const record::node& n = in_.nodes[i];
    if (const std::uint64_t number = n.imm & 0xffffffffu; n.o == op::local && is_of_group(i)) {
      local_extents_[number] = read_.extents(*n.s);
      locals_[number] = array(n, !is_group_array(n), scope->ranges[0]);
    }
    for (const Changed& c : changes(i))
      if (is_bound(c) && is_memory(c) && std::ranges::find(changed, c) == changed.end()) changed.push_back(c);
  }
  for (std::size_t axis = 0; axis < group_sizes_.size(); ++axis) {
    enter(op::barrier);
    const Id size = g_.index(group_sizes_[axis]);
    const Id left = index_sub(g_, group_extents_[axis], index_mul(g_, group_ranges_[axis], size));
    scopes_.back().end = is_multiple(group_extents_[axis], group_sizes_[axis]) ? size : index_min(g_, left, size);
    scopes_.back().ranges.push_back(build_.range(size, ids_++, RangeKind::group));
    carry(changed, 0);
  }
  in_phase_ = true;
  cond_ = live_ = no_id;
  here_.clear();
  load_variables(position, phase_end_);
}

void ScopeImporter::load_variables(int begin, int end) {
  std::set<std::uint64_t> here;
  for (int i = begin; i < end; ++i) {
    const record::node& n = in_.nodes[i];
    const auto variable = variable_of(n);
    if (!variable || !kept_variables_.contains(*variable) || !here.insert(*variable).second) continue;
    if (n.o != op::var) variables_.at(*variable) = load_kept(kept_variables_.at(*variable));
  }
}

void ScopeImporter::close_phase() {
  if (!in_phase_) return;
  std::set<std::uint64_t> stored;
  for (int i = phase_begin_; i < phase_end_; ++i) {
    const record::node& n = in_.nodes[i];
    if (n.o != op::var && !sets_variable(n)) continue;
    if (const std::uint64_t variable = *variable_of(n); kept_variables_.contains(variable) && stored.insert(variable).second)
      store_kept(kept_variables_.at(variable), variables_.at(variable));
  }
  for (std::size_t axis = 0; axis < group_sizes_.size(); ++axis) {
    const Scope s = leave();
    cond_ = s.cond, live_ = s.live;
    if (s.changed.empty()) continue;
    std::vector<Id> before, after;
    for (const Changed& c : s.changed) before.push_back(c.before), after.push_back(bound(c));
    const Id loop = build_.loop(s.ranges[0], g_.index(0), s.end, before, after, 1, false);
    for (std::size_t k = 0; k < s.changed.size(); ++k) bound(s.changed[k]) = build_.get(loop, static_cast<std::int64_t>(k));
  }
  in_phase_ = false;
}

bool ScopeImporter::is_elsewhere(int position) const {
  return in_phase_ && group_->varies(position) && group_->phase(position) != phase_;
}

void ScopeImporter::made(int position, Id value) {
  if (group_ && kept_values_.contains(position)) store_kept(kept_values_.at(position), value);
}

Id ScopeImporter::kept(int position) { return load_kept(kept_values_.at(position)); }

void ScopeImporter::store_kept(std::uint64_t number, Id value) {
  const std::vector<Id> extents = local_extents_.at(number - record::local_tensors);
  Id& state = bound({false, number, no_id});
  each_element(g_, extents, [&](std::span<const std::int64_t> at) {
    std::vector<Id> element;
    for (const std::int64_t i : at) element.push_back(g_.index(i));
    std::vector<Id> index = own_positions();
    index.insert(index.end(), element.begin(), element.end());
    state = build_.update(state, no_id, picked(value, element), index);
  });
}

Id ScopeImporter::load_kept(std::uint64_t number) {
  const std::vector<Id> extents = local_extents_.at(number - record::local_tensors);
  const Id state = bound({false, number, no_id});
  std::vector<Id> elements;
  each_element(g_, extents, [&](std::span<const std::int64_t> at) {
    std::vector<Id> index = own_positions();
    for (const std::int64_t i : at) index.push_back(g_.index(i));
    elements.push_back(build_.element(state, index, no_id));
  });
  return extents.empty() ? elements[0] : joined(g_.dtype(state), elements, extents);
}

// The indices of an element in memory. A local array that is used in several phases has one copy for each work item.
std::vector<Id> ScopeImporter::places(const Tensor& t, std::span<const Id> index) const {
  std::vector<Id> out;
  if (!t.place.is_variable && is_local(t.place.number) && group_ &&
      group_->locals().contains(t.place.number - record::local_tensors))
    out = own_positions();
  out.insert(out.end(), index.begin(), index.end());
  return out;
}

}  // namespace kiln::generator
