#include "compiler/proof/evaluate.h"

#include <algorithm>

namespace kiln::compiler {
namespace {

constexpr ExactValue too_wide{0, ValueKind::wide}, absent{0, ValueKind::absent};
constexpr int max_shift = 62;

ExactValue exact(Wide v) { return {v, ValueKind::exact}; }

// Uses 64-bit division if the operands fit, because 128-bit division is ten times slower.
Wide truncated(Wide a, Wide b) {
  const auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
  return x == a && y == b && y != -1 ? x / y : a / b;
}

Wide floored(Wide a, Wide b) {
  if (b == 0) return 0;
  const Wide q = truncated(a, b);
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

ExactValue shifted(Op op, Wide a, Wide b) {
  if (b < 0 || b > max_shift) return absent;
  if (op == Op::SHR) return exact(a >> b);
  Wide v = 0;
  return __builtin_mul_overflow(a, Wide{1} << b, &v) ? too_wide : exact(v);
}

ExactValue apply(Op op, Wide a, Wide b) {
  Wide v = 0;
  switch (op) {
    case Op::ADD: return __builtin_add_overflow(a, b, &v) ? too_wide : exact(v);
    case Op::SUB: return __builtin_sub_overflow(a, b, &v) ? too_wide : exact(v);
    case Op::MUL: return __builtin_mul_overflow(a, b, &v) ? too_wide : exact(v);
    case Op::FLOORDIV: return exact(floored(a, b));
    case Op::FLOORMOD: return exact(b == 0 ? 0 : a - floored(a, b) * b);
    case Op::CDIV: return exact(b == 0 ? 0 : truncated(a, b));
    case Op::CMOD: return exact(b == 0 ? 0 : a - truncated(a, b) * b);
    case Op::MIN: return exact(std::min(a, b));
    case Op::MAX: return exact(std::max(a, b));
    case Op::LT: return exact(a < b ? 1 : 0);
    case Op::LE: return exact(a <= b ? 1 : 0);
    case Op::EQ: return exact(a == b ? 1 : 0);
    case Op::NE: return exact(a != b ? 1 : 0);
    case Op::AND: return exact(a & b);
    case Op::OR: return exact(a | b);
    case Op::XOR: return exact(a ^ b);
    case Op::SHL:
    case Op::SHR: return shifted(op, a, b);
    default: return too_wide;
  }
}

bool is_zero(const ExactValue& v) { return v.kind == ValueKind::exact && v.value == 0; }

}  // namespace

Evaluator::Evaluator(const Graph& g, std::span<const Id> variables, std::span<const Id> roots)
    : g_(g), variables_(variables.begin(), variables.end()), values_(g.size()) {
  for (Id id : g.reachable(roots)) {
    if (g.op(id) == Op::CONST)
      values_[id] = exact(g.value(id));
    else if (g.op(id) != Op::SYM)
      order_.push_back(id);
  }
}

void Evaluator::at(std::span<const std::int64_t> point) {
  for (std::size_t i = 0; i < variables_.size(); ++i) values_[variables_[i]] = exact(point[i]);
  for (Id id : order_) values_[id] = derived(id);
}

ExactValue Evaluator::derived(Id id) const {
  const auto src = g_.src(id);
  const ExactValue& a = values_[src[0]];
  // A conjunct that is false determines the result, even if the other has no value.
  if (g_.op(id) == Op::AND && (is_zero(a) || is_zero(values_[src[1]]))) return exact(0);
  if (g_.op(id) == Op::WHERE) return a.kind != ValueKind::exact ? a : values_[src[a.value != 0 ? 1 : 2]];
  for (Id s : src)
    if (values_[s].kind != ValueKind::exact) return values_[s];
  switch (g_.op(id)) {
    case Op::NEG: return exact(-a.value);
    case Op::ABS: return exact(a.value < 0 ? -a.value : a.value);
    case Op::NOT: return exact(a.value == 0 ? 1 : 0);
    default: return src.size() == 2 ? apply(g_.op(id), a.value, values_[src[1]].value) : too_wide;
  }
}

}  // namespace kiln::compiler
