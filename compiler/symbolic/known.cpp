#include "compiler/symbolic/known.h"

#include <numeric>

#include "compiler/index/floor_div.h"
#include "compiler/symbolic/known_bits.h"

namespace kiln::compiler::symbolic {
namespace {

Congruence congruent(std::int64_t stride, std::int64_t offset) {
  if (stride == 0) return {0, offset};
  return {stride, floor_mod(offset, stride)};
}

Congruence add_residue(Congruence a, Congruence b, bool minus) {
  std::int64_t o = 0;
  if (minus ? __builtin_sub_overflow(a.offset, b.offset, &o) : __builtin_add_overflow(a.offset, b.offset, &o))
    return no_residue;
  return congruent(std::gcd(a.stride, b.stride), o);
}

Congruence mul_residue(Congruence a, Congruence b) {
  std::int64_t ss = 0, so = 0, os = 0, oo = 0;
  if (__builtin_mul_overflow(a.stride, b.stride, &ss) || __builtin_mul_overflow(a.stride, b.offset, &so) ||
      __builtin_mul_overflow(a.offset, b.stride, &os) || __builtin_mul_overflow(a.offset, b.offset, &oo))
    return no_residue;
  if (so == INT64_MIN || os == INT64_MIN) return no_residue;  // it has no absolute value
  return congruent(std::gcd(std::gcd(ss, so), os), oo);
}

Congruence either(Congruence a, Congruence b) {
  std::int64_t d = 0;
  if (__builtin_sub_overflow(a.offset, b.offset, &d) || d == INT64_MIN) return no_residue;
  return congruent(std::gcd(std::gcd(a.stride, b.stride), d), a.offset);
}

Congruence div_residue(Congruence a, Congruence b) {
  if (b.stride != 0 || b.offset <= 0 || a.stride % b.offset != 0) return no_residue;
  return congruent(a.stride / b.offset, floor_div(a.offset, b.offset));
}

Congruence mod_residue(Congruence a, Congruence b) {
  if (b.stride != 0 || b.offset <= 0) return no_residue;
  if (a.stride % b.offset == 0) return {0, floor_mod(a.offset, b.offset)};
  return congruent(std::gcd(a.stride, b.offset), a.offset);
}

// a <= b for ends of intervals. Two ends that both mean "unbounded" have no order.
bool ends_in_order(std::int64_t a, std::int64_t b) { return a < b || (a == b && a > -unbounded && a < unbounded); }
Interval less(Interval a, Interval b) { return {a.max < b.min ? 1 : 0, ends_in_order(b.max, a.min) ? 0 : 1}; }
Interval less_equal(Interval a, Interval b) { return {ends_in_order(a.max, b.min) ? 1 : 0, b.max < a.min ? 0 : 1}; }
Interval inverted(Interval a) { return {1 - a.max, 1 - a.min}; }
Interval equal(const Known& a, const Known& b) {
  if (a.interval.max < b.interval.min || b.interval.max < a.interval.min) return {0, 0};
  if (a.interval.single() && a.interval == b.interval) return {1, 1};
  std::int64_t d = 0;
  const std::int64_t stride = std::gcd(a.residue.stride, b.residue.stride);
  if (stride > 1 && !__builtin_sub_overflow(a.residue.offset, b.residue.offset, &d) && d % stride != 0) return {0, 0};
  return either_truth;
}

Known condition_of(Op op, std::span<const Known> src) {
  const Interval a = src[0].interval, b = src.size() > 1 ? src[1].interval : a;
  switch (op) {
    case Op::LT: return known_condition(less(a, b));
    case Op::LE: return known_condition(less_equal(a, b));
    case Op::EQ: return known_condition(equal(src[0], src[1]));
    case Op::NE: return known_condition(inverted(equal(src[0], src[1])));
    case Op::NOT: return known_condition(inverted(a));
    case Op::AND: return known_condition({std::min(a.min, b.min), std::min(a.max, b.max)});
    case Op::OR: return known_condition({std::max(a.min, b.min), std::max(a.max, b.max)});
    case Op::XOR:
      return known_condition(a.min == a.max && b.min == b.max ? Interval{a.min ^ b.min, a.min ^ b.min} : either_truth);
    default: return known_condition(either_truth);
  }
}

Known joined(const Known& a, const Known& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {unite(a.interval, b.interval), either(a.residue, b.residue)};
}

Interval truncating(Op op, Interval a, Interval b) {
  if (a.min >= 0 && b.min >= 0) return op == Op::CDIV ? div(a, b) : mod(a, b);
  if (a.min == -unbounded || a.max == unbounded) return anything;
  const std::int64_t most = std::max(-a.min, a.max);  // neither quotient nor remainder is larger than a in magnitude
  if (op == Op::CDIV) return {a.min >= 0 && b.min >= 0 ? 0 : -most, most};
  return {std::min<std::int64_t>(a.min, 0), std::max<std::int64_t>(a.max, 0)};
}

Known shifted(Op op, const Known& a, const Known& b) {
  if (!b.interval.single() || b.interval.min < 0 || b.interval.min > 61) return known_interval(anything);
  const Known p = known_constant(std::int64_t{1} << b.interval.min);
  if (op == Op::SHL) return {mul(a.interval, p.interval), mul_residue(a.residue, p.residue)};
  return {div(a.interval, p.interval), div_residue(a.residue, p.residue)};
}

}  // namespace

Known known_constant(std::int64_t v) {
  const std::int64_t c = std::clamp(v, -unbounded, unbounded);
  return {{c, c}, {0, v}};
}
Known known_interval(Interval i) { return {i, no_residue}; }
Known known_condition(Interval i) { return {i, no_residue}; }

Known known_dtype(DType d) {
  if (d == DType::boolean) return known_condition(either_truth);
  if (is_signed_int(d) && bits(d) < 64)
    return known_interval({-(std::int64_t{1} << (bits(d) - 1)), (std::int64_t{1} << (bits(d) - 1)) - 1});
  if (is_unsigned_int(d) && bits(d) < 64) return known_interval({0, (std::int64_t{1} << bits(d)) - 1});
  if (d == DType::u64) return known_interval({0, unbounded});
  return known_interval(anything);
}

Known narrowed(Known k) {
  const Congruence c = k.residue;
  if (k.empty()) return k;
  if (c.stride == 0) return known_constant(c.offset);
  if (c.stride == 1) return k;
  Interval& i = k.interval;
  if (i.min != -unbounded) {
    const std::int64_t up = floor_mod(c.offset - floor_mod(i.min, c.stride), c.stride);
    i.min = i.min > unbounded - up ? unbounded : i.min + up;
  }
  if (i.max != unbounded) {
    const std::int64_t down = floor_mod(floor_mod(i.max, c.stride) - c.offset, c.stride);
    i.max = i.max < -unbounded + down ? -unbounded : i.max - down;
  }
  return k;
}

Known intersected(Known k, Interval i) {
  k.interval = {std::max(k.interval.min, i.min), std::min(k.interval.max, i.max)};
  return narrowed(k);
}

Known known_result(Op op, bool condition, std::span<const Known> src) {
  if (op == Op::WHERE) {
    if (src[0].interval == Interval{1, 1}) return src[1];
    if (src[0].interval == Interval{0, 0}) return src[2];
    return joined(src[1], src[2]);
  }
  for (const Known& k : src)
    if (k.empty()) return no_value;
  if (condition) return condition_of(op, src);
  const Known &a = src[0], &b = src.size() > 1 ? src[1] : a;
  switch (op) {
    case Op::ADD: return narrowed({add(a.interval, b.interval), add_residue(a.residue, b.residue, false)});
    case Op::SUB: return narrowed({sub(a.interval, b.interval), add_residue(a.residue, b.residue, true)});
    case Op::MUL: return narrowed({mul(a.interval, b.interval), mul_residue(a.residue, b.residue)});
    case Op::NEG: return narrowed({sub({0, 0}, a.interval), add_residue({0, 0}, a.residue, true)});
    case Op::FLOORDIV: return narrowed({div(a.interval, b.interval), div_residue(a.residue, b.residue)});
    case Op::FLOORMOD: return narrowed({mod(a.interval, b.interval), mod_residue(a.residue, b.residue)});
    case Op::MIN:
      return narrowed(
          {{std::min(a.interval.min, b.interval.min), std::min(a.interval.max, b.interval.max)}, either(a.residue, b.residue)});
    case Op::MAX:
      return narrowed(
          {{std::max(a.interval.min, b.interval.min), std::max(a.interval.max, b.interval.max)}, either(a.residue, b.residue)});
    case Op::ABS: {
      const Interval i = a.interval, n = sub({0, 0}, i);
      const std::int64_t least = i.min >= 0 ? i.min : i.max <= 0 ? n.min : 0;
      return known_interval({least, std::max(i.max, n.max)});
    }
    case Op::CDIV:
    case Op::CMOD: return known_interval(truncating(op, a.interval, b.interval));
    case Op::SHL:
    case Op::SHR: return narrowed(shifted(op, a, b));
    case Op::AND:
    case Op::OR:
    case Op::XOR: return narrowed(bitwise(op, a, b));
    default: return known_interval(anything);
  }
}

}  // namespace kiln::compiler::symbolic
