#include "compiler/symbolic/value_bounds.h"

#include <vector>

namespace kiln::compiler {

using namespace symbolic;

namespace {

bool is_small_int(DType d) { return is_int(d) && bits(d) <= 32; }
bool is_within(Interval inner, Interval outer) { return inner.min >= outer.min && inner.max <= outer.max; }

// Operations whose known_result() holds for integers, if the result fits the type.
bool is_exact_arithmetic(Op op) {
  switch (op) {
    case Op::NEG:
    case Op::ABS:
    case Op::ADD:
    case Op::SUB:
    case Op::MUL:
    case Op::MIN:
    case Op::MAX:
    case Op::AND:
    case Op::WHERE: return true;
    default: return false;
  }
}

std::int64_t value_of_constant(const Graph& g, Id id) {
  const DType d = g.dtype(id);
  const int unused = 64 - bits(d);
  const auto high = static_cast<std::uint64_t>(g.value(id)) << unused;
  return is_signed_int(d) ? static_cast<std::int64_t>(high) >> unused : static_cast<std::int64_t>(high >> unused);
}

}  // namespace

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
  if (op != Op::CAST && !is_exact_arithmetic(op)) return all;
  std::vector<Known> known;
  for (const Id s : graph_.src(id)) {
    if (is_float(graph_.dtype(s))) return all;
    known.push_back(known_interval(memo_.at(s)));
  }
  const Interval result = op == Op::CAST ? known[0].interval : known_result(op, false, known).interval;
  return is_within(result, all) ? result : all;
}

Interval ValueBounds::operator()(Id root) {
  std::vector<Id> stack{root};
  while (!stack.empty()) {
    const Id id = stack.back();
    const std::size_t before = stack.size();
    if (graph_.op(id) == Op::CAST || is_exact_arithmetic(graph_.op(id)))
      for (const Id s : graph_.src(id))
        if (!memo_.contains(s)) stack.push_back(s);
    if (stack.size() != before) continue;
    if (!memo_.contains(id)) memo_.set(id, derive(id));
    stack.pop_back();
  }
  return memo_.at(root);
}

}  // namespace kiln::compiler
