// Derivatives that a program chooses: custom_vjp, checkpoint. Functions of functions: value_and_grad. What derivatives without
// a path mean: unused_is_zero.
#pragma once

#include "kiln/dsl/derivative.h"

namespace kiln::dsl {

// pack(a, b, ...): several values as one result of a function.
template <Operand... X>
  requires(sizeof...(X) > 0)
constexpr auto pack(const X&... x) {
  return parts{expr_<dtype_of<X>, shape_of<X>>(x.b, x.read_(sloc()))...};
}

namespace detail {

template <class X>
using expr_of = expr_<dtype_of<X>, shape_of<X>>;
template <class T>
T& declared();
template <class F, class X>
using result_of = decltype(detail::declared<const F>()(detail::declared<const expr_of<X>>()));

template <class A, class X>
inline constexpr bool same_type = std::is_same_v<dtype_of<A>, dtype_of<X>> && same_shape<shape_of<A>, shape_of<X>>;
// Whether the result of a cotangent function has one value for each X, of X's type. One value may stand alone.
template <class R, class... X>
inline constexpr bool are_derivatives = false;
template <Operand R, class X>
inline constexpr bool are_derivatives<R, X> = same_type<R, X>;
template <class... R, class... X>
  requires(sizeof...(R) == sizeof...(X))
inline constexpr bool are_derivatives<parts<R...>, X...> = (same_type<R, X> && ...);

template <class Y, class F, class... X>
constexpr why check_custom() {
  if constexpr (!Operand<Y> && !(Operand<X> || ...)) {
    return why::not_ours;
  } else {
    if (detail::wrong(detail::smooth_why<Y>())) return detail::smooth_why<Y>();
    why r = why::ok;
    ((r = r == why::ok ? detail::smooth_why<X>() : r), ...);
    if (r != why::ok) return r;
    if constexpr (Operand<Y> && (Operand<X> && ...))
      if (!are_derivatives<std::remove_cvref_t<result_of<F, Y>>, X...>)
        return why::custom_derivative_returns_other_types__write_pack_with_the_type_of_each_x;
    return why::ok;
  }
}

template <class R, int... I>
constexpr void add_derivatives(builder* b, const R& all, seq<I...>) {
  (b->src(all.template get<static_cast<std::size_t>(I)>().id), ...);
}
template <class Y, class F, class... X>
constexpr auto custom(const sloc& l, const Y& y, const F& f, const X&... x) {
  builder* b = y.b;
  const int iy = y.read_(l);
  const int sources[] = {x.read_(l)...};
  const int number = b->numbers++;
  detail::begin_node<dtype_of<Y>, shape_of<Y>>(b, op::cotangent, l, static_cast<std::uint64_t>(number));
  const auto all = f(expr_of<Y>(b, b->last()));
  int one = -1;
  if constexpr (Operand<std::remove_cvref_t<decltype(all)>>) one = all.read_(l);
  detail::begin_node<dtype_of<Y>, shape_of<Y>>(b, op::custom, l, static_cast<std::uint64_t>(number));
  b->src(iy);
  for (const int s : sources) b->src(s);
  if constexpr (Operand<std::remove_cvref_t<decltype(all)>>)
    b->src(one);
  else
    detail::add_derivatives(b, all, make_seq<sizeof...(X)>{});
  return detail::result<dtype_of<Y>, shape_of<Y>>(b);
}

}  // namespace detail

// custom_vjp(y, f, x, w, ..): y, whose derivative with respect to each of x, w, .. (up to 8 values, on which y may depend in
// any way) is what f makes of the cotangent: [&](auto c) { return pack(dx, dw); }, for one value also without pack. The
// derivative that y has by itself is not used.
template <class Y, class F, class... X>
inline constexpr why custom_why = detail::check_custom<Y, F, X...>();
#define KILN_LIST(...) __VA_ARGS__
#define KILN_ARITY(T, A, P, N)                                                                      \
  template <class Y, class Function, KILN_LIST T>                                                   \
    requires(custom_why<Y, Function, KILN_LIST A> == why::ok)                                       \
  constexpr auto custom_vjp(const Y& y, const Function& f, KILN_LIST P, sloc l = sloc::current()) { \
    return detail::custom(l, y, f, KILN_LIST N);                                                    \
  }
// clang-format off
KILN_ARITY((class A), (A), (const A& x0), (x0))
KILN_ARITY((class A, class B), (A, B), (const A& x0, const B& x1), (x0, x1))
KILN_ARITY((class A, class B, class C), (A, B, C), (const A& x0, const B& x1, const C& x2), (x0, x1, x2))
KILN_ARITY((class A, class B, class C, class D), (A, B, C, D), (const A& x0, const B& x1, const C& x2, const D& x3), (x0, x1, x2, x3))
KILN_ARITY((class A, class B, class C, class D, class E), (A, B, C, D, E), (const A& x0, const B& x1, const C& x2, const D& x3, const E& x4), (x0, x1, x2, x3, x4))
KILN_ARITY((class A, class B, class C, class D, class E, class F), (A, B, C, D, E, F), (const A& x0, const B& x1, const C& x2, const D& x3, const E& x4, const F& x5), (x0, x1, x2, x3, x4, x5))
KILN_ARITY((class A, class B, class C, class D, class E, class F, class G), (A, B, C, D, E, F, G), (const A& x0, const B& x1, const C& x2, const D& x3, const E& x4, const F& x5, const G& x6), (x0, x1, x2, x3, x4, x5, x6))
KILN_ARITY((class A, class B, class C, class D, class E, class F, class G, class H), (A, B, C, D, E, F, G, H), (const A& x0, const B& x1, const C& x2, const D& x3, const E& x4, const F& x5, const G& x6, const H& x7), (x0, x1, x2, x3, x4, x5, x6, x7))
// clang-format on
#undef KILN_ARITY
#undef KILN_LIST
template <class Y, class Function, class... X, why Reason = custom_why<Y, Function, X...>>
  requires(detail::wrong(Reason) && sizeof...(X) > 0)
mistake<Reason> custom_vjp(const Y&, const Function&, const X&...) KILN_MISTAKE(KILN_REASONS_GRADIENT);

namespace detail {

// The elements of a tensor look like a call.
template <class F, class X>
concept is_function_of = !Operand<F> && requires { detail::declared<const F>()(detail::declared<const expr_of<X>>()); };

template <class F, class X>
constexpr why check_checkpoint() {
  if constexpr (!Operand<X>) {
    return why::not_ours;
  } else if constexpr (!is_function_of<F, X>) {
    return why::argument_is_no_function_of_one_value__write_a_lambda_of_x;
  } else {
    if (detail::wrong(detail::smooth_why<X>())) return detail::smooth_why<X>();
    return detail::smooth_why<std::remove_cvref_t<result_of<F, X>>>();
  }
}
template <class F, class X>
constexpr why check_value_and_gradient() {
  if constexpr (!Operand<X>)
    return why::not_ours;
  else if constexpr (!is_function_of<F, X>)
    return why::argument_is_no_function_of_one_value__write_a_lambda_of_x;
  else
    return detail::check_gradient<std::remove_cvref_t<result_of<F, X>>, X>();
}

}  // namespace detail

// checkpoint(f, x): f(x), one value. A backward pass computes the values inside of f again, from x, instead of keeping them.
template <class F, class X>
inline constexpr why checkpoint_why = detail::check_checkpoint<F, X>();
template <class F, class X>
  requires(checkpoint_why<F, X> == why::ok)
constexpr auto checkpoint(const F& f, const X& x, sloc l = sloc::current()) {
  const detail::expr_of<X> value(x.b, x.read_(l));
  const auto y = f(value);
  const auto again = f(detail::marked(value, record::mark_kind::again, x.b->numbers++, l));
  return straight_through(y, again, l);
}
template <class F, class X, why Reason = checkpoint_why<F, X>>
  requires(detail::wrong(Reason))
mistake<Reason> checkpoint(const F&, const X&) KILN_MISTAKE(KILN_REASONS_GRADIENT);

// auto [value, g] = value_and_grad(f, x): y = f(p) with p = independent(x), and grad(y, p).
template <class F, class X>
inline constexpr why value_and_gradient_why = detail::check_value_and_gradient<F, X>();
template <class F, class X>
  requires(value_and_gradient_why<F, X> == why::ok)
constexpr auto value_and_grad(const F& f, const X& x, sloc l = sloc::current()) {
  const auto p = independent(x, l);
  const auto y = f(p);
  const detail::expr_of<std::remove_cvref_t<decltype(y)>> value(p.b, y.read_(l));
  return parts{value, grad(value, p, l)};
}
template <class F, class X, why Reason = value_and_gradient_why<F, X>>
  requires(detail::wrong(Reason))
mistake<Reason> value_and_grad(const F&, const X&) KILN_MISTAKE(KILN_REASONS_GRADIENT);

namespace detail {

constexpr void allow_zero(builder* b, int id, const sloc& l) {
  record::node& n = b->nodes.v[id];
  if (n.o != op::gradient && n.o != op::tangent && n.o != op::laplacian)
    return b->fail(why::unused_is_zero_is_of_a_derivative__write_unused_is_zero_of_grad, b->at(l));
  n.imm |= record::unused_is_zero;
}

}  // namespace detail

// unused_is_zero(grad(y, x)): zeros if y does not depend on x, where the derivative alone is an error. Takes what grad, vjp,
// jvp, hvp and laplacian return.
template <class D, class S>
constexpr auto unused_is_zero(const expr_<D, S>& g, sloc l = sloc::current()) {
  detail::allow_zero(g.b, g.id, l);
  return g;
}
template <class... X>
constexpr auto unused_is_zero(const parts<X...>& g, sloc l = sloc::current()) {
  [&]<int... I>(seq<I...>) {
    (detail::allow_zero(g.template get<static_cast<std::size_t>(I)>().b, g.template get<static_cast<std::size_t>(I)>().id, l),
     ...);
  }(make_seq<sizeof...(X)>{});
  return g;
}
template <class M, int N>
constexpr auto unused_is_zero(const module_gradient<M, N>& g, sloc l = sloc::current()) {
  for (int i = 0; i < g.n; ++i) detail::allow_zero(g.b, g.id[i], l);
  return g;
}

template <Operand... X, why Reason = why::unused_is_zero_is_of_a_derivative__write_unused_is_zero_of_grad>
  requires(sizeof...(X) > 0)
mistake<Reason> unused_is_zero(const X&...) KILN_MISTAKE(KILN_REASONS_GRADIENT);

// Functions of several values.
template <class F, class... X, why Reason = why::argument_is_no_function_of_one_value__write_a_lambda_of_x>
  requires(sizeof...(X) > 1 && (Operand<X> || ...))
mistake<Reason> checkpoint(const F&, const X&...) KILN_MISTAKE(KILN_REASONS_GRADIENT);
template <class F, class... X, why Reason = why::argument_is_no_function_of_one_value__write_a_lambda_of_x>
  requires(sizeof...(X) > 1 && (Operand<X> || ...))
mistake<Reason> value_and_grad(const F&, const X&...) KILN_MISTAKE(KILN_REASONS_GRADIENT);

// A module. No argument brings these names from kiln::dsl, so they are words of kiln (names.h).
template <class F, detail::module_of_parameters M,
          why Reason = why::a_module_is_no_value__write_stop_gradient_of_model_w_or_grad_l_model>
mistake<Reason> value_and_grad(const F&, const M&) KILN_MISTAKE(KILN_REASONS_GRADIENT);
template <detail::module_of_parameters M,
          why Reason = why::a_module_is_no_value__write_stop_gradient_of_model_w_or_grad_l_model>
mistake<Reason> stop_gradient(const M&) KILN_MISTAKE(KILN_REASONS_GRADIENT);
template <detail::module_of_parameters M,
          why Reason = why::a_module_is_no_value__write_stop_gradient_of_model_w_or_grad_l_model>
mistake<Reason> independent(const M&) KILN_MISTAKE(KILN_REASONS_GRADIENT);
template <class F, detail::module_of_parameters M,
          why Reason = why::a_module_is_no_value__write_stop_gradient_of_model_w_or_grad_l_model>
mistake<Reason> checkpoint(const F&, const M&) KILN_MISTAKE(KILN_REASONS_GRADIENT);

}  // namespace kiln::dsl
