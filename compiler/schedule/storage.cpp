#include "compiler/schedule/storage.h"

#include <algorithm>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/layout.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/scopes.h"
#include "compiler/rangeify/index_expr.h"
#include "compiler/schedule/whole_writes.h"

namespace kiln::compiler {
namespace {

// The initial value of a KERNEL's state: a STAGE whose buffer the KERNEL updates in place.
Id state_stage(const Graph& g, Id kernel, std::size_t state) { return nth(kernel_parts(g, kernel).init, state); }

}  // namespace

std::vector<Id> range_ends(const Graph& g, Id node) {
  std::vector<Id> ends;
  for (Id r : g.src(node).subspan(1)) ends.push_back(g.end(r));
  return ends;
}

Id changed_from(const Graph& g, Id tensor) {
  switch (g.op(tensor)) {
    case Op::STAGE:
    case Op::PARAM:
    case Op::LOCAL: return tensor;
    case Op::CARRY: return g.src(tensor, 1);
    case Op::GET: return nth(scope_inits(g, g.scope(tensor)), g.slot(tensor));
    default: return g.state(tensor);  // of an UPDATE or ATOMIC
  }
}

std::vector<Id> extents_of(const Graph& g, Id tensor) {
  for (Id before = changed_from(g, tensor); before != tensor; before = changed_from(g, tensor)) tensor = before;
  if (g.op(tensor) == Op::STAGE) return range_ends(g, tensor);
  return g.sources(tensor, g.op(tensor) == Op::LOCAL ? 1 : 0);
}

Storage::Storage(Graph& g, Schedule& s, Simplifier& simplify) : g_(g), s_(s), simplify_(simplify), order_(g, s.program.sink) {
  find_producers();
  for (const Id producer : producers_) {
    if (g_.op(producer) == Op::STAGE) take_over(producer);
    if (g_.op(producer) == Op::KERNEL) leave_unfilled(producer);
  }
  const std::vector<Id> ends = g_.sources(s_.program.sink);
  for (const Id end : ends)
    if (!lives_in_parameter(end)) ends_.push_back(end);
  give_buffers();
}

void Storage::find_producers() {
  for (const Id id : g_.reachable(s_.program.sink)) {
    const Op op = g_.op(id);
    if (op == Op::PARAM) buffer_of_[id] = parameter_of(g_, id);
    if (op == Op::STAGE || op == Op::KERNEL) producers_.push_back(id);
    if (op == Op::STAGE || op == Op::KERNEL || (op == Op::GET && g_.op(g_.scope(id)) == Op::KERNEL)) tensors_.push_back(id);
    if (op == Op::KERNEL) {
      const auto init = kernel_parts(g_, id).init;
      for (std::size_t i = 0; i < init.size(); ++i) state_of_[init[i]] = {id, i};
    }
    if (op == Op::INDEX) reads_[g_.data(id)].push_back(id);
    for (const Id read : g_.src(id))
      if (g_.op(read) == Op::INDEX) ++readers_[g_.data(read)];
  }
}

// The STAGE whose buffer a tensor uses.
Id Storage::home_of(Id tensor) const {
  for (;;) {
    if (g_.op(tensor) == Op::GET) tensor = state_stage(g_, g_.scope(tensor), g_.slot(tensor));
    const auto it = taken_.find(tensor);
    if (it == taken_.end()) return tensor;
    tensor = it->second;
  }
}

// Whether `read` is INDEX(tensor, exactly these ranges). An index 0 counts as a range of extent 1.
bool Storage::is_whole(Id read, std::span<const Id> ranges) const {
  if (g_.op(read) != Op::INDEX || g_.src(read).size() != ranges.size() + 1) return false;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Id at = g_.src(read, i + 1);
    if (at != ranges[i] && !(g_.is_index_const(at, 0) && g_.is_index_const(g_.end(ranges[i]), 1))) return false;
  }
  return true;
}

// A STAGE that only copies a tensor shares the tensor's buffer. If the tensor has other readers, the STAGE must be the initial
// value of a KERNEL's state, and the readers must come before that KERNEL.
void Storage::take_over(Id stage) {
  const Id read = g_.data(stage);
  if (!is_whole(read, g_.src(stage).subspan(1))) return;
  const Id tensor = g_.data(read);
  if (g_.op(tensor) == Op::PARAM || overwritten_.contains(tensor) || extents_of(g_, tensor) != range_ends(g_, stage)) return;
  if (readers_[tensor] > 1) {
    const auto state = state_of_.find(stage);
    if (state == state_of_.end() || writes_all(state->second)) return;
    if (!order_.read_before(tensor, stage, state->second.kernel)) return;
    in_iteration_.insert(state->second);
  }
  taken_[stage] = tensor;
  overwritten_.insert(tensor);
}

