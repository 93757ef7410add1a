#include "compiler/interp/elementwise.h"

#include <cstring>
#include <stdexcept>

#include "compiler/interp/scalar.h"
#include "compiler/interp/visit.h"

namespace kiln::compiler {
namespace {

namespace s = scalar;

struct Loop {
  std::span<const Operand> in;
  std::byte* out;
  std::size_t n;

  template <class T>
  const T* source(std::size_t k) const {
    return reinterpret_cast<const T*>(in[k].data);
  }
  std::size_t step(std::size_t k) const { return in[k].scalar ? 0 : 1; }

  template <class R, class A>
  void unary(auto f) const {
    const A* a = source<A>(0);
    R* r = reinterpret_cast<R*>(out);
    for (std::size_t i = 0, da = step(0); i < n; ++i) r[i] = f(a[i * da]);
  }
  template <class R, class A>
  void binary(auto f) const {
    const A *a = source<A>(0), *b = source<A>(1);
    R* r = reinterpret_cast<R*>(out);
    for (std::size_t i = 0, da = step(0), db = step(1); i < n; ++i) r[i] = f(a[i * da], b[i * db]);
  }
  template <class T>
  void select() const {
    const auto* c = source<std::uint8_t>(0);
    const T *a = source<T>(1), *b = source<T>(2);
    T* r = reinterpret_cast<T*>(out);
    for (std::size_t i = 0, dc = step(0), da = step(1), db = step(2); i < n; ++i) r[i] = c[i * dc] != 0 ? a[i * da] : b[i * db];
  }
  template <class T>
  void multiply_add() const {
    const T *a = source<T>(0), *b = source<T>(1), *c = source<T>(2);
    T* r = reinterpret_cast<T*>(out);
    for (std::size_t i = 0, da = step(0), db = step(1), dc = step(2); i < n; ++i)
      r[i] = s::round_to<T>(s::fma<s::Compute<T>>(s::load(a[i * da]), s::load(b[i * db]), s::load(c[i * dc])));
  }
};

[[noreturn]] void unsupported(Op op, DType d) {
  throw std::logic_error("interpreter: " + std::string(name(op)) + " is not defined on " + std::string(name(d)));
}

// f computes in Compute<T>; the result is rounded to T.
template <class T>
void map1(const Loop& l, auto f) {
  l.unary<T, T>([&](T a) { return s::round_to<T>(static_cast<s::Compute<T>>(f(s::load(a)))); });
}
template <class T>
void map2(const Loop& l, auto f) {
  l.binary<T, T>([&](T a, T b) { return s::round_to<T>(static_cast<s::Compute<T>>(f(s::load(a), s::load(b)))); });
}
template <class T>
void compare(const Loop& l, auto f) {
  l.binary<std::uint8_t, T>([&](T a, T b) { return static_cast<std::uint8_t>(f(s::load(a), s::load(b))); });
}

template <class T>
constexpr std::uint16_t sign_bit = 0x8000;

// NEG and ABS of 16-bit floats change only the sign bit, so they are exact for NaN too.
template <class T>
bool bit_unary(Op op, const Loop& l) {
  if constexpr (s::is_narrow<T>) {
    if (op == Op::NEG) return l.unary<T, T>([](T a) { return T{static_cast<std::uint16_t>(a.bits ^ sign_bit<T>)}; }), true;
    if (op == Op::ABS) return l.unary<T, T>([](T a) { return T{static_cast<std::uint16_t>(a.bits & ~sign_bit<T>)}; }), true;
  }
  return false;
}

template <class T>
bool real_unary(Op op, const Loop& l) {
  using C = s::Compute<T>;
  switch (op) {
    case Op::NEG: map1<T>(l, [](C a) { return -a; }); return true;
    case Op::SQRT: map1<T>(l, [](C a) { return std::sqrt(a); }); return true;
    case Op::FLOOR: map1<T>(l, [](C a) { return std::floor(a); }); return true;
    case Op::CEIL: map1<T>(l, [](C a) { return std::ceil(a); }); return true;
    case Op::TRUNC: map1<T>(l, [](C a) { return std::trunc(a); }); return true;
    case Op::ROUND: map1<T>(l, [](C a) { return s::round(a); }); return true;
    case Op::ABS: map1<T>(l, [](C a) { return s::abs(a); }); return true;
    case Op::SIGN: map1<T>(l, [](C a) { return s::sign(a); }); return true;
    case Op::FDIV: map2<T>(l, [](C a, C b) { return a / b; }); return true;
    case Op::SCALE: map2<T>(l, [](C x, C n) { return s::scale<C>(x, n); }); return true;
    default: return false;
  }
}

template <class T>
bool integer_op(Op op, const Loop& l) {
  switch (op) {
    case Op::NEG: map1<T>(l, [](T a) { return s::sub<T>(0, a); }); return true;
    case Op::NOT: map1<T>(l, [](T a) { return ~a; }); return true;
    case Op::ABS: map1<T>(l, [](T a) { return s::abs(a); }); return true;
    case Op::SIGN: map1<T>(l, [](T a) { return s::sign(a); }); return true;
    case Op::FLOOR:
    case Op::CEIL:
    case Op::TRUNC:
    case Op::ROUND: map1<T>(l, [](T a) { return a; }); return true;
    case Op::POPCOUNT: map1<T>(l, [](T a) { return s::popcount(a); }); return true;
    case Op::CLZ: map1<T>(l, [](T a) { return s::leading_zeros(a); }); return true;
    case Op::CDIV: map2<T>(l, [](T a, T b) { return s::cdiv(a, b); }); return true;
    case Op::CMOD: map2<T>(l, [](T a, T b) { return s::cmod(a, b); }); return true;
    case Op::FLOORDIV: map2<T>(l, [](T a, T b) { return s::floordiv(a, b); }); return true;
    case Op::FLOORMOD: map2<T>(l, [](T a, T b) { return s::floormod(a, b); }); return true;
    case Op::AND: map2<T>(l, [](T a, T b) { return a & b; }); return true;
    case Op::OR: map2<T>(l, [](T a, T b) { return a | b; }); return true;
    case Op::XOR: map2<T>(l, [](T a, T b) { return a ^ b; }); return true;
    case Op::SHL: map2<T>(l, [](T a, T b) { return s::shl(a, b); }); return true;
    case Op::SHR: map2<T>(l, [](T a, T b) { return s::shr(a, b); }); return true;
    default: return false;
  }
}

// The sum of the products of low and of high halves.
std::int32_t dot2(std::int32_t a, std::int32_t b) {
  const auto low = [](std::int32_t v) { return static_cast<std::int64_t>(static_cast<std::int16_t>(v & 0xffff)); };
  const auto high = [](std::int32_t v) { return static_cast<std::int64_t>(v >> 16); };
  return static_cast<std::int32_t>(low(a) * low(b) + high(a) * high(b));
}

template <class T>
bool word_op(Op op, const Loop& l) {
  if constexpr (std::is_same_v<T, std::int32_t>)
    if (op == Op::DOT2) return l.binary<T, T>(dot2), true;
  return false;
}

template <class T>
bool common_op(Op op, const Loop& l) {
  using C = s::Compute<T>;
  switch (op) {
    case Op::ADD: map2<T>(l, [](C a, C b) { return s::add<C>(a, b); }); return true;
    case Op::SUB: map2<T>(l, [](C a, C b) { return s::sub<C>(a, b); }); return true;
    case Op::MUL: map2<T>(l, [](C a, C b) { return s::mul<C>(a, b); }); return true;
    case Op::MIN: map2<T>(l, [](C a, C b) { return s::min(a, b); }); return true;
    case Op::MAX: map2<T>(l, [](C a, C b) { return s::max(a, b); }); return true;
    case Op::LT: compare<T>(l, [](C a, C b) { return a < b; }); return true;
    case Op::LE: compare<T>(l, [](C a, C b) { return a <= b; }); return true;
    case Op::EQ: compare<T>(l, [](C a, C b) { return a == b; }); return true;
    case Op::NE: compare<T>(l, [](C a, C b) { return a != b; }); return true;
    case Op::WHERE: l.select<T>(); return true;
    case Op::FMA: l.multiply_add<T>(); return true;
    default: return false;
  }
}

template <class T>
bool any_op(Op op, const Loop& l) {
  if (bit_unary<T>(op, l)) return true;
  if constexpr (s::is_real<T>)
    return real_unary<T>(op, l) || common_op<T>(op, l);
  else
    return word_op<T>(op, l) || integer_op<T>(op, l) || common_op<T>(op, l);
}

void cast(DType to, DType from, const Loop& l) {
  visit_type(from, [&]<class From>() {
    visit_type(to, [&]<class To>() { l.unary<To, From>([](From v) { return s::convert<To>(v); }); });
  });
}

void bitcast(DType d, const Loop& l) {
  const std::size_t size = size_of(d);
  for (std::size_t i = 0; i < l.n; ++i) std::memcpy(l.out + i * size, l.in[0].data + i * l.step(0) * size, size);
}

}  // namespace

void apply_elementwise(Op op, DType result, DType type, std::span<const Operand> operands, std::byte* out, std::size_t n) {
  const Loop l{operands, out, n};
  if (op == Op::CAST) return cast(result, type, l);
  if (op == Op::BITCAST) return bitcast(result, l);
  bool done = false;
  if (type == DType::boolean) {
    if (op == Op::NOT)
      done = (l.unary<std::uint8_t, std::uint8_t>([](std::uint8_t a) { return static_cast<std::uint8_t>(a == 0); }), true);
    else
      done = any_op<std::uint8_t>(op, l);
  } else {
    visit_type(type, [&]<class T>() {
      if constexpr (!std::is_same_v<T, s::Bool>) done = any_op<T>(op, l);
    });
  }
  if (!done) unsupported(op, type);
}

}  // namespace kiln::compiler
