// Elementwise functions. Literals adapt to the dtype of the tensors; shapes broadcast.
#pragma once

#include "kiln/dsl/operators.h"

namespace kiln::dsl {

// clang-format off
#define KILN_UNARY_FUNCTIONS(X) \
  X(exp, floating) X(exp2, floating) X(log, floating) X(log2, floating) X(sqrt, floating) X(rsqrt, floating) \
  X(sin, floating) X(cos, floating) X(tan, floating) X(tanh, floating) X(erf, floating) X(floor, floating) \
  X(ceil, floating) X(round, floating) X(trunc, floating) X(abs, number) X(sign, number)
// clang-format on

#define KILN_X(f, k)                                       \
  template <Operand X>                                     \
    requires(unary_why<X, klass::k> == why::ok)            \
  constexpr auto f(const X& x, sloc l = sloc::current()) { \
    return kiln_unary(op::f, l, x);                        \
  }                                                        \
  template <class X, why Reason = unary_why<X, klass::k>>  \
    requires(kiln_wrong(Reason))                           \
  mistake<Reason> f(const X&) KILN_MISTAKE(KILN_REASONS_OPERAND);
KILN_UNARY_FUNCTIONS(KILN_X)
#undef KILN_X

// floordiv and floormod round toward minus infinity (/ and % toward zero); min and max are NaN where either operand is.
#define KILN_BINARY_FUNCTIONS(X) \
  X(min, any, op::min)           \
  X(max, any, op::max) X(pow, floating, op::pow) X(floordiv, integer, op::floordiv) X(floormod, integer, op::floormod)

#define KILN_X(f, k, o)                                                \
  template <class A, class B>                                          \
    requires(binary_why<A, B, klass::k> == why::ok)                    \
  constexpr auto f(const A& a, const B& b, sloc l = sloc::current()) { \
    return kiln_binary<void>(o, l, a, b);                              \
  }                                                                    \
  template <class A, class B, why Reason = binary_why<A, B, klass::k>> \
    requires(kiln_wrong(Reason))                                       \
  mistake<Reason> f(const A&, const B&) KILN_MISTAKE(KILN_REASONS_OPERAND);
KILN_BINARY_FUNCTIONS(KILN_X)
#undef KILN_X

// Three operands, of which a literal may be any two.
template <class A, class B, class C>
using common_dtype3 = common_dtype<A, std::conditional_t<Operand<B>, B, C>>;
template <class A, class B, class C>
struct kiln_broadcast3 {
  using AB = broadcast_t<shape_of<A>, shape_of<B>>;
  using type = broadcast_t<AB, shape_of<C>>;
};
template <class A, class B, class C>
constexpr bool kiln_broadcastable3() {
  if constexpr (!broadcastable<shape_of<A>, shape_of<B>>)
    return false;
  else
    return broadcastable<broadcast_t<shape_of<A>, shape_of<B>>, shape_of<C>>;
}
template <class A, class B, class C, klass K>
constexpr why kiln_ternary_why() {
  if constexpr ((!Operand<A> && !Operand<B> && !Operand<C>) || !Arg<A> || !Arg<B> || !Arg<C>) {
    return Operand<A> || Operand<B> || Operand<C> ? kiln_meant<A, B, C> : why::not_ours;
  } else {
    using D = common_dtype3<A, B, C>;
    if (kiln_wrong(kiln_fits<A, D>())) return kiln_fits<A, D>();
    if (kiln_wrong(kiln_fits<B, D>())) return kiln_fits<B, D>();
    if (kiln_wrong(kiln_fits<C, D>())) return kiln_fits<C, D>();
    if (kiln_wrong(kiln_class_why<D>(K))) return kiln_class_why<D>(K);
    return kiln_broadcastable3<A, B, C>() ? why::ok : why::shapes_do_not_broadcast__write_unsqueeze_expand_or_reshape;
  }
}
template <class A, class B, class C, klass K>
inline constexpr why ternary_why = kiln_ternary_why<A, B, C, K>();

template <class D, class S, class X>
constexpr int kiln_expanded(builder* b, const X& x, const sloc& l) {
  return kiln_expand<D, shape_of<X>, S>(b, kiln_id<D>(b, x, l), l);
}
template <class D, class S>
constexpr auto kiln_node3(builder* b, op o, const sloc& l, int x, int y, int z) {
  kiln_begin<D, S>(b, o, l);
  b->src(x);
  b->src(y);
  b->src(z);
  return kiln_result<D, S>(b);
}

// a * b + c with one rounding.
template <class A, class B, class C>
  requires(ternary_why<A, B, C, klass::number> == why::ok)
constexpr auto fma(const A& a, const B& b, const C& c, sloc l = sloc::current()) {
  using D = common_dtype3<A, B, C>;
  using S = typename kiln_broadcast3<A, B, C>::type;
  builder* to = kiln_builder(a, b, c);
  const int x = kiln_expanded<D, S>(to, a, l), y = kiln_expanded<D, S>(to, b, l), z = kiln_expanded<D, S>(to, c, l);
  return kiln_node3<D, S>(to, op::fma, l, x, y, z);
}
// min(max(x, lo), hi)
template <class X, class L, class H>
  requires(ternary_why<X, L, H, klass::number> == why::ok)
constexpr auto clamp(const X& x, const L& lo, const H& hi, sloc l = sloc::current()) {
  using D = common_dtype3<X, L, H>;
  using S = typename kiln_broadcast3<X, L, H>::type;
  builder* b = kiln_builder(x, lo, hi);
  const int ix = kiln_expanded<D, S>(b, x, l), il = kiln_id<D>(b, lo, l);
  const int lower = kiln_node2<D, S>(b, op::max, l, ix, il);
  return expr_<D, S>(b, kiln_node2<D, S>(b, op::min, l, lower, kiln_id<D>(b, hi, l)));
}
// fma(t, b - a, a)
template <class A, class B, class T>
  requires(ternary_why<A, B, T, klass::floating> == why::ok)
constexpr auto lerp(const A& a, const B& b, const T& t, sloc l = sloc::current()) {
  using D = common_dtype3<A, B, T>;
  using S = typename kiln_broadcast3<A, B, T>::type;
  builder* to = kiln_builder(a, b, t);
  const int ia = kiln_expanded<D, S>(to, a, l), ib = kiln_id<D>(to, b, l), it = kiln_expanded<D, S>(to, t, l);
  const int d = kiln_node2<D, S>(to, op::sub, l, ib, ia);
  return kiln_node3<D, S>(to, op::fma, l, it, d, ia);
}
#define KILN_X(f, k)                                                                \
  template <class A, class B, class C, why Reason = ternary_why<A, B, C, klass::k>> \
    requires(kiln_wrong(Reason))                                                    \
  mistake<Reason> f(const A&, const B&, const C&) KILN_MISTAKE(KILN_REASONS_OPERAND);
KILN_X(fma, number)
KILN_X(clamp, number)
KILN_X(lerp, floating)
#undef KILN_X

// c ? a : b per element.
template <class C, class A, class B>
constexpr why kiln_select_why() {
  if constexpr (!Operand<C> || !Arg<A> || !Arg<B>) {
    return Operand<C> ? kiln_meant<A, B> : why::not_ours;
  } else {
    if (!kiln_is_bool<dtype_of<C>>) return why::condition_must_be_bool;
    if constexpr (!Operand<A> && !Operand<B>) {
      return why::two_literals_have_no_dtype__write_select_of_dtype;
    } else {
      using D = common_dtype<A, B>;
      if (kiln_wrong(kiln_fits<A, D>())) return kiln_fits<A, D>();
      if (kiln_wrong(kiln_fits<B, D>())) return kiln_fits<B, D>();
      return kiln_broadcastable3<C, A, B>() ? why::ok : why::shapes_do_not_broadcast__write_unsqueeze_expand_or_reshape;
    }
  }
}
template <class C, class A, class B>
inline constexpr why select_why = kiln_select_why<C, A, B>();
template <class D, class S, class C, class A, class B>
constexpr auto kiln_select(const C& c, const A& a, const B& b, const sloc& l) {
  const int ic = kiln_expanded<bool, S>(c.b, c, l), ia = kiln_expanded<D, S>(c.b, a, l), ib = kiln_expanded<D, S>(c.b, b, l);
  return kiln_node3<D, S>(c.b, op::where, l, ic, ia, ib);
}
template <class C, class A, class B>
  requires(select_why<C, A, B> == why::ok)
constexpr auto select(const C& c, const A& a, const B& b, sloc l = sloc::current()) {
  return kiln_select<common_dtype<A, B>, typename kiln_broadcast3<C, A, B>::type>(c, a, b, l);
}
template <class C, class A, class B, why Reason = select_why<C, A, B>>
  requires(kiln_wrong(Reason))
mistake<Reason> select(const C&, const A&, const B&) KILN_MISTAKE(KILN_REASONS_OPERAND);
// Two literals: select<f32>(c, 1, 0).
template <DType D, class C, Literal A, Literal B>
  requires(Operand<C> && kiln_is_bool<dtype_of<C>> && kiln_fits<A, D>() == why::ok && kiln_fits<B, D>() == why::ok)
constexpr auto select(const C& c, const A& a, const B& b, sloc l = sloc::current()) {
  return kiln_select<D, shape_of<C>>(c, a, b, l);
}

// Value conversion: float to integer truncates and saturates, NaN is 0; anything to bool is x != 0.
template <DType D, Operand X>
constexpr auto cast(const X& x, sloc l = sloc::current()) {
  const int id = x.kiln_read(l);
  if constexpr (std::is_same_v<D, dtype_of<X>>) {
    return expr_<D, shape_of<X>>(x.b, id);
  } else {
    kiln_begin<D, shape_of<X>>(x.b, op::cast, l);
    x.b->src(id);
    return kiln_result<D, shape_of<X>>(x.b);
  }
}
template <DType D, class X, why Reason = why::operand_must_be_a_tensor__write_var_full_or_size>
  requires(Literal<X>)
mistake<Reason> cast(const X&) KILN_MISTAKE(KILN_REASONS_CAST);

// The same bits as another dtype of the same width.
template <class D, class X>
inline constexpr why bitcast_why = kiln_is_bool<D> || kiln_is_bool<dtype_of<X>> ? why::bitcast_of_bool__write_cast
                                   : kiln_bits<D> != kiln_bits<dtype_of<X>>     ? why::bitcast_needs_the_same_width
                                                                                : why::ok;
template <DType D, Operand X>
  requires(bitcast_why<D, X> == why::ok)
constexpr auto bitcast(const X& x, sloc l = sloc::current()) {
  const int id = x.kiln_read(l);
  kiln_begin<D, shape_of<X>>(x.b, op::bitcast, l);
  x.b->src(id);
  return kiln_result<D, shape_of<X>>(x.b);
}
template <DType D, Operand X, why Reason = bitcast_why<D, X>>
  requires(kiln_wrong(Reason))
mistake<Reason> bitcast(const X&) KILN_MISTAKE(KILN_REASONS_CAST);

}  // namespace kiln::dsl
