#include "compiler/interp/run_steps.h"

#include <algorithm>
#include <cstring>

#include "compiler/interp/elementwise.h"
#include "compiler/interp/movement.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/index_poly.h"

namespace kiln::compiler {
namespace {

// A memcpy of one element. The sizes are constants, so the compiler emits single moves.
void copy_element(std::byte* to, const std::byte* from, std::size_t size) {
  switch (size) {
    case 1: *to = *from; break;
    case 2: std::memcpy(to, from, 2); break;
    case 4: std::memcpy(to, from, 4); break;
    default: std::memcpy(to, from, 8); break;
  }
}

}  // namespace

StepRunner::StepRunner(const Graph& g, const StepProgram& steps, WholeEvaluator& whole)
    : g_(g),
      steps_(steps),
      whole_(whole),
      scalars_(steps.scalars),
      arrays_(steps.arrays),
      of_kernel_(steps.promised),
      of_workgroup_(steps.promised) {}

std::map<std::size_t, Array> StepRunner::run() {
  block(steps_.blocks[0]);
  return std::move(stored_);
}

std::int64_t StepRunner::integer(std::uint32_t slot) const {
  std::int64_t v = 0;
  std::memcpy(&v, scalars_[slot].bytes, sizeof v);
  return v;
}

void StepRunner::set_integer(std::uint32_t slot, std::int64_t v) { std::memcpy(scalars_[slot].bytes, &v, sizeof v); }

void StepRunner::block(const Block& b) {  // the recursion is as deep as scopes nest
  for (const Step& s : b.steps) {
    switch (s.kind) {
      case Step::Kind::scalar: scalar(s); continue;
      case Step::Kind::read: read(s); break;
      case Step::Kind::write: write(steps_.writes[s.detail]); break;
      case Step::Kind::fresh: fresh(s); break;
      case Step::Kind::scope: {
        const Scope& scope = steps_.scopes[s.detail];
        scope.kernel ? kernel(scope) : loop(scope);
        break;
      }
      case Step::Kind::whole: whole(s); break;
      case Step::Kind::store: store(s); break;
    }
    for (std::uint32_t a : s.released) arrays_[a].reset();
  }
}

void StepRunner::scalar(const Step& s) {
  Operand in[3];
  for (std::size_t i = 0; i < s.operands; ++i) in[i] = {scalars_[s.in[i]].bytes, true};
  apply_elementwise(s.op, s.dtype, s.type, std::span(in, s.operands), scalars_[s.out.slot].bytes, 1);
}

std::size_t StepRunner::offset(const Access& a, const Array& x) const {
  std::int64_t at = 0;
  for (std::size_t axis = 0; axis < a.index.size(); ++axis) {
    const std::int64_t i = integer(a.index[axis]), n = x.extents[axis];
    if (i < 0 || i >= n)
      throw Diagnostic("E-bounds", where(g_, g_.loc(a.node)),
                       "`" + std::string(name(g_.op(a.node))) + "` expected an index below the extent " + std::to_string(n) +
                           " of axis " + std::to_string(axis) + ", got " + std::to_string(i));
    at = at * n + i;
  }
  return static_cast<std::size_t>(at);
}

void StepRunner::read(const Step& s) {
  const Access& a = steps_.accesses[s.detail];
  ScalarSlot& out = scalars_[s.out.slot];
  if (!s.tensor.place.array) {
    out = scalars_[s.tensor.place.slot];
    return;
  }
  if (a.gated && !truth(a.gate)) {
    out = {};
    return;
  }
  const Array& x = *arrays_[s.tensor.place.slot];
  const std::size_t size = size_of(x.dtype);
  copy_element(out.bytes, x.data.data() + offset(a, x) * size, size);
}

void StepRunner::combine(const Write& w, std::byte* element) {
  const std::size_t size = size_of(w.dtype);
  const std::byte* value = scalars_[w.value].bytes;
  if (!w.atomic) return copy_element(element, value, size);
  copy_element(scalars_[w.old].bytes, element, size);
  if (w.kind == AtomicKind::compare_exchange && std::memcmp(element, scalars_[w.expected].bytes, size) != 0) return;
  if (w.kind >= AtomicKind::exchange) return copy_element(element, value, size);
  const Operand in[] = {{scalars_[w.old].bytes, true}, {value, true}};
  apply_elementwise(operation_of(w.kind), w.dtype, w.dtype, in, element, 1);
}

void StepRunner::keep_promise(const Write& w, std::size_t element) {
  if (!w.promised) return;
  const std::size_t memory = *w.promised;
  const bool in_kernel = !w.of_kernel || of_kernel_.write(memory, element, w.unique);
  if (in_kernel && (workgroup_axes_ == 0 || of_workgroup_.write(memory, element, w.unique))) return;
  throw Diagnostic("E-race", where(g_, g_.loc(w.at.node)),
                   std::string("two work items of ") + (in_kernel ? "a workgroup, between the same barriers," : "the kernel") +
                       " store to one element, number " + std::to_string(element) +
                       " in row-major order, and one promised by `unique` that no other does");
}

void StepRunner::write(const Write& w) {
  assign(w.result, w.state);
  if (!truth(w.at.gate)) {
    if (w.atomic) scalars_[w.old] = {};
    return;
  }
  if (!w.result.array) {
    keep_promise(w, 0);
    return combine(w, scalars_[w.result.slot].bytes);
  }
  Handle& state = arrays_[w.result.slot];
  const std::size_t element = offset(w.at, *state);
  keep_promise(w, element);
  if (state.use_count() > 1) state = std::make_shared<Array>(*state);
  combine(w, state->data.data() + element * size_of(w.dtype));
}

void StepRunner::fresh(const Step& s) {
  arrays_[s.out.slot] = std::make_shared<Array>(whole_.zeros(g_.dtype(s.detail), whole_.extents_of(s.detail)));
}

void StepRunner::whole(const Step& s) {
  std::vector<Array> scalars;
  scalars.reserve(s.sources.size());
  std::vector<const Array*> in;
  for (const Source& source : s.sources) {
    if (source.place.array) {
      in.push_back(arrays_[source.place.slot].get());
      continue;
    }
    const std::byte* from = scalars_[source.place.slot].bytes;
    in.push_back(&scalars.emplace_back(Array{source.dtype, {}, {from, from + bytes(source.dtype)}}));
  }
  Array result = whole_(s.detail, in);
  if (s.out.array)
    arrays_[s.out.slot] = std::make_shared<Array>(std::move(result));
  else
    std::ranges::copy(result.data, scalars_[s.out.slot].bytes);
}

void StepRunner::store(const Step& s) {
  const auto [param, value] = g_.operands<2>(s.detail);
  const auto slot = g_.slot(param);
  const Place from = s.tensor.place;
  if (!from.array) {
    const DType d = g_.dtype(value);
    const std::byte* at = scalars_[from.slot].bytes;
    stored_[slot] = Array{d, {}, {at, at + bytes(d)}};
    return;
  }
  Handle& h = arrays_[from.slot];
  if (s.tensor.last && h.use_count() == 1)
    stored_[slot] = std::move(*h);
  else
    stored_[slot] = *h;
}

void StepRunner::assign(Place to, Use from) {
  if (!to.array)
    scalars_[to.slot] = scalars_[from.place.slot];
  else if (to.slot != from.place.slot)
    arrays_[to.slot] = from.last ? std::move(arrays_[from.place.slot]) : arrays_[from.place.slot];
}

void StepRunner::enter(const Scope& s) {
  for (std::size_t i = 0; i < s.carried.size(); ++i) assign(s.carried[i], s.init[i]);
}

void StepRunner::next_iteration(const Scope& s) {
  if (!s.parallel) {
    for (std::size_t i = 0; i < s.carried.size(); ++i) assign(s.carried[i], s.next[i]);
    return;
  }
  next_scalars_.resize(s.carried.size());
  next_arrays_.resize(s.carried.size());
  for (std::size_t i = 0; i < s.carried.size(); ++i) {
    const Use from = s.next[i];
    if (!from.place.array)
      next_scalars_[i] = scalars_[from.place.slot];
    else
      next_arrays_[i] = from.last ? std::move(arrays_[from.place.slot]) : arrays_[from.place.slot];
  }
  for (std::size_t i = 0; i < s.carried.size(); ++i) {
    if (s.carried[i].array)
      arrays_[s.carried[i].slot] = std::move(next_arrays_[i]);
    else
      scalars_[s.carried[i].slot] = next_scalars_[i];
  }
}

void StepRunner::loop(const Scope& s) {
  enter(s);
  if (s.workgroup && workgroup_axes_++ == 0) of_workgroup_.begin();
  const std::int64_t end = integer(s.ends[0]);
  for (std::int64_t i = integer(s.begin); i < end && (!s.conditional || truth(s.carried[0].slot)); i += s.step) {
    set_integer(s.ranges[0], i);
    block(steps_.blocks[s.body]);
    next_iteration(s);
    if (s.workgroup) of_workgroup_.next_work_item();
  }
  if (s.workgroup) --workgroup_axes_;
}

void StepRunner::kernel(const Scope& s) {
  enter(s);
  std::vector<std::int64_t> ends;
  for (std::uint32_t e : s.ends) ends.push_back(integer(e));
  if (std::ranges::any_of(ends, [](std::int64_t e) { return e <= 0; })) return;
  for (std::uint32_t r : s.ranges) set_integer(r, 0);
  of_kernel_.begin();
  for (bool more = true; more;) {
    block(steps_.blocks[s.body]);
    next_iteration(s);
    of_kernel_.next_work_item();
    more = false;
    for (std::size_t axis = ends.size(); axis-- > 0 && !more;) {
      const std::int64_t i = integer(s.ranges[axis]) + 1;
      more = i < ends[axis];
      set_integer(s.ranges[axis], more ? i : 0);
    }
  }
}

}  // namespace kiln::compiler
