#include "generator/workgroup_plan.h"

#include <algorithm>
#include <map>
#include <string>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/nth.h"
#include "generator/record_variables.h"

namespace kiln::generator {

using record::op;

namespace {

bool opens(op o) { return o == op::kernel || o == op::loop || o == op::when || o == op::otherwise; }
bool closes(op o) { return o == op::kernel_end || o == op::loop_end || o == op::when_end; }
bool leaves(op o) { return o == op::break_ || o == op::continue_; }
bool is_int(kiln_dtype d) { return d >= KILN_BOOL && d <= KILN_U64; }

std::string where(const record::node& n) {
  return std::string(n.loc.file == nullptr ? "" : n.loc.file) + ":" + std::to_string(n.loc.line) + ":" +
         std::to_string(n.loc.column);
}

}  // namespace

std::vector<std::int64_t> WorkgroupPlan::sizes(const record::node& kernel) {
  std::vector<std::int64_t> out;
  for (std::uint64_t i = 0; i < (kernel.imm & 0xff); ++i)
    if (const std::uint64_t size = i < 3 ? kernel.imm >> (8 + 16 * i) & 0xffff : 0; size != 0)
      out.push_back(compiler::narrow<std::int64_t>(size));
  return out;
}

WorkgroupPlan::WorkgroupPlan(const record::program& in, int kernel) : in_(in), begin_(kernel), end_(kernel) {
  find_scopes();
  number_intervals();
  find_varying();
  check();
  find_cheap();
  find_saved();
}

void WorkgroupPlan::find_scopes() {
  std::vector<int> open;
  int last_when = none;
  for (int i = begin_;; ++i) {
    const record::node& n = node(i);
    closes_.push_back(none);
    before_.push_back(n.o == op::otherwise ? last_when : none);
    if (closes(n.o)) {
      closes_.back() = last_when = open.back();
      open.pop_back();
    }
    scope_.push_back(open.empty() ? none : open.back());
    if (opens(n.o)) open.push_back(i);
    if (open.empty()) break;
    ++end_;
  }
  splits_[begin_] = begin_;
  for (int i = begin_; i <= end_; ++i) {
    if (node(i).o == op::var) private_variables_.insert(node(i).imm);
    if (node(i).o == op::local && !is_shared_array(node(i))) private_arrays_.insert(record::local_tensors + tensor_of(node(i)));
    if (node(i).o != op::barrier && !is_shared_array(node(i))) continue;
    for (int s = scope_[at(i)]; s != none && splits_.emplace(s, i).second;) s = scope_[at(s)];
  }
  for (int i = begin_; i <= end_; ++i)
    if (leaves(node(i).o)) split(i);
}

// If a loop runs once for a workgroup, the conditions around its breaks and continues also do.
void WorkgroupPlan::split(int leave) {
  int loop = scope_[at(leave)];
  while (node(loop).o != op::loop) loop = scope_[at(loop)];
  const auto it = splits_.find(loop);
  if (it == splits_.end()) return;
  const int reason = it->second;
  for (int s = scope_[at(leave)]; s != loop; s = scope_[at(s)]) splits_.emplace(s, reason);
}

bool WorkgroupPlan::of_workgroup(int position) const { return splits_.contains(scope_[at(position)]); }

void WorkgroupPlan::number_intervals() {
  int interval = 0;
  for (int i = begin_; i <= end_; ++i) {
    const int scope = closes_[at(i)] != none ? closes_[at(i)] : i;
    const bool is_boundary = node(i).o == op::barrier || (leaves(node(i).o) && of_workgroup(i)) ||
                             (scope_[at(i)] != none && splits_.contains(scope));
    boundary_.push_back(is_boundary || i == begin_ || i == end_);
    interval += boundary_.back();
    interval_.push_back(interval);
    if (writes_element(node(i).o)) written_.emplace(interval, tensor_of(node(i)));
  }
}

void WorkgroupPlan::find_varying() {
  varies_.assign(interval_.size(), false);
  for (bool again = true; again;) {
    again = false;
    for (int i = begin_; i <= end_; ++i) {
      again = find_varying_variable(i) || again;
      if (varies_[at(i)] || !differs(i)) continue;
      varies_[at(i)] = again = true;
    }
  }
}

bool WorkgroupPlan::find_varying_variable(int i) {
  const record::node& n = node(i);
  if (n.o != op::var && !sets_variable(n)) return false;
  const std::uint64_t variable = *variable_of(n);
  const bool differs = !of_workgroup(i) || std::ranges::any_of(sources(i), [&](int s) { return varies(s); });
  return is_private(variable) && differs && varying_variables_.insert(variable).second;
}

bool WorkgroupPlan::differs(int i) const {
  const record::node& n = node(i);
  switch (n.o) {
    case op::index: return (n.imm & record::of_workgroup) == 0;
    case op::counter: return !splits_.contains(sources(i)[0]);
    case op::atomic: return true;
    case op::get: return variable_varies(n.imm);
    case op::element: {
      const std::uint64_t tensor = tensor_of(n);
      if (const auto variable = variable_of(n); variable && is_private(*variable)) {
        if (variable_varies(*variable)) return true;
        break;
      }
      const bool own = private_arrays_.contains(tensor);
      const bool promised = index_mode_of(n) == record::index_mode::unchecked;
      if (own || written_.contains({interval(i), tensor}) || (promised && !of_workgroup(i))) return true;
      break;
    }
    default: break;
  }
  return std::ranges::any_of(sources(i), [&](int s) { return varies(s); });
}

// Throws if the work items of a workgroup may disagree on a scope that runs once for the workgroup: on its bounds, its
// condition, or a condition before it in the same chain.
void WorkgroupPlan::check() const {
  std::map<int, int> chain;  // by when or otherwise: the first condition up to it that may differ
  const auto differing = [&](int i) {
    for (const int s : sources(i))
      if (varies(s)) return i;
    return none;
  };
  for (int i = begin_ + 1; i < end_; ++i) {
    const op o = node(i).o;
    int wrong = none;
    if (o == op::when || o == op::otherwise) {
      const int before = before_[at(i)] == none ? none : chain[before_[at(i)]];
      chain[i] = wrong = before != none ? before : differing(i);
    } else if (o == op::loop || leaves(o)) {
      wrong = differing(i);
    }
    const auto split = splits_.find(leaves(o) ? scope_[at(i)] : i);
    if (wrong == none || split == splits_.end()) continue;
    const record::node& reason = node(split->second);
    const std::string what = o == op::loop ? "the bounds of the loop" : leaves(o) ? "the break or continue" : "the condition";
    throw compiler::Diagnostic(
        "E-barrier", where(reason),
        std::string(reason.o == op::barrier ? "a barrier" : "a shared array") + " expected " + what +
            " around it to be the same for all work items of the workgroup, got one that may differ, at " + where(node(wrong)));
  }
}

// Finds index values, and integer arithmetic on them and on values that all work items share. Each barrier interval computes
// these again, because passes can analyse an index only if they see its arithmetic.
void WorkgroupPlan::find_cheap() {
  cheap_.assign(interval_.size(), false);
  for (int i = begin_; i <= end_; ++i) {
    const record::node& n = node(i);
    const bool is_arithmetic = n.o >= op::neg && n.o <= op::fma && n.s->rank == 0 && is_int(n.d);
    cheap_[at(i)] = n.o == op::index ||
                    (is_arithmetic && std::ranges::all_of(sources(i), [&](int s) { return !varies(s) || cheap_[at(s)]; }));
  }
}

void WorkgroupPlan::find_saved() {
  std::map<std::uint64_t, int> variables, locals;  // by variable or array: the first barrier interval that uses it
  const auto in_interval = [&](std::map<std::uint64_t, int>& seen, std::uint64_t number, int i,
                               std::set<std::uint64_t>& saved) {
    if (const auto it = seen.emplace(number, interval(i)).first; it->second != interval(i)) saved.insert(number);
  };
  for (int i = begin_; i <= end_; ++i) {
    const record::node& n = node(i);
    if (const auto v = variable_of(n); v && variable_varies(*v)) in_interval(variables, *v, i, variables_);
    const std::uint64_t tensor = n.o == op::local ? record::local_tensors + tensor_of(n) : tensor_of(n);
    if ((n.o == op::local || names_element(n.o)) && private_arrays_.contains(tensor))
      in_interval(locals, tensor - record::local_tensors, i, locals_);
    for (const int s : sources(i))
      if (varies(s) && interval(s) != interval(i) && !cheap_[at(s)] && !opens(node(s).o)) values_.insert(s);
  }
}

}  // namespace kiln::generator
