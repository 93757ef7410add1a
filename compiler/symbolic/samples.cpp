#include "compiler/symbolic/samples.h"

namespace kiln::compiler::symbolic {
namespace {

using Value = std::optional<std::int64_t>;

// Within 2^62, so that no operation on it overflows.
Value kept(Value v) { return v && *v <= unbounded / 2 && *v >= -unbounded / 2 ? v : Value(); }

Value added(Value a, Value b) { return a && b ? kept(*a + *b) : Value(); }  // of values within 2^62
Value multiplied(Value a, Value b) {
  std::int64_t v = 0;
  return a && b && !__builtin_mul_overflow(*a, *b, &v) ? kept(v) : Value();
}

Value computed(Op op, Value x, Value y, Value z) {
  if (op == Op::WHERE) return !x ? Value() : *x != 0 ? y : z;
  if (!x || !y) return std::nullopt;
  const std::int64_t a = *x, b = *y;
  std::int64_t v = 0;
  switch (op) {
    case Op::ADD: return a + b;  // of values within 2^62
    case Op::SUB: return a - b;
    case Op::MUL: return __builtin_mul_overflow(a, b, &v) ? Value() : v;
    case Op::NEG: return -a;
    case Op::ABS: return a < 0 ? -a : a;
    case Op::FLOORDIV: return floor_div(a, b);
    case Op::FLOORMOD: return floor_mod(a, b);
    case Op::CDIV: return b == 0 ? 0 : a / b;
    case Op::CMOD: return b == 0 ? 0 : a % b;
    case Op::MIN: return std::min(a, b);
    case Op::MAX: return std::max(a, b);
    case Op::LT: return a < b;
    case Op::LE: return a <= b;
    case Op::EQ: return a == b;
    case Op::NE: return a != b;
    case Op::NOT: return a == 0;
    case Op::AND: return a & b;
    case Op::OR: return a | b;
    case Op::XOR: return a ^ b;
    default: return std::nullopt;
  }
}

Value result(Op op, Value x, Value y, Value z) { return kept(computed(op, x, y, z)); }

}  // namespace

// Small values, with both ends; different symbols get different ones.
Value Samples::leaf(Id id, std::size_t point) const {
  const std::uint64_t mix = graph_[id].hash >> (8 * point);
  if (graph_.op(id) == Op::SYM && graph_.dtype(id) == DType::index) {
    const SymFact f = facts_.of(graph_.name(id));
    const std::int64_t step = std::max<std::int64_t>(1, f.multiple_of);
    if (f.min < -unbounded / 2 || f.max > unbounded / 2 || step > unbounded / 2) return std::nullopt;
    const std::int64_t first = -floor_div(-f.min, step), last = floor_div(f.max, step);  // in steps
    if (first > last) return std::nullopt;
    const std::int64_t span = std::min<std::int64_t>(last - first, point == 3 ? 1000 : 12);
    const std::int64_t offset = point == 0   ? 0
                                : point == 1 ? span
                                             : static_cast<std::int64_t>(mix % static_cast<std::uint64_t>(span + 1));
    return (first + offset) * step;
  }
  if (graph_.op(id) != Op::RANGE) return std::nullopt;
  const Value end = memo_.at(graph_.src(id, 0))[point];
  if (!end || *end < 1) return std::nullopt;
  return point == 0 ? 0 : point == 1 ? *end - 1 : static_cast<std::int64_t>(mix % static_cast<std::uint64_t>(*end));
}

Samples::Values Samples::derive(Id id) const {
  Values v{};
  const Op op = graph_.op(id);
  const auto src = graph_.src(id);
  for (std::size_t i = 0; i < points; ++i) {
    if (op == Op::CONST) {
      v[i] = kept(graph_.arg(id, 0));
    } else if (op == Op::SYM || op == Op::RANGE) {
      v[i] = leaf(id, i);
    } else if (is_elementwise(op) && op != Op::CAST && op != Op::FMA && !src.empty()) {
      const auto source = [&](std::size_t s) { return memo_.at(src[std::min(s, src.size() - 1)])[i]; };
      v[i] = result(op, source(0), source(1), source(2));
    }
  }
  return v;
}

const Samples::Values& Samples::at(Id root) {
  if (const Values* v = memo_.find(root)) return *v;
  stack_.assign(1, root);
  while (!stack_.empty()) {
    const Id id = stack_.back();
    const std::size_t before = stack_.size();
    if (!memo_.contains(id)) {
      const bool inner = graph_.lanes(id) == 1 && (graph_.dtype(id) == DType::index || graph_.dtype(id) == DType::boolean);
      if (inner)
        for (Id s : graph_.src(id))
          if (!memo_.contains(s)) stack_.push_back(s);
      if (stack_.size() != before) continue;
      memo_.set(id, inner ? derive(id) : Values{});
    }
    stack_.pop_back();
  }
  return memo_.at(root);
}

void Samples::choose_points() {
  chosen_ = true;
  allowed_.fill(true);
  for (Id id : facts_.nonnegative) {
    const Values v = at(id);
    for (std::size_t i = 0; i < points; ++i) allowed_[i] = allowed_[i] && v[i] && *v[i] >= 0;
  }
}

bool Samples::differ(Id a, Id b) {
  if (!chosen_) choose_points();
  const Values u = at(a), v = at(b);
  for (std::size_t i = 0; i < points; ++i)
    if (allowed_[i] && u[i] && v[i] && *u[i] != *v[i]) return true;
  return false;
}

bool Samples::some_negative(const Sum& p, std::span<const Id> inside) {
  if (!chosen_) choose_points();
  std::array<bool, points> happens = allowed_;
  for (Id id : inside) {
    const Values& v = at(id);
    for (std::size_t i = 0; i < points; ++i) happens[i] = happens[i] && v[i].has_value();
  }
  std::array<Value, points> sum;
  for (std::size_t i = 0; i < points; ++i)
    if (happens[i]) sum[i] = 0;
  for (const Term& t : p) {
    std::array<Value, points> product;
    product.fill(kept(t.coefficient));
    for (Id a : t.atoms) {
      const Values& v = at(a);
      for (std::size_t i = 0; i < points; ++i) product[i] = multiplied(product[i], v[i]);
    }
    for (std::size_t i = 0; i < points; ++i) sum[i] = added(sum[i], product[i]);
  }
  return std::ranges::any_of(sum, [](const Value& v) { return v && *v < 0; });
}

}  // namespace kiln::compiler::symbolic
