#include "compiler/autodiff/partials.h"

#include <numbers>

namespace kiln::compiler::autodiff {
namespace {

// One node of the table: y = op(a, b, c), with t times a derivative to make.
struct Row {
  Emit& e;
  Id y;
  std::size_t i;
  Id t;

  Id operand(std::size_t k) const { return e.g.src(y, k); }
  Id a() const { return operand(0); }
  Id b() const { return operand(1); }
  Id number(double v) const { return e.number(e.g.dtype(y), v); }
  Id times(Id d) const { return e.times(t, d); }
};

// d MAX: 1 where the operand is the greater one, 1/2 where both are equal. A constant takes ties, so the derivative of
// max(x, 0) at 0 is 0. NaN compares false.
Id extremum(const Row& r) {
  Emit& e = r.e;
  const Id own = r.operand(r.i), other = r.operand(1 - r.i);
  const bool is_max = e.g.op(r.y) == Op::MAX;
  const Id wins = is_max ? e.less(other, own) : e.less(own, other);
  const Id zero = r.number(0);
  Id rest = zero;
  if (!e.constant_of(other)) {
    const Id half = r.times(r.number(0.5)), ties = e.equal(own, other);
    rest = e.where(ties, half, zero);
  }
  return e.where(wins, r.t, rest);
}

Id power_by_base(const Row& r) {
  Emit& e = r.e;
  const Id a = r.a(), b = r.b();
  const auto exponent = e.constant_of(b);
  if (exponent == 2.0) return r.times(e.mul(r.number(2), a));
  if (exponent == 0.5) return r.times(e.div(r.number(0.5), r.y));
  const Id less = e.sub(b, r.number(1));
  const Id slope = e.mul(b, e.b.elementwise(Op::POW, {a, less}));
  const Id zero = r.number(0);
  if (exponent) return r.times(*exponent == 0 ? zero : slope);
  const Id no_power = e.equal(b, zero), at_zero = e.equal(a, zero);  // there b times infinity
  return r.times(e.where(e.both(no_power, at_zero), zero, slope));
}

Id power_by_exponent(const Row& r) {
  Emit& e = r.e;
  const Id a = r.a(), b = r.b(), zero = r.number(0);
  const Id slope = e.mul(r.y, e.b.elementwise(Op::LOG, {a}));
  const Id at_zero = e.equal(a, zero);
  const Id positive = e.b.elementwise(Op::LE, {zero, b});
  return r.times(e.where(e.both(at_zero, positive), zero, slope));
}

// Functions whose derivative is algebraic. (1 - a)(1 + a) and (a - 1)(a + 1) do not cancel near 1.
Id inverse_function(const Row& r) {
  Emit& e = r.e;
  const Id a = r.a(), one = r.number(1);
  const auto root = [&](Id square) { return e.b.elementwise(Op::SQRT, {square}); };
  const auto plus = [&] { return e.add(a, one); };
  switch (e.g.op(r.y)) {
    case Op::ASIN:
    case Op::ACOS: {
      const Id left = e.sub(one, a), right = plus();
      const Id d = e.div(r.t, root(e.mul(left, right)));
      return e.g.op(r.y) == Op::ASIN ? d : e.neg(d);
    }
    case Op::ATAN: return e.div(r.t, e.fma(a, a, one));
    case Op::ASINH: return e.div(r.t, root(e.fma(a, a, one)));
    case Op::ACOSH: {
      const Id left = e.sub(a, one), right = plus();
      return e.div(r.t, root(e.mul(left, right)));
    }
    default: {  // ATANH
      const Id left = e.sub(one, a), right = plus();
      return e.div(r.t, e.mul(left, right));
    }
  }
}

// atan2(a, b): b / (a a + b b) and -a / (a a + b b).
Id angle(const Row& r) {
  Emit& e = r.e;
  const Id a = r.a(), b = r.b();
  const Id square = e.mul(b, b);
  const Id part = e.div(r.t, e.fma(a, a, square));
  return r.i == 0 ? e.mul(part, b) : e.neg(e.mul(part, a));
}

// fmod(a, b) = a - n b with an integer n.
Id remainder(const Row& r) {
  Emit& e = r.e;
  if (r.i == 0) return r.t;
  const Id multiple = e.sub(r.a(), r.y);
  const Id n = e.b.elementwise(Op::ROUND, {e.div(multiple, r.b())});
  return e.neg(r.times(n));
}

Id unary(const Row& r) {
  Emit& e = r.e;
  const Id a = r.a(), y = r.y, t = r.t;
  const auto f = [&](Op op) { return e.b.elementwise(op, {a}); };
  switch (e.g.op(y)) {
    case Op::NEG: return e.neg(t);
    case Op::ABS: return r.times(f(Op::SIGN));
    case Op::SQRT: return r.times(e.div(r.number(0.5), y));
    case Op::RSQRT: {
      const Id half = e.mul(r.number(-0.5), y);
      return r.times(e.div(half, a));
    }
    case Op::EXP: return r.times(y);
    case Op::EXP2: return r.times(e.mul(y, r.number(std::numbers::ln2)));
    case Op::EXPM1: return r.times(e.add(y, r.number(1)));
    case Op::LOG: return e.div(t, a);
    case Op::LOG2: return e.div(t, e.mul(a, r.number(std::numbers::ln2)));
    case Op::LOG10: return e.div(t, e.mul(a, r.number(std::numbers::ln10)));
    case Op::LOG1P: return e.div(t, e.add(a, r.number(1)));
    case Op::CBRT: {
      const Id square = e.mul(y, y);
      return e.div(t, e.mul(r.number(3), square));
    }
    case Op::SIGMOID: {
      const Id negative = e.neg(y);
      return r.times(e.fma(negative, y, y));
    }
    case Op::SINH: return r.times(f(Op::COSH));
    case Op::COSH: return r.times(f(Op::SINH));
    case Op::ASIN:
    case Op::ACOS:
    case Op::ATAN:
    case Op::ASINH:
    case Op::ACOSH:
    case Op::ATANH: return inverse_function(r);
    case Op::SIN: return r.times(f(Op::COS));
    case Op::COS: return r.times(e.neg(f(Op::SIN)));
    case Op::TAN: return r.times(e.fma(y, y, r.number(1)));
    case Op::TANH: {
      const Id minus = e.neg(y);
      return r.times(e.fma(minus, y, r.number(1)));
    }
    default: {  // ERF: 2 / sqrt(pi) * exp(-a * a)
      const Id inner = e.neg(e.mul(a, a));
      const Id bell = e.b.elementwise(Op::EXP, {inner});
      return r.times(e.mul(r.number(2 * std::numbers::inv_sqrtpi), bell));
    }
  }
}

Id of_row(const Row& r) {
  Emit& e = r.e;
  const Op op = e.g.op(r.y);
  if (is_unary(op)) return unary(r);
  switch (op) {
    case Op::ADD: return r.t;
    case Op::SUB: return r.i == 0 ? r.t : e.neg(r.t);
    case Op::MUL: return r.times(r.operand(1 - r.i));
    case Op::FMA: return r.i == 2 ? r.t : r.times(r.operand(1 - r.i));
    case Op::FDIV: {
      const Id part = e.div(r.t, r.b());
      return r.i == 0 ? part : e.mul(e.neg(part), r.y);
    }
    case Op::POW: return r.i == 0 ? power_by_base(r) : power_by_exponent(r);
    case Op::ATAN2: return angle(r);
    case Op::FMOD: return remainder(r);
    case Op::MIN:
    case Op::MAX: return extremum(r);
    default: {  // WHERE
      const Id zero = r.number(0);
      return r.i == 1 ? e.where(r.a(), r.t, zero) : e.where(r.a(), zero, r.t);
    }
  }
}

// Whether the derivative is 1, -1 or a choice, which needs no arithmetic.
bool is_exact(Op op) {
  return op == Op::NEG || op == Op::ADD || op == Op::SUB || op == Op::WHERE || op == Op::ABS || op == Op::MUL;
}

}  // namespace

unsigned derivative_operands(Op op) {
  switch (op) {
    case Op::NEG:
    case Op::ABS:
    case Op::SQRT:
    case Op::RSQRT:
    case Op::EXP:
    case Op::EXP2:
    case Op::EXPM1:
    case Op::LOG:
    case Op::LOG2:
    case Op::LOG10:
    case Op::LOG1P:
    case Op::CBRT:
    case Op::SIGMOID:
    case Op::ASIN:
    case Op::ACOS:
    case Op::ATAN:
    case Op::SINH:
    case Op::COSH:
    case Op::ASINH:
    case Op::ACOSH:
    case Op::ATANH:
    case Op::SIN:
    case Op::COS:
    case Op::TAN:
    case Op::TANH:
    case Op::ERF:
    case Op::CAST:
    case Op::BITCAST: return 1;
    case Op::ADD:
    case Op::SUB:
    case Op::MUL:
    case Op::FDIV:
    case Op::POW:
    case Op::ATAN2:
    case Op::FMOD:
    case Op::MIN:
    case Op::MAX: return 3;
    case Op::WHERE: return 6;
    case Op::FMA: return 7;
    default: return 0;
  }
}

Id times_partial(Emit& e, Id node, std::size_t i, Id t, bool back) {
  const DType d = e.g.dtype(node);
  const Op op = e.g.op(node);
  if (op == Op::CAST) return e.b.cast(t, back ? e.g.dtype(e.g.src(node, 0)) : d);
  if (!is_half(d) || is_exact(op)) return of_row({e, node, i, t});
  std::vector<Id> wide;
  for (const Id s : e.g.sources(node)) wide.push_back(is_half(e.g.dtype(s)) ? e.b.cast(s, DType::f32) : s);
  const Id again = e.b.elementwise(op, wide);
  const Id product = of_row({e, again, i, e.b.cast(t, DType::f32)});
  return e.b.cast(product, d);
}

}  // namespace kiln::compiler::autodiff
