#include "compiler/symbolic/value_bounds.h"

#include <algorithm>
#include <vector>

namespace kiln::compiler {

using namespace symbolic;

namespace {

bool is_small_int(DType d) { return is_int(d) && bits(d) <= 32; }
bool is_within(Interval inner, Interval outer) { return inner.min >= outer.min && inner.max <= outer.max; }

bool has_bounds(Op op) { return op == Op::CAST || op == Op::FMA || op == Op::REDUCE || is_exact_arithmetic(op); }

std::int64_t value_of_constant(const Graph& g, Id id) {
  const DType d = g.dtype(id);
  const int unused = 64 - bits(d);
  const auto high = static_cast<std::uint64_t>(g.value(id)) << unused;
  return is_signed_int(d) ? static_cast<std::int64_t>(high) >> unused : static_cast<std::int64_t>(high >> unused);
}

}  // namespace

bool is_exact_arithmetic(Op op) {
  switch (op) {
    case Op::NEG:
    case Op::ABS:
    case Op::ADD:
    case Op::SUB:
    case Op::MUL:
    case Op::CDIV:
    case Op::CMOD:
    case Op::FLOORDIV:
    case Op::FLOORMOD:
    case Op::MIN:
    case Op::MAX:
    case Op::AND:
    case Op::OR:
    case Op::XOR:
    case Op::SHL:
    case Op::SHR:
    case Op::WHERE: return true;
    default: return false;
  }
}

// The interval of a sum of terms or of products; `anything` for other reductions.
Interval ValueBounds::reduced(Id id) {
  const ReduceKind kind = graph_.reduce_kind(id);
  std::vector<Interval> operands;
  Interval count{1, 1};
  for (const Id s : graph_.src(id)) {
    const Interval i = memo_.at(s);
    if (graph_.op(s) == Op::RANGE)
      count = mul(count, {0, std::max<std::int64_t>(0, i.max) + 1});
    else
      operands.push_back(i);
  }
  if (kind == ReduceKind::sum) return mul(operands[0], count);
  if (kind == ReduceKind::fma) return mul(mul(operands[0], operands[1]), count);
  return anything;
}

Interval ValueBounds::derive(Id id) {
  const Op op = graph_.op(id);
  const DType d = graph_.dtype(id);
  if (d == DType::index) return indices_(id);
  if (!is_small_int(d)) return known_dtype(d).interval;
  const Interval all = known_dtype(d).interval;
  if (op == Op::CONST) {
    const std::int64_t v = value_of_constant(graph_, id);
    return {v, v};
  }
  if (op == Op::POPCOUNT || op == Op::CLZ) return {0, bits(d)};
  if (!has_bounds(op)) return all;
  if (op == Op::REDUCE) {
    const Interval result = reduced(id);
    return is_within(result, all) ? result : all;
  }
  std::vector<Known> known;
  for (const Id s : graph_.src(id)) {
    if (is_float(graph_.dtype(s))) return all;
    known.push_back(known_interval(memo_.at(s)));
  }
  // Counts outside of the width are masked.
  if ((op == Op::SHL || op == Op::SHR) && !is_within(known[1].interval, {0, bits(d) - 1})) return all;
  const Interval result = op == Op::CAST  ? known[0].interval
                          : op == Op::FMA ? add(mul(known[0].interval, known[1].interval), known[2].interval)
                                          : known_result(op, false, known).interval;
  return is_within(result, all) ? result : all;
}

Interval ValueBounds::operator()(Id root) {
  std::vector<Id> stack{root};
  while (!stack.empty()) {
    const Id id = stack.back();
    const std::size_t before = stack.size();
    if (has_bounds(graph_.op(id)))
      for (const Id s : graph_.src(id))
        if (!memo_.contains(s)) stack.push_back(s);
    if (stack.size() != before) continue;
    if (!memo_.contains(id)) memo_.set(id, derive(id));
    stack.pop_back();
  }
  return memo_.at(root);
}

}  // namespace kiln::compiler