bool Storage::writes_all(const State& s) const {
  const Id stage = state_stage(g_, s.kernel, s.slot);
  return !reads_.contains(stage) && compiler::writes_all(g_, s.kernel, s.slot, extents_of(g_, stage), reads_);
}

// A state that the KERNEL overwrites as a whole needs no initial contents.
void Storage::leave_unfilled(Id kernel) {
  const std::vector<Id> init(kernel_parts(g_, kernel).init.begin(), kernel_parts(g_, kernel).init.end());
  for (std::size_t i = 0; i < init.size(); ++i)
    if (!taken_.contains(init[i]) && writes_all({kernel, i})) unfilled_.insert(init[i]);
}

// Whether an END copies a whole tensor to a parameter, and the tensor can be computed in the parameter instead.
bool Storage::lives_in_parameter(Id end) {
  const auto [param, read] = g_.operands<2>(g_.store(end));
  if (g_.op(read) != Op::INDEX) return false;
  const Id tensor = g_.data(read);
  if (g_.op(tensor) == Op::PARAM || overwritten_.contains(tensor)) return false;
  const Id home = home_of(tensor);
  if (buffer_of_.contains(home) || in_parameter_.contains(home)) return false;
  // The END must copy all elements in row-major order, no part and no broadcast. The shapes may differ.
  const std::vector<Id> index = g_.sources(read, 1), ranges = g_.sources(end, 1);
  const std::vector<Id> held = extents_of(g_, tensor), whole = range_ends(g_, end);
  const Id elements = index_product(g_, whole);
  if (index_product(g_, held) != elements) return false;
  const Id written = simplify_(row_major(g_, ranges, whole));
  if (simplify_(row_major(g_, index, held)) != written) return false;
  const int slot = parameter_of(g_, param);
  // Strides belong to axes, so here the shapes must be the same.
  if (free_layout(s_, slot) != nullptr && (held != whole || !is_whole(read, ranges))) return false;
  if (nth(s_.program.params, slot).direction != Direction::out) return updates(tensor, param);
  buffer_of_[home] = slot;
  return true;
}

// Whether `tensor` is a KERNEL's result that began as a copy of the parameter. The KERNEL then updates the parameter in place.
bool Storage::updates(Id tensor, Id param) {
  const Id home = home_of(tensor), value = g_.data(home);
  if (g_.op(tensor) != Op::GET || g_.op(value) != Op::INDEX || g_.data(value) != param) return false;
  if (!is_whole(value, g_.src(home).subspan(1)) || !order_.read_before(param, home, state_of_.at(home).kernel)) return false;
  unfilled_.insert(home);
  in_parameter_[home] = parameter_of(g_, param);
  return true;
}

int Storage::new_buffer(Id tensor, int after) {
  Buffer b{g_.dtype(tensor), index_product(g_, extents_of(g_, tensor)), -1, no_id};
  b.after = after;
  s_.buffers.push_back(b);
  return count_of(s_.buffers) - 1;
}

void Storage::give_buffers() {
  for (const Id t : tensors_) {
    if (g_.op(t) == Op::GET) {
      buffer_of_[t] = nth(states_.at(g_.scope(t)), g_.slot(t));
    } else if (g_.op(t) == Op::STAGE) {
      const auto taken = taken_.find(t);
      const auto parameter = in_parameter_.find(t);
      if (taken != taken_.end())
        buffer_of_[t] = buffer_of_.at(taken->second);
      else if (parameter != in_parameter_.end())
        buffer_of_[t] = new_buffer(t, parameter->second);
      else if (!buffer_of_.contains(t))
        buffer_of_[t] = new_buffer(t, -1);
      if (g_.args(t).size() == 1) nth(s_.buffers, buffer_of_.at(t)).whole = true;  // from a `stage`
    } else {
      const std::vector<Id> init(kernel_parts(g_, t).init.begin(), kernel_parts(g_, t).init.end());
      std::vector<int>& states = states_[t];
      for (std::size_t i = 0; i < init.size(); ++i) {
        const int begin = buffer_of_.at(init[i]);
        states.push_back(in_iteration_.contains({t, i}) ? new_buffer(init[i], begin) : begin);
      }
    }
  }
}

}  // namespace kiln::compiler
