#include "generator/import_scopes.h"

#include <algorithm>
#include <limits>
#include <set>

#include "compiler/ir/index_bounds.h"
#include "compiler/ir/index_poly.h"

namespace kiln::generator {

using namespace compiler;
using record::op;

namespace {

constexpr std::int64_t endless = std::int64_t{1} << 62;
// An i64 bound or step counts as at most this far from 0, so that the computation of the number of iterations does
// not overflow 64 bits.
constexpr std::int64_t farthest = std::int64_t{1} << 61;
constexpr int operations_of_math = 16, worth_a_branch = 16;

bool is_math(op o) { return (o >= op::rsqrt && o <= op::erf) || o == op::pow; }

// An upper bound of the number of iterations of a loop with an i32 counter, so that passes know that the counter fits.
std::int64_t most_turns(const Graph& g, DType counter, Id begin, std::optional<std::int64_t> step) {
  const auto first = index_value(g, begin);
  if (counter != DType::i32 || !first || !step || *step == 0) return endless;
  using Limits = std::numeric_limits<std::int32_t>;
  const std::int64_t way = *step > 0 ? Limits::max() - *first : *first - Limits::min(), size = *step > 0 ? *step : -*step;
  return std::max<std::int64_t>(0, (way + size - 1) / size);
}

}  // namespace

void ScopeImporter::begin() {
  params_.assign(out_.params.size(), no_id);
  const auto is_array = [](const record::node& n) { return n.o == op::local; };
  const auto arrays = static_cast<std::size_t>(std::count_if(in_.nodes, in_.nodes + in_.n_nodes, is_array));
  locals_.assign(arrays, no_id);
  local_extents_.resize(arrays);
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
  if (p.direction != Direction::out) return build_.param(static_cast<int>(c.number), p);
  return b = build_.broadcast_to(g_.constant(p.dtype, 0), p.extents);
}

// Describes the scope that opens at record `position`, or for depth 1 the rest of the scope around it: the existing tensors and
// variables that it changes, and the properties that decide its form.
ScopeImporter::Contents ScopeImporter::contents(int position, int depth) const {
  Contents out;
  int loops = 0;
  for (int i = position;; ++i) {
    const record::node& n = in_.nodes[i];
    const bool turns = n.o == op::kernel || n.o == op::loop;
    depth += turns || n.o == op::when || n.o == op::otherwise;
    loops += turns;
    loops -= n.o == op::kernel_end || n.o == op::loop_end;
    if ((n.o == op::kernel_end || n.o == op::loop_end || n.o == op::when_end) && --depth == 0) return out;
    out.breaks = out.breaks || (n.o == op::break_ && loops == 1);
    out.leaves = out.leaves || ((n.o == op::break_ || n.o == op::continue_) && loops == 0);
    out.works = out.works || turns || n.o == op::store || ((n.o == op::set || writes_element(n.o)) && n.s->rank > 0);
    out.operations += is_math(n.o) ? operations_of_math : 1;
    for (const Changed& c : changes(i)) {
      out.works = out.works || (at_group() && !c.is_variable);
      if (is_bound(c) && std::ranges::find(out.changed, c) == out.changed.end()) out.changed.push_back(c);
    }
  }
}

std::vector<ScopeImporter::Changed> ScopeImporter::changes(int position) const {
  const record::node& n = in_.nodes[position];
  std::vector<Changed> out;
  const auto variable = variable_of(n);
  if (n.o == op::store || (writes_element(n.o) && !variable)) out.push_back({false, tensor_of(n), no_id});
  const bool is_kept = (n.o == op::var || sets_variable(n)) && kept_variables_.contains(*variable);
  if (is_kept && at_group()) out.push_back({false, kept_variables_.at(*variable), no_id});
  if (sets_variable(n) && !(at_group() && group_->variable_varies(*variable))) out.push_back({true, *variable, no_id});
  if (at_group() && kept_values_.contains(position)) out.push_back({false, kept_values_.at(position), no_id});
  return out;
}

// Bound number `which` of a kernel or loop.
Id ScopeImporter::limit(const record::node& n, int which, std::span<const Id> src, std::size_t& used) {
  const record::extent& e = read_.attrs(n)[which];
  if (e.text != nullptr || e.value != -1) return read_.extent(e);
  const Id x = src[used++];
  const bool is_symbol = n.d == KILN_I32 && g_.op(x) == Op::CAST && g_.op(g_.src(x, 0)) == Op::SYM;  // see cap_symbols()
  if (is_symbol) return g_.src(x, 0);
  if (n.d != KILN_I64) return to_index(x);
  const Id exact = to_index(x);
  const Id most = g_.index(farthest);
  const Id below = index_min(g_, exact, most);
  const Id least = g_.index(-farthest);
  return index_max(g_, below, least);
}

// Indices of work items are i32, so a symbol in their extents is at most 2^31 - 1.
void ScopeImporter::cap_symbols(Id extent) {
  for (const Id root[] = {extent}; const Id id : g_.reachable(root))
    if (g_.op(id) == Op::SYM)
      for (Symbol& s : out_.symbols)
        if (s.name == g_.name(id)) s.max = std::min<std::int64_t>(s.max, std::numeric_limits<std::int32_t>::max());
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
  group_sizes_ = GroupPlan::sizes(n);
  group_extents_ = ends;
  for (std::size_t i = 0; i < group_sizes_.size(); ++i) {  // the number of workgroups, rounded up
    const Id size = g_.index(group_sizes_[i]);
    ends[i] = index_floordiv(g_, index_add(g_, ends[i], g_.index(group_sizes_[i] - 1)), size);
  }
  for (const Id end : ends) scopes_.back().ranges.push_back(build_.range(end, ids_++));
  carry(inside.changed, 0);
  hold_variables(position);
  if (!group_sizes_.empty()) open_groups(position);
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
      state = build_.update(state, no_id, picked(value, at), at, false);
    bound(c) = state;
    is_of_kernel_[c.number] = false;
  }
}

