#include "compiler/ir/builder.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/scopes.h"

namespace kiln::compiler {

void Builder::check_op(Id x, Op op, std::string_view what) const {
  if (graph_.op(x) != op)
    fail("E-scope",
         std::string(what) + " expected a `" + std::string(name(op)) + "`, got a `" + std::string(name(graph_.op(x))) + "`");
}

void Builder::check_scalar(Id x, DType d, std::string_view what) {
  if (graph_.dtype(x) != d)
    fail("E-dtype", std::string(what) + " expected " + std::string(name(d)) + ", got " + std::string(name(graph_.dtype(x))));
  if (shapes_.rank(x) != 0) fail("E-shape", std::string(what) + " expected rank 0, got " + shape_text(shape_of(x)));
}

Id Builder::index_of(Id integer) {
  const DType d = graph_.dtype(integer);
  if (d == DType::index) return integer;
  if (!is_int(d)) fail("E-dtype", "an index expected an integer type, got " + std::string(name(d)));
  check_scalar(integer, d, "an index");
  return graph_.make(Op::CAST, DType::index, {integer});
}

void Builder::check_index(Op op, Id tensor, std::span<const Id> index) {
  const std::string what = "`" + std::string(name(op)) + "`";
  if (graph_.dtype(tensor) >= DType::index)
    fail("E-dtype", what + " expected a tensor, got " + std::string(name(graph_.dtype(tensor))));
  if (std::ssize(index) != shapes_.rank(tensor))
    fail("E-shape", what + " expected an index for each axis of " + shape_text(shape_of(tensor)) + ", got " +
                        std::to_string(index.size()));
  for (Id i : index) check_scalar(i, DType::index, what + "'s index");
}

Id Builder::element(Id tensor, std::span<const Id> index, Id gate) {
  check_index(Op::INDEX, tensor, index);
  std::vector<Id> src{tensor};
  src.insert(src.end(), index.begin(), index.end());
  if (gate != no_id) check_scalar(gate, DType::boolean, "a gate");
  if (gate != no_id && !index.empty())  // rank 0 is always inside
    src[1] = graph_.make(Op::WHERE, DType::index, {gate, src[1], graph_.make(Op::INVALID, DType::index, {})});
  return graph_.make(Op::INDEX, graph_.dtype(tensor), src);
}

Id Builder::update(Id state, Id gate, Id value, std::span<const Id> index, bool unique) {
  check_index(Op::UPDATE, state, index);
  if (gate == no_id) gate = constant(DType::boolean, 1);
  check_scalar(gate, DType::boolean, "a gate");
  check_scalar(value, graph_.dtype(state), "`update`'s value");
  std::vector<Id> src{state, gate, value};
  src.insert(src.end(), index.begin(), index.end());
  const std::int64_t promise[] = {1};
  return graph_.make(Op::UPDATE, graph_.dtype(state), src,
                     unique ? std::span<const std::int64_t>(promise) : std::span<const std::int64_t>());
}

Id Builder::atomic(AtomicKind k, Id state, Id gate, Id value, std::span<const Id> index, Id expected) {
  check_index(Op::ATOMIC, state, index);
  if (gate == no_id) gate = constant(DType::boolean, 1);
  check_scalar(gate, DType::boolean, "a gate");
  const DType d = graph_.dtype(state);
  if (const std::string problem = atomic_problem(k, d); !problem.empty()) fail("E-dtype", problem);
  check_scalar(value, d, "`atomic`'s value");
  if ((k == AtomicKind::compare_exchange) != (expected != no_id))
    fail("E-scope", "`atomic` expected an expected value with compare_exchange, and with no other kind");
  std::vector<Id> src{state, gate, value};
  if (expected != no_id) {
    check_scalar(expected, d, "`atomic`'s expected value");
    src.push_back(expected);
  }
  src.insert(src.end(), index.begin(), index.end());
  return graph_.make(Op::ATOMIC, d, src, {k});
}

Id Builder::old(Id atomic) {
  check_op(atomic, Op::ATOMIC, "`old`");
  return graph_.make(Op::OLD, graph_.dtype(atomic), {atomic});
}

Id Builder::range(Id end, std::int64_t number, RangeKind kind) {
  check_scalar(end, DType::index, "`range`'s end");
  if (number < 0) fail("E-scope", "`range` expected an id >= 0, got " + std::to_string(number));
  return graph_.range(end, number, kind);
}

Id Builder::carry(Id range, Id init, Arg slot) {
  check_op(range, Op::RANGE, "`carry`");
  if (graph_.dtype(init) == DType::none) fail("E-dtype", "`carry` expected a value, got an effect");
  if (slot.value < 0) fail("E-scope", "`carry` expected a slot >= 0, got " + std::to_string(slot.value));
  return graph_.make(Op::CARRY, graph_.dtype(init), {range, init}, {slot});
}

Id Builder::local(DType d, Id range, std::span<const Id> extents, std::int64_t number) {
  check_op(range, Op::RANGE, "`local`");
  check_extents(extents);
  for (Id e : extents)
    if (!graph_.is_const(e)) fail("E-shape", "`local` expected constant extents, got " + shape_text(extents));
  if (d >= DType::index) fail("E-dtype", "`local` expected an element type, got " + std::string(name(d)));
  if (number < 0) fail("E-scope", "`local` expected an id >= 0, got " + std::to_string(number));
  std::vector<Id> src{range};
  src.insert(src.end(), extents.begin(), extents.end());
  return graph_.make(Op::LOCAL, d, src, {number});
}

void Builder::check_slots(Op op, std::span<const Id> init, std::span<const Id> next) {
  const std::string what = "`" + std::string(name(op)) + "`";
  if (init.size() != next.size())
    fail("E-scope", what + " expected as many values at the end as at the beginning, got " + std::to_string(next.size()) +
                        " and " + std::to_string(init.size()));
  for (std::size_t i = 0; i < init.size(); ++i) {
    const DType d = graph_.dtype(init[i]), e = graph_.dtype(next[i]);
    if (d != e || d == DType::none)
      fail("E-dtype", what + " expected a value of one type in slot " + std::to_string(i) + ", got " + std::string(name(d)) +
                          " and " + std::string(name(e)));
    const auto shape = shape_of(init[i]), other = shape_of(next[i]);
    if (shape != other)
      fail("E-shape", what + " expected one shape in slot " + std::to_string(i) + ", got " + shape_text(shape) + " and " +
                          shape_text(other));
  }
}

Id Builder::loop(Id range, Id begin, Id end, std::span<const Id> init, std::span<const Id> yield, std::int64_t step,
                 bool conditional) {
  check_op(range, Op::RANGE, "`for`");
  check_scalar(begin, DType::index, "`for`'s begin");
  check_scalar(end, DType::index, "`for`'s end");
  if (step <= 0) fail("E-scope", "`for` expected a step above 0, got " + std::to_string(step));
  check_slots(Op::FOR, init, yield);
  if (conditional) {
    if (init.empty()) fail("E-scope", "`for` with `while` expected a condition as the first carried value, got none");
    check_scalar(init[0], DType::boolean, "the condition of `for`");
  }
  std::vector<Id> src{range, begin, end};
  src.insert(src.end(), init.begin(), init.end());
  src.insert(src.end(), yield.begin(), yield.end());
  std::vector<std::int64_t> args{std::ssize(init), step};
  if (conditional) args.push_back(1);
  return graph_.make(Op::FOR, DType::none, src, args);
}

Id Builder::kernel(std::span<const Id> ranges, std::span<const Id> init, std::span<const Id> final) {
  if (ranges.empty()) fail("E-scope", "`kernel` expected at least one range, got none");
  for (Id r : ranges) check_op(r, Op::RANGE, "`kernel`");
  check_slots(Op::KERNEL, init, final);
  for (Id t : init)
    if (graph_.dtype(t) == DType::index) fail("E-dtype", "`kernel` expected tensors as its states, got index");
  std::vector<Id> src(ranges.begin(), ranges.end());
  src.insert(src.end(), init.begin(), init.end());
  src.insert(src.end(), final.begin(), final.end());
  return graph_.make(Op::KERNEL, DType::none, src, {ranges.size(), init.size()});
}

Id Builder::get(Id scope, Arg slot) {
  if (!is_scope(graph_.op(scope)))
    fail("E-scope", "`get` expected a `for` or a `kernel`, got a `" + std::string(name(graph_.op(scope))) + "`");
  const auto init = scope_inits(graph_, scope);
  if (slot.value < 0 || slot.value >= std::ssize(init))
    fail("E-scope", "`get` expected a slot below " + std::to_string(init.size()) + ", got " + std::to_string(slot.value));
  return graph_.make(Op::GET, graph_.dtype(nth(init, slot.value)), {scope}, {slot});
}

}  // namespace kiln::compiler
