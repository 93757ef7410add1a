#include "generator/import_scopes.h"

#include <algorithm>
#include <set>

#include "compiler/index/floor_div.h"
#include "compiler/ir/index_bounds.h"
#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/symbolic/linear.h"

namespace kiln::generator {

using namespace compiler;
using record::op;

namespace {

// An i64 bound or step counts as at most this far from 0, so that the computation of the number of iterations does
// not overflow 64 bits.
constexpr std::int64_t farthest = std::int64_t{1} << 61;
constexpr int costly_operations = 16;

bool derives(op o) { return o == op::gradient || o == op::tangent || o == op::laplacian; }
// Transcendentals, and derivatives, which are several operations for each one that they differentiate.
bool is_costly(op o) { return (o >= op::rsqrt && o <= op::erf) || (o >= op::pow && o <= op::fmod) || derives(o); }

}  // namespace

void ScopeImporter::begin() {
  params_.assign(out_.params.size(), no_id);
  for (int i = 0; i < in_.n_nodes; ++i)
    if (in_.nodes[i].o == op::local) locals_.push_back(no_id);
  local_extents_.resize(locals_.size());
  for (const Symbol& s : out_.symbols) facts_.push_back({g_.string(g_.intern(s.name)), s.min, s.max});
}

void ScopeImporter::assign(std::size_t slot, Id value) {
  const Id old = active() == no_id ? no_id : value_now({false, slot, no_id});
  params_[slot] = masked(value, old);
}

Id ScopeImporter::both(Id a, Id b) {
  if (a == no_id || b == no_id) return a == no_id ? b : a;
  return a == b ? a : build_.elementwise(Op::AND, {a, b});
}
Id ScopeImporter::negated(Id a) { return a == no_id ? g_.constant(DType::boolean, 0) : build_.elementwise(Op::NOT, {a}); }
Id ScopeImporter::mask_or_true(Id a) { return a == no_id ? g_.constant(DType::boolean, 1) : a; }
Id ScopeImporter::masked(Id value, Id old) {
  return active() == no_id ? value : build_.elementwise(Op::WHERE, {active(), value, old});
}

bool ScopeImporter::is_bound(const Changed& c) const {
  if (c.is_variable) return c.number < variables_.size() && variables_[c.number] != no_id;
  if (c.number < record::local_tensors) return true;
  const std::uint64_t local = c.number - record::local_tensors;
  return local < locals_.size() && locals_[local] != no_id;
}
Id& ScopeImporter::bound(const Changed& c) {
  if (c.is_variable) return variables_.at(c.number);
  return c.number < record::local_tensors ? params_.at(c.number) : locals_.at(c.number - record::local_tensors);
}
// The present value. An output that is not assigned yet begins with zeros, because the program now writes elements of it.
Id ScopeImporter::value_now(const Changed& c) {
  Id& b = bound(c);
  if (b != no_id) return b;
  const Parameter& p = out_.params.at(c.number);
  if (p.direction != Direction::out) return build_.param(c.number, p);
  return b = build_.broadcast_to(g_.constant(p.dtype, 0), p.extents);
}

// Describes the scope that opens at record `position`, or for depth 1 the rest of the scope around it: the existing tensors and
// variables that it changes, and the properties that decide its form.
ScopeImporter::Contents ScopeImporter::contents(int position, int depth) const {
  Contents out;
  int loops = 0;
  for (int i = position;; ++i) {
    const record::node& n = in_.nodes[i];
    const bool repeats = n.o == op::kernel || n.o == op::loop;
    depth += repeats || n.o == op::when || n.o == op::otherwise;
    loops += repeats;
    loops -= n.o == op::kernel_end || n.o == op::loop_end;
    if ((n.o == op::kernel_end || n.o == op::loop_end || n.o == op::when_end) && --depth == 0) return out;
    out.breaks = out.breaks || (n.o == op::break_ && loops == 1);
    out.leaves = out.leaves || ((n.o == op::break_ || n.o == op::continue_) && loops == 0);
    out.works = out.works || repeats || n.o == op::store || ((n.o == op::set || writes_element(n.o)) && n.s->rank > 0);
    out.derives = out.derives || derives(n.o);
    out.operations += is_costly(n.o) ? costly_operations : 1;
    for (const Changed& c : changes(i)) {
      out.works = out.works || (at_workgroup() && !c.is_variable);
      if (is_bound(c) && std::ranges::find(out.changed, c) == out.changed.end()) out.changed.push_back(c);
    }
  }
}

std::vector<ScopeImporter::Changed> ScopeImporter::changes(int position) const {
  const record::node& n = in_.nodes[position];
  std::vector<Changed> out;
  const auto variable = variable_of(n);
  if (n.o == op::store || (writes_element(n.o) && !variable)) out.push_back({false, tensor_of(n), no_id});
  const bool is_kept = (n.o == op::var || sets_variable(n)) && saved_variables_.contains(*variable);
  if (is_kept && at_workgroup()) out.push_back({false, saved_variables_.at(*variable), no_id});
  if (sets_variable(n) && !(at_workgroup() && workgroup_->variable_varies(*variable))) out.push_back({true, *variable, no_id});
  if (at_workgroup() && saved_values_.contains(position)) out.push_back({false, saved_values_.at(position), no_id});
  return out;
}

// Bound number `which` of a kernel or loop.
Id ScopeImporter::limit(const record::node& n, int which, std::span<const Id> src, std::size_t& used) {
  const record::extent& e = read_.attrs(n)[which];
  if (e.text != nullptr || e.value != -1) return read_.extent(e);
  const Id x = src[used++];
  const bool is_symbol = n.d == KILN_I32 && g_.op(x) == Op::CAST && g_.op(g_.operand(x)) == Op::SYM;  // see cap_symbols()
  if (is_symbol) return g_.operand(x);
  if (n.d != KILN_I64) return to_index(x);
  const Id exact = to_index(x);
  const Id most = g_.index(farthest);
  const Id below = index_min(g_, exact, most);
  const Id least = g_.index(-farthest);
  return index_max(g_, below, least);
}

// Caps the symbols of an extent that i32 indices run over, so that an index plus a small number (a neighbour, a tap of a
// filter) fits i32 too.
void ScopeImporter::cap_symbols(Id extent) {
  constexpr std::int64_t limit = (std::int64_t{1} << 31) - (1 << 16);
  const auto cap = [&](Id symbol, std::int64_t most) {
    for (Symbol& s : out_.symbols)
      if (s.name == g_.name(symbol)) s.max = std::min(s.max, most);
  };
  const std::optional<Poly> sum = symbolic::sum_of(g_, extent);
  const bool is_linear = sum && !sum->empty() && sum->size() <= 2 && sum->front().atoms.size() == 1 &&
                         (sum->size() == 1 || sum->back().atoms.empty()) && sum->front().coefficient > 0;
  if (is_linear && g_.op(sum->front().atoms[0]) == Op::SYM) {
    const std::int64_t rest = sum->size() == 2 ? sum->back().coefficient : 0;
    if (const std::int64_t most = limit - std::clamp<std::int64_t>(rest, -limit, limit); most > 0)
      return cap(sum->front().atoms[0], floor_div(most, sum->front().coefficient));
  }
  for (const Id root[] = {extent}; const Id id : g_.reachable(root))
    if (g_.op(id) == Op::SYM) cap(id, limit);
}

void ScopeImporter::enter(op kind) {
  scopes_.push_back(
      {.kind = kind, .cond = cond_, .live = live_, .entered = entered_, .exits = {}, .ranges = {}, .changed = {}, .held = {}});
}
ScopeImporter::Scope ScopeImporter::leave() {
  Scope s = std::move(scopes_.back());
  scopes_.pop_back();
  return s;
}

// Whether the extent depends on symbols and constants only.
bool ScopeImporter::is_symbolic(Id extent) const {
  const Id root[] = {extent};
  return std::ranges::all_of(g_.reachable(root), [&](Id id) { return g_.dtype(id) == DType::index && g_.op(id) != Op::CAST; });
}

// Carries the states that a scope changes: binds each to its contents when an iteration begins.
void ScopeImporter::carry(std::vector<Changed> changed, std::int64_t first) {
  Scope& s = scopes_.back();
  for (Changed& c : changed) {
    c.before = value_now(c);
    bound(c) = build_.carry(s.ranges[0], c.before, first++);
  }
  s.changed = std::move(changed);
}

void ScopeImporter::open_kernel(int position, std::span<const Id> src) {
  const record::node& n = in_.nodes[position];
  const Contents inside = contents(position);
  const Id zero = g_.index(0);
  enter(op::kernel);
  std::vector<Id> ends;
  std::size_t used = 0;
  for (int i = 0; i < n.n_attrs; ++i) {
    Id end = limit(n, i, src, used);
    if (n.d == KILN_I32) cap_symbols(end);
    if (!proves_nonnegative(g_, end, facts_)) end = index_max(g_, end, zero);
    if (!never_empty(end, no_id)) entered_ = both(entered_, g_.make(Op::LT, DType::boolean, {zero, end}));
    ends.push_back(end);
  }
  workgroup_sizes_ = WorkgroupPlan::sizes(n);
  workgroup_extents_ = ends;
  for (std::size_t i = 0; i < workgroup_sizes_.size(); ++i) {  // the number of workgroups, rounded up
    const Id size = g_.index(workgroup_sizes_[i]);
    ends[i] = index_floordiv(g_, index_add(g_, ends[i], g_.index(workgroup_sizes_[i] - 1)), size);
  }
  for (const Id end : ends) scopes_.back().ranges.push_back(build_.range(end, ids_++));
  carry(inside.changed, 0);
  hold_variables(position);
  if (!workgroup_sizes_.empty()) open_workgroups(position);
}

// Only a kernel with one work item (once) assigns variables from outside. In the kernel these variables are values.
void ScopeImporter::hold_variables(int position) {
  int depth = 1;
  std::set<std::uint64_t> assigned;
  for (int i = position + 1; depth > 0; ++i) {  // kernels do not nest
    if (in_.nodes[i].o == op::set) assigned.insert(in_.nodes[i].imm);
    depth -= in_.nodes[i].o == op::kernel_end;
  }
  Scope& s = scopes_.back();
  for (const Changed& c : s.changed) {
    if (!c.is_variable || !assigned.contains(c.number)) continue;
    const Id state = bound(c);
    const std::vector<Id> extents = build_.shape_of(state);
    std::vector<Id> elements;
    for (const std::vector<Id>& at : positions(extents)) elements.push_back(build_.element(state, at));
    bound(c) = joined(g_.dtype(state), elements, extents);
    is_of_kernel_[c.number] = true;
    s.held.push_back({true, c.number, state});
  }
}
void ScopeImporter::give_back_variables() {
  for (const Changed& c : scopes_.back().held) {
    const Id value = bound(c);
    Id state = c.before;
    for (const std::vector<Id>& at : positions(build_.shape_of(value)))
      state = build_.update(state, no_id, element_of(value, at), at, false);
    bound(c) = state;
    is_of_kernel_[c.number] = false;
  }
}

void ScopeImporter::close_kernel() {
  workgroup_.reset();
  give_back_variables();
  const Scope s = leave();
  entered_ = s.entered;
  std::vector<Id> before, after;
  for (const Changed& c : s.changed) before.push_back(c.before), after.push_back(bound(c));
  const Id kernel = before.empty() ? no_id : build_.kernel(s.ranges, before, after);
  for (std::size_t k = 0; k < s.changed.size(); ++k) bound(s.changed[k]) = build_.get(kernel, k);
}

Id ScopeImporter::position_value(const record::node& n) {
  if (n.o == op::counter) {
    const auto s = std::ranges::find(scopes_.rbegin(), scopes_.rend(), op::loop, &Scope::kind);
    const Id at = index_add(g_, s->begin, index_mul(g_, s->ranges[0], s->step));
    return g_.make(Op::CAST, ir_dtype(n.d), {at});
  }
  const std::size_t axis = n.imm & 0xff;
  const auto s = std::ranges::find(scopes_.rbegin(), scopes_.rend(), op::kernel, &Scope::kind);
  Id at = s->ranges[axis];
  if (workgroup_ && (n.imm & record::of_workgroup) == 0)
    at = (n.imm & record::within_workgroup) != 0 ? local_ids()[axis] : global_id(axis);
  return g_.make(Op::CAST, ir_dtype(n.d), {at});
}

// A local array begins with zeros in each iteration of the scope around. Outside of kernels it is a value.
Id ScopeImporter::local(int position) {
  const record::node& n = in_.nodes[position];
  const std::size_t number = n.imm & 0xffffffffu;
  if (workgroup_ && locals_[number] != no_id && workgroup_->interval(position) == interval_ && in_interval_ &&
      is_of_workgroup(position))
    return locals_[number];  // made when the barrier interval began
  local_extents_[number] = read_.extents(*n.s);
  if (!in_kernel()) return locals_[number] = build_.broadcast_to(g_.constant(ir_dtype(n.d), 0), local_extents_[number]);
  const auto s = std::ranges::find_if(scopes_.rbegin(), scopes_.rend(), [](const Scope& x) { return !x.ranges.empty(); });
  return locals_[number] = array(n, false, s->ranges[0]);
}

// A record that ends a barrier interval belongs to the workgroup, so the barrier interval closes before it.
Id ScopeImporter::node(int position, std::span<const Id> src, bool is_used) {
  const bool was_workgroup = workgroup_.has_value();
  const bool ends_interval = was_workgroup && workgroup_->ends_interval(position);
  if (ends_interval) close_interval();
  const Id cond = cond_, live = live_;
  const bool is_shared = in_interval_ && is_of_workgroup(position);
  if (is_shared) {
    const auto s = std::ranges::find(scopes_, op::barrier, &Scope::kind);
    cond_ = s->cond, live_ = s->live;
  }
  const Id out = scoped(position, src, is_used);
  if (is_shared) cond_ = cond, live_ = live;
  if (workgroup_ && (ends_interval || !was_workgroup)) open_interval(position + 1);
  return out;
}

Id ScopeImporter::scoped(int position, std::span<const Id> src, bool is_used) {
  const record::node& n = in_.nodes[position];
  const Id condition = src.empty() ? no_id : src[0];
  switch (n.o) {
    case op::kernel: open_kernel(position, src); break;
    case op::kernel_end: close_kernel(); break;
    case op::loop: open_loop(position, src); break;
    case op::loop_end: close_rest(), close_loop(); break;
    case op::when: open_when(position, condition, no_id); break;
    case op::otherwise: open_when(position, condition, rest_); break;
    case op::when_end: close_when(position); break;
    case op::break_: leave_iteration(position, condition, true); break;
    case op::continue_: leave_iteration(position, condition, false); break;
    case op::index:
    case op::counter: return position_value(n);
    case op::var:
      variables_.resize(std::max<std::size_t>(variables_.size(), n.imm + 1), no_id);
      variables_[n.imm] = src[0];
      is_of_kernel_.resize(variables_.size());
      is_of_kernel_[n.imm] = workgroup_.has_value() || in_kernel();
      break;
    case op::set: variables_.at(n.imm) = masked(src[0], variables_[n.imm]); break;
    case op::get: return whole(variables_.at(n.imm), {true, n.imm, no_id});
    case op::local: local(position); break;
    case op::element: return element(n, src);
    case op::put:
    case op::atomic:
    case op::accumulate:
      if (n.s->rank > 0) return write_elements(n, src, n.o == op::atomic && is_used);
      if (n.o == op::atomic) return atomic(n, src);
      put(n, src);
      break;
    case op::check: check(n, src[0]); break;
    case op::barrier: break;
    default: throw std::logic_error("not a node of scopes");
  }
  return no_id;
}

}  // namespace kiln::generator