void ScopeImporter::close_kernel() {
  group_.reset();
  give_back_variables();
  const Scope s = leave();
  entered_ = s.entered;
  std::vector<Id> before, after;
  for (const Changed& c : s.changed) before.push_back(c.before), after.push_back(bound(c));
  const Id kernel = before.empty() ? no_id : build_.kernel(s.ranges, before, after);
  for (std::size_t k = 0; k < s.changed.size(); ++k) bound(s.changed[k]) = build_.get(kernel, static_cast<std::int64_t>(k));
}

// Opens a loop with one iteration where the mask holds, and no iteration elsewhere.
void ScopeImporter::open_turn(Id mask, const Contents& inside) {
  enter(op::when);
  Scope& s = scopes_.back();
  s.is_turn = true;
  s.end = g_.index(1);
  s.going = mask;
  s.ranges.push_back(build_.range(s.end, ids_++));
  entered_ = both(entered_, mask);
  cond_ = live_ = no_id;
  std::int64_t slot = 1;
  if (inside.leaves) {  // a break of the loop around reaches that loop as a carried value
    Scope& around = *loop_around();
    s.exits = {around.broken == no_id ? g_.constant(DType::boolean, 0) : around.broken, g_.constant(DType::boolean, 0)};
    around.broken = build_.carry(s.ranges[0], s.exits[0], slot);
    slot = 3;
  }
  carry(inside.changed, slot);
}

// Opens a loop of at most one iteration for the rest of a scope after a break, unless the rest costs little.
void ScopeImporter::open_rest(int position) {
  if (in_kernel() || live_ == no_id) return;
  const Contents inside = contents(position + 1, 1);
  if (!inside.works) return;
  open_turn(active(), inside);
  scopes_.back().is_rest = true;
}
void ScopeImporter::close_rest() {
  while (scopes_.back().is_rest) close_loop();
}

void ScopeImporter::open_loop(int position, std::span<const Id> src) {
  const record::node& n = in_.nodes[position];
  const Contents inside = contents(position);
  const Id mask = active();
  enter(op::loop);
  Scope& s = scopes_.back();
  std::size_t used = 0;
  s.begin = limit(n, 0, src, used);
  const Id end = limit(n, 1, src, used);
  s.step = limit(n, 2, src, used);
  if (n.d == KILN_I32) cap_symbols(s.begin), cap_symbols(end);
  // The number of iterations is ceil((end - begin) / step), or 0 if the step is 0.
  const Id one = g_.index(1), zero = g_.index(0);
  const auto step = index_value(g_, s.step);
  const Id up = index_sub(g_, s.step, one), down = index_add(g_, s.step, one);
  const Id round = step ? (*step > 0 ? up : down)
                        : g_.make(Op::WHERE, DType::index, {g_.make(Op::LT, DType::boolean, {zero, s.step}), up, down});
  s.end = n.imm == 1 ? g_.index(endless) : index_floordiv(g_, index_add(g_, index_sub(g_, end, s.begin), round), s.step);
  const bool is_static = n.imm == 0 && is_symbolic(s.end);
  if (is_static && !proves_nonnegative(g_, s.end, facts_)) s.end = index_max(g_, s.end, zero);
  const Id most = n.imm == 1  ? g_.index(endless)
                  : is_static ? s.end
                              : g_.index(most_turns(g_, static_cast<DType>(n.d), s.begin, step));
  s.ranges.push_back(build_.range(most, ids_++));

  const Id not_empty = never_empty(s.end, no_id) ? no_id : g_.make(Op::LT, DType::boolean, {zero, s.end});
  entered_ = both(both(entered_, mask), not_empty);
  cond_ = live_ = no_id;
  if (inside.breaks || mask != no_id) s.going = mask_or_true(mask);
  carry(inside.changed, s.going == no_id ? 0 : 1);
}

