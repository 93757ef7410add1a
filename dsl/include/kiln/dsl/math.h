// Elementwise functions. The tensors have one dtype, which literals adopt, and their shapes broadcast; the result has that
// dtype and the broadcast shape.
#pragma once

#include "kiln/dsl/operators.h"

namespace kiln::dsl {

// clang-format off
#define KILN_UNARY_FUNCTIONS(X) \
  X(exp, floating) X(exp2, floating) X(expm1, floating) X(log, floating) X(log2, floating) X(log10, floating) X(log1p, floating) \
  X(sqrt, floating) X(rsqrt, floating) X(cbrt, floating) X(sigmoid, floating) X(sin, floating) X(cos, floating) X(tan, floating) \
  X(asin, floating) X(acos, floating) X(atan, floating) X(sinh, floating) X(cosh, floating) X(tanh, floating) \
  X(asinh, floating) X(acosh, floating) X(atanh, floating) \
  X(erf, floating) X(floor, floating) X(ceil, floating) X(round, floating) X(trunc, floating) \
  X(abs, number) X(sign, number) X(popcount, integer) X(clz, integer)
// clang-format on

#define KILN_X(f, k)                                       \
  template <Operand X>                                     \
    requires(unary_why<X, klass::k> == why::ok)            \
  constexpr auto f(const X& x, sloc l = sloc::current()) { \
    return detail::unary_node(op::f, l, x);                \
  }                                                        \
  template <class X, why Reason = unary_why<X, klass::k>>  \
    requires(detail::wrong(Reason))                        \
  mistake<Reason> f(const X&) KILN_MISTAKE(KILN_REASONS_OPERAND);
KILN_UNARY_FUNCTIONS(KILN_X)
#undef KILN_X

// floordiv and floormod are for integers and round toward minus infinity (/ and % toward zero). pow, atan2(y, x)
// and fmod are for floating point. min and max are NaN where either operand is.
#define KILN_BINARY_FUNCTIONS(X)                                                               \
  X(min, any, op::min)                                                                         \
  X(max, any, op::max)                                                                         \
  X(pow, floating, op::pow)                                                                    \
  X(atan2, floating, op::atan2) X(fmod, floating, op::fmod) X(floordiv, integer, op::floordiv) \
      X(floormod, integer, op::floormod)

#define KILN_X(f, k, o)                                                \
  template <class A, class B>                                          \
    requires(binary_why<A, B, klass::k> == why::ok)                    \
  constexpr auto f(const A& a, const B& b, sloc l = sloc::current()) { \
    return detail::binary_node<void>(o, l, a, b);                      \
  }                                                                    \
  template <class A, class B, why Reason = binary_why<A, B, klass::k>> \
    requires(detail::wrong(Reason))                                    \
  mistake<Reason> f(const A&, const B&) KILN_MISTAKE(KILN_REASONS_OPERAND);
KILN_BINARY_FUNCTIONS(KILN_X)
#undef KILN_X

namespace detail {

// Three operands, one of them a tensor at least.
template <class A, class B, class C>
using common_dtype3 = common_dtype<A, std::conditional_t<Operand<B>, B, C>>;
template <class A, class B, class C>
struct broadcast3 {
  using AB = broadcast_t<shape_of<A>, shape_of<B>>;
  using type = broadcast_t<AB, shape_of<C>>;
};
template <class A, class B, class C>
constexpr bool broadcastable3() {
  if constexpr (!broadcastable<shape_of<A>, shape_of<B>>)
    return false;
  else
    return broadcastable<broadcast_t<shape_of<A>, shape_of<B>>, shape_of<C>>;
}
template <class A, class B, class C, klass K>
constexpr why check_ternary() {
  if constexpr ((!Operand<A> && !Operand<B> && !Operand<C>) || !Arg<A> || !Arg<B> || !Arg<C>) {
    return Operand<A> || Operand<B> || Operand<C> ? meant<A, B, C> : why::not_ours;
  } else {
    using D = common_dtype3<A, B, C>;
    if (detail::wrong(detail::fits<A, D>())) return detail::fits<A, D>();
    if (detail::wrong(detail::fits<B, D>())) return detail::fits<B, D>();
    if (detail::wrong(detail::fits<C, D>())) return detail::fits<C, D>();
    if (detail::wrong(detail::class_why<D>(K))) return detail::class_why<D>(K);
    return detail::broadcastable3<A, B, C>() ? why::ok : why::shapes_do_not_broadcast__write_unsqueeze_expand_or_reshape;
  }
}

template <class D, class S, class X>
constexpr int expanded(builder* b, const X& x, const sloc& l) {
  return detail::expand_node<D, shape_of<X>, S>(b, detail::node_of<D>(b, x, l), l);
}
template <class D, class S>
constexpr auto node3(builder* b, op o, const sloc& l, int x, int y, int z) {
  detail::begin_node<D, S>(b, o, l);
  b->src(x);
  b->src(y);
  b->src(z);
  return detail::result<D, S>(b);
}

// select(c, a, b): c ? a : b per element, c a bool tensor.
template <class C, class A, class B>
constexpr why check_select() {
  if constexpr (!Operand<C> || !Arg<A> || !Arg<B>) {
    return Operand<C> ? meant<A, B> : why::not_ours;
  } else {
    if (!is_bool<dtype_of<C>>) return why::condition_must_be_bool;
    if constexpr (!Operand<A> && !Operand<B>) {
      return why::two_literals_have_no_dtype__write_select_of_dtype;
    } else {
      using D = common_dtype<A, B>;
      if (detail::wrong(detail::fits<A, D>())) return detail::fits<A, D>();
      if (detail::wrong(detail::fits<B, D>())) return detail::fits<B, D>();
      return detail::broadcastable3<C, A, B>() ? why::ok : why::shapes_do_not_broadcast__write_unsqueeze_expand_or_reshape;
    }
  }
}

template <class D, class S, class C, class A, class B>
constexpr auto select_node(const C& c, const A& a, const B& b, const sloc& l) {
  const int ic = detail::expanded<bool, S>(c.b, c, l), ia = detail::expanded<D, S>(c.b, a, l),
            ib = detail::expanded<D, S>(c.b, b, l);
  return detail::node3<D, S>(c.b, op::where, l, ic, ia, ib);
}

}  // namespace detail

template <class A, class B, class C, klass K>
inline constexpr why ternary_why = detail::check_ternary<A, B, C, K>();

// fma(a, b, c): a * b + c with one rounding; numbers.
template <class A, class B, class C>
  requires(ternary_why<A, B, C, klass::number> == why::ok)
constexpr auto fma(const A& a, const B& b, const C& c, sloc l = sloc::current()) {
  using D = detail::common_dtype3<A, B, C>;
  using S = typename detail::broadcast3<A, B, C>::type;
  builder* to = detail::builder_of(a, b, c);
  const int x = detail::expanded<D, S>(to, a, l), y = detail::expanded<D, S>(to, b, l), z = detail::expanded<D, S>(to, c, l);
  return detail::node3<D, S>(to, op::fma, l, x, y, z);
}
// clamp(x, lo, hi): min(max(x, lo), hi); numbers.
template <class X, class L, class H>
  requires(ternary_why<X, L, H, klass::number> == why::ok)
constexpr auto clamp(const X& x, const L& lo, const H& hi, sloc l = sloc::current()) {
  using D = detail::common_dtype3<X, L, H>;
  using S = typename detail::broadcast3<X, L, H>::type;
  builder* b = detail::builder_of(x, lo, hi);
  const int ix = detail::expanded<D, S>(b, x, l), il = detail::node_of<D>(b, lo, l);
  const int lower = detail::node2<D, S>(b, op::max, l, ix, il);
  return expr_<D, S>(b, detail::node2<D, S>(b, op::min, l, lower, detail::node_of<D>(b, hi, l)));
}
// lerp(a, b, t): fma(t, b - a, a); floating point.
template <class A, class B, class T>
  requires(ternary_why<A, B, T, klass::floating> == why::ok)
constexpr auto lerp(const A& a, const B& b, const T& t, sloc l = sloc::current()) {
  using D = detail::common_dtype3<A, B, T>;
  using S = typename detail::broadcast3<A, B, T>::type;
  builder* to = detail::builder_of(a, b, t);
  const int ia = detail::expanded<D, S>(to, a, l), ib = detail::node_of<D>(to, b, l), it = detail::expanded<D, S>(to, t, l);
  const int d = detail::node2<D, S>(to, op::sub, l, ib, ia);
  return detail::node3<D, S>(to, op::fma, l, it, d, ia);
}
#define KILN_X(f, k)                                                                \
  template <class A, class B, class C, why Reason = ternary_why<A, B, C, klass::k>> \
    requires(detail::wrong(Reason))                                                 \
  mistake<Reason> f(const A&, const B&, const C&) KILN_MISTAKE(KILN_REASONS_OPERAND);
KILN_X(fma, number)
KILN_X(clamp, number)
KILN_X(lerp, floating)
#undef KILN_X

template <class C, class A, class B>
inline constexpr why select_why = detail::check_select<C, A, B>();
template <class C, class A, class B>
  requires(select_why<C, A, B> == why::ok)
constexpr auto select(const C& c, const A& a, const B& b, sloc l = sloc::current()) {
  return detail::select_node<detail::common_dtype<A, B>, typename detail::broadcast3<C, A, B>::type>(c, a, b, l);
}
template <class C, class A, class B, why Reason = select_why<C, A, B>>
  requires(detail::wrong(Reason))
mistake<Reason> select(const C&, const A&, const B&) KILN_MISTAKE(KILN_REASONS_OPERAND);
// select<f32>(c, 1, 0): two literals, whose dtype is named.
template <DType D, class C, Literal A, Literal B>
  requires(Operand<C> && detail::is_bool<dtype_of<C>> && detail::fits<A, D>() == why::ok && detail::fits<B, D>() == why::ok)
constexpr auto select(const C& c, const A& a, const B& b, sloc l = sloc::current()) {
  return detail::select_node<D, shape_of<C>>(c, a, b, l);
}

// cast<D>(x): the values of x as dtype D, of the same shape. Floating point to integer truncates and saturates, and NaN becomes
// 0; to bool is x != 0.
template <DType D, Operand X>
constexpr auto cast(const X& x, sloc l = sloc::current()) {
  const int id = x.read_(l);
  if constexpr (std::is_same_v<D, dtype_of<X>>) {
    return expr_<D, shape_of<X>>(x.b, id);
  } else {
    detail::begin_node<D, shape_of<X>>(x.b, op::cast, l);
    x.b->src(id);
    return detail::result<D, shape_of<X>>(x.b);
  }
}
template <DType D, class X, why Reason = why::operand_must_be_a_tensor__write_var_full_or_size>
  requires(Literal<X>)
mistake<Reason> cast(const X&) KILN_MISTAKE(KILN_REASONS_CAST);

// bitcast<D>(x): the bits of x as another dtype of the same width; no bool.
template <class D, class X>
inline constexpr why bitcast_why = detail::is_bool<D> || detail::is_bool<dtype_of<X>> ? why::bitcast_of_bool__write_cast
                                   : detail::bits<D> != detail::bits<dtype_of<X>>     ? why::bitcast_needs_the_same_width
                                                                                      : why::ok;
template <DType D, Operand X>
  requires(bitcast_why<D, X> == why::ok)
constexpr auto bitcast(const X& x, sloc l = sloc::current()) {
  const int id = x.read_(l);
  detail::begin_node<D, shape_of<X>>(x.b, op::bitcast, l);
  x.b->src(id);
  return detail::result<D, shape_of<X>>(x.b);
}
template <DType D, Operand X, why Reason = bitcast_why<D, X>>
  requires(detail::wrong(Reason))
mistake<Reason> bitcast(const X&) KILN_MISTAKE(KILN_REASONS_CAST);

}  // namespace kiln::dsl
