// Makers of elementwise operations for random programs.
#include <algorithm>

#include "compiler/ir/typing.h"
#include "tests/fuzz/random_program.h"

namespace kiln::compiler::testing {
namespace {

Id as_class(ProgramState& s, Id x, Op op) {
  if (in_classes(operand_classes(op), s.g.dtype(x))) return x;
  for (int attempt = 0; attempt < 4; ++attempt)
    if (const DType d = s.dtype(); in_classes(operand_classes(op), d)) return s.as(x, d);
  return s.as(x, operand_classes(op).find('F') != std::string_view::npos ? DType::f32 : DType::i32);
}

Id unary(ProgramState& s, Id x) {
  static constexpr Op ops[] = {Op::NEG,   Op::NEG,  Op::NOT,   Op::ABS,   Op::SIGN,     Op::SQRT,
                               Op::FLOOR, Op::CEIL, Op::ROUND, Op::TRUNC, Op::POPCOUNT, Op::CLZ};
  const Op op = s.draw.of(ops);
  return s.b.elementwise(op, {as_class(s, x, op)});
}

Id transcendental(ProgramState& s, Id x) {
  static constexpr Op ops[] = {Op::RSQRT, Op::EXP,  Op::EXP,  Op::EXP2, Op::EXPM1, Op::LOG,   Op::LOG2,  Op::LOG1P,   Op::SIN,
                               Op::COS,   Op::TAN,  Op::TANH, Op::ERF,  Op::POW,   Op::LOG10, Op::CBRT,  Op::SIGMOID, Op::ASIN,
                               Op::ACOS,  Op::ATAN, Op::SINH, Op::COSH, Op::ASINH, Op::ACOSH, Op::ATANH, Op::ATAN2,   Op::FMOD};
  const Op op = s.draw.of(ops);
  x = as_class(s, x, op);
  return is_binary(op) ? s.b.elementwise(op, {x, s.like(x)}) : s.b.elementwise(op, {x});
}

Id arithmetic(ProgramState& s, Id x) {
  static constexpr Op ops[] = {Op::ADD, Op::ADD, Op::SUB, Op::MUL, Op::MUL, Op::MIN, Op::MAX, Op::FDIV};
  const Op op = s.draw.of(ops);
  x = as_class(s, x, op);
  const Id y = s.like(x);
  return s.draw.one_in(2) ? s.b.elementwise(op, {x, y}) : s.b.elementwise(op, {y, x});
}

Id fused(ProgramState& s, Id x) {
  x = as_class(s, x, Op::FMA);
  return s.b.elementwise(Op::FMA, {x, s.like(x), s.like(x)});
}

Id integer(ProgramState& s, Id x) {
  static constexpr Op ops[] = {Op::CDIV, Op::CMOD, Op::FLOORDIV, Op::FLOORMOD, Op::AND, Op::OR, Op::XOR, Op::SHL, Op::SHR};
  const Op op = s.draw.of(ops);
  x = as_class(s, x, op);
  return s.b.elementwise(op, {x, s.like(x)});
}

Id compare(ProgramState& s, Id x) {
  static constexpr Op ops[] = {Op::LT, Op::LE, Op::EQ, Op::NE};
  const Op op = s.draw.of(ops);
  return s.b.elementwise(op, {x, s.like(x)});
}

Id choose(ProgramState& s, Id x) {
  const Id y = s.like(x);
  const Id c = s.g.dtype(x) == DType::boolean && s.draw.one_in(2) ? x : compare(s, x);
  return s.draw.one_in(2) ? s.b.elementwise(Op::WHERE, {c, x, y}) : s.b.elementwise(Op::WHERE, {c, y, x});
}

Id cast(ProgramState& s, Id x) { return s.as(x, s.dtype()); }

// A NaN's bits are unspecified, so NaNs are replaced first.
Id bitcast(ProgramState& s, Id x) {
  const DType from = s.g.dtype(x);
  std::vector<DType> to;
  for (int d = 1; d <= static_cast<int>(DType::f64); ++d)
    if (bits(static_cast<DType>(d)) == bits(from) && static_cast<DType>(d) != from) to.push_back(static_cast<DType>(d));
  if (from == DType::boolean || to.empty()) return x;
  if (is_float(from)) x = s.b.elementwise(Op::WHERE, {s.b.elementwise(Op::EQ, {x, x}), x, s.number(from, 1)});
  return s.b.bitcast(x, s.draw.of(to));
}

Id ramp(ProgramState& s, Id x) {  // x plus its indices along an axis
  const std::vector<Id> shape = s.b.shape_of(x);
  if (shape.empty() || s.g.dtype(x) == DType::boolean) return x;
  const auto axis = static_cast<std::size_t>(s.draw.below(static_cast<int>(shape.size())));
  std::vector<Id> extents(shape.size(), s.g.index(1));
  extents[axis] = shape[axis];
  const Id i = s.b.reshape(s.b.iota(s.g.dtype(x), shape[axis]), extents);
  return s.b.elementwise(s.draw.one_in(2) ? Op::ADD : Op::MUL, {x, i});
}

Id extent_value(ProgramState& s, Id x) {
  const std::vector<Id> shape = s.b.shape_of(x);
  if (shape.empty() || s.g.dtype(x) == DType::boolean) return x;
  return s.b.elementwise(Op::ADD, {x, s.b.extent_value(s.g.dtype(x), s.draw.of(shape))});
}

Id chain(ProgramState& s, Id x) {
  const int steps = s.draw.between(3, 7);
  for (int i = 0; i < steps; ++i) x = s.draw.one_in(3) ? unary(s, x) : s.draw.one_in(3) ? choose(s, x) : arithmetic(s, x);
  return x;
}

}  // namespace

std::vector<WeightedMaker> elementwise_makers() {
  return {{arithmetic, 10}, {unary, 5}, {transcendental, 3}, {fused, 2}, {integer, 4},      {compare, 2},
          {choose, 4},      {cast, 4},  {bitcast, 2},        {ramp, 3},  {extent_value, 1}, {chain, 3}};
}

}  // namespace kiln::compiler::testing