void ScopeImporter::close_loop() {
  const Id live = live_;
  const Scope s = leave();
  cond_ = s.cond, live_ = s.live, entered_ = s.entered;
  if (s.changed.empty() && s.exits.empty()) return;
  const bool is_while = s.going != no_id;
  std::vector<Id> before, after;
  if (is_while) {
    before.push_back(s.going);
    after.push_back(s.broken == no_id ? build_.carry(s.ranges[0], s.going, 0) : negated(s.broken));
  }
  if (!s.exits.empty()) {
    before.insert(before.end(), s.exits.begin(), s.exits.end());
    after.push_back(loop_around()->broken);
    after.push_back(live == no_id ? s.exits[1] : negated(live));
  }
  for (const Changed& c : s.changed) before.push_back(c.before), after.push_back(bound(c));
  const Id loop = build_.loop(s.ranges[0], g_.index(0), s.end, before, after, 1, is_while);
  std::int64_t number = is_while ? 1 : 0;
  if (!s.exits.empty()) {
    loop_around()->broken = build_.get(loop, number++);
    live_ = both(live_, negated(build_.get(loop, number++)));
  }
  for (const Changed& c : s.changed) bound(c) = build_.get(loop, number++);
}

// where: the mask of the scope inside the scope around, without the scope's own condition; no_id: everywhere.
void ScopeImporter::open_when(int position, Id condition, Id where) {
  const Id mask = both(where, condition), rest = condition == no_id ? no_id : both(where, negated(condition));
  const Contents inside = contents(position);
  if (in_kernel() ? inside.operations >= worth_a_branch && is_shared(mask) : inside.works) {
    open_turn(mask_or_true(both(active(), mask)), inside);
  } else {
    enter(op::when);
    cond_ = both(cond_, mask);
  }
  scopes_.back().rest = rest;
}
void ScopeImporter::close_when(int position) {
  close_rest();
  rest_ = scopes_.back().rest;
  if (scopes_.back().is_turn)
    close_loop();
  else
    cond_ = leave().cond;
  open_rest(position);
}

ScopeImporter::Scope* ScopeImporter::loop_around() {
  return &*std::ranges::find(scopes_.rbegin(), scopes_.rend(), op::loop, &Scope::kind);
}

void ScopeImporter::leave_turn(int position, Id condition, bool ends_loop) {
  const Id here = mask_or_true(both(active(), condition));
  live_ = both(live_, negated(here));
  if (Scope& s = *loop_around(); ends_loop) s.broken = s.broken == no_id ? here : build_.elementwise(Op::OR, {s.broken, here});
  open_rest(position);
}

Id ScopeImporter::position_value(const record::node& n) {
  if (n.o == op::counter) {
    const auto s = std::ranges::find(scopes_.rbegin(), scopes_.rend(), op::loop, &Scope::kind);
    const Id at = index_add(g_, s->begin, index_mul(g_, s->ranges[0], s->step));
    return g_.make(Op::CAST, static_cast<DType>(n.d), {at});
  }
  const std::size_t axis = n.imm & 0xff;
  const auto s = std::ranges::find(scopes_.rbegin(), scopes_.rend(), op::kernel, &Scope::kind);
  Id at = s->ranges[axis];
  if (group_ && (n.imm & record::of_group) == 0)
    at = (n.imm & record::within_group) != 0 ? own_positions()[axis] : position_on(axis);
  return g_.make(Op::CAST, static_cast<DType>(n.d), {at});
}

// A local array begins with zeros in each iteration of the scope around. Outside of kernels it is a value.
Id ScopeImporter::local(int position) {
  const record::node& n = in_.nodes[position];
  const std::size_t number = n.imm & 0xffffffffu;
  if (group_ && locals_[number] != no_id && group_->phase(position) == phase_ && in_phase_ && is_of_group(position))
    return locals_[number];  // made when the phase began
  local_extents_[number] = read_.extents(*n.s);
  if (!in_kernel())
    return locals_[number] = build_.broadcast_to(g_.constant(static_cast<DType>(n.d), 0), local_extents_[number]);
  const auto s = std::ranges::find_if(scopes_.rbegin(), scopes_.rend(), [](const Scope& x) { return !x.ranges.empty(); });
  return locals_[number] = array(n, false, s->ranges[0]);
}

// A record that ends a phase belongs to the workgroup, so the phase closes before it.
Id ScopeImporter::node(int position, std::span<const Id> src, bool is_used) {
  const bool was_group = group_.has_value();
  const bool ends_phase = was_group && group_->ends_phase(position);
  if (ends_phase) close_phase();
  const Id cond = cond_, live = live_;
  const bool is_shared = in_phase_ && is_of_group(position);
  if (is_shared) {
    const auto s = std::ranges::find(scopes_, op::barrier, &Scope::kind);
    cond_ = s->cond, live_ = s->live;
  }
  const Id out = scoped(position, src, is_used);
  if (is_shared) cond_ = cond, live_ = live;
  if (group_ && (ends_phase || !was_group)) open_phase(position + 1);
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
    case op::break_: leave_turn(position, condition, true); break;
    case op::continue_: leave_turn(position, condition, false); break;
    case op::index:
    case op::counter: return position_value(n);
    case op::var:
      variables_.resize(std::max<std::size_t>(variables_.size(), n.imm + 1), no_id);
      variables_[n.imm] = src[0];
      is_of_kernel_.resize(variables_.size());
      is_of_kernel_[n.imm] = group_.has_value() || in_kernel();
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
