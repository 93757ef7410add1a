// Derivatives of values: grad, vjp, jvp, hvp. A derivative is a value too: it has derivatives, and it may stand in any scope.
// It is of the value that a name has at the call, and it counts every path from there to the result.
#pragma once

#include "kiln/dsl/join.h"
#include "kiln/dsl/nn.h"
#include "kiln/dsl/reflect.h"

namespace kiln::dsl {

namespace detail {

// Whether derivatives of X, or with respect to X, exist.
template <class X>
constexpr why smooth_why() {
  if constexpr (!Operand<X>)
    return why::gradient_is_of_a_value_or_parameter__write_it_without_literals;
  else
    return is_float<dtype_of<X>> ? why::ok : why::gradient_needs_floating_point__write_cast;
}
// A struct of parameters, and of such structs.
template <class M>
concept module_of_parameters =
    std::is_class_v<M> && !Operand<M> && !Extent<M> && !kernel_array<M> && (std::is_aggregate_v<M> || list_of_modules<M>);

template <class Y, class... X>
constexpr why check_gradient() {
  if constexpr (!Operand<Y> && !(Operand<X> || ...)) return why::not_ours;
  if (detail::wrong(detail::smooth_why<Y>())) return detail::smooth_why<Y>();
  if (rank_of<Y> != 0) return why::gradient_is_of_a_scalar__write_grad_of_sum;
  if ((module_of_parameters<X> || ...)) return why::gradient_is_of_values_or_of_one_module__write_grad_l_a_b_or_grad_l_model;
  why r = why::ok;
  ((r = r == why::ok ? detail::smooth_why<X>() : r), ...);
  return r;
}

template <class T>
inline constexpr bool trains = T::direction == dir::inout && is_float<typename T::dtype>;
// The number of trainable parameters: inout tensors of floating point.
template <class M>
constexpr int trainable() {
  if constexpr (parameter_tensor<M>)
    return trains<M> ? 1 : 0;
  else if constexpr (module_of_parameters<M>)
    return []<int... I>(seq<I...>) { return (0 + ... + detail::trainable<member_t<M, I>>()); }(make_seq<member_count<M>>{});
  else
    return 0;
}
template <class Y, class M>
constexpr why check_module_gradient() {
  if constexpr (!Operand<Y>)
    return why::not_ours;
  else if (detail::check_gradient<Y>() != why::ok)
    return detail::check_gradient<Y>();
  else
    return detail::trainable<M>() > 0 ? why::ok : why::module_has_no_trainable_parameter__declare_it_inout;
}

template <class S>
constexpr void check_gradient_size(builder* b, const sloc& l) {
  if (b->kernel() != 0 && !is_small<S>) b->fail(why::gradient_of_a_large_tensor_in_a_kernel__write_it_outside, b->at(l));
}
// The derivative of sum(y * ct) with respect to x; y and ct are nodes.
template <class X>
constexpr auto gradient_node(const X& x, int y, int ct, const sloc& l) {
  detail::check_gradient_size<shape_of<X>>(x.b, l);
  const int id = x.read_(l);
  detail::begin_node<dtype_of<X>, shape_of<X>>(x.b, op::gradient, l);
  x.b->src(y);
  x.b->src(ct);
  x.b->src(id);
  return detail::result<dtype_of<X>, shape_of<X>>(x.b);
}
template <class D>
constexpr int one_of(builder* b, const sloc& l) {
  return detail::constant_id<D>(b, detail::encode<D>(1), l);
}
template <class Y, class... X>
constexpr auto gradients(const sloc& l, const Y& y, const X&... x) {
  const int iy = y.read_(l), one = detail::one_of<dtype_of<Y>>(y.b, l);
  return parts{detail::gradient_node(x, iy, one, l)...};
}

}  // namespace detail

// The gradients of a module: g(model.w) has the type of w's value. A copy of a parameter names the same parameter.
template <class M, int N>
struct module_gradient {
  builder* b = nullptr;
  int n = 0, slot[N] = {}, id[N] = {};

  template <class T>
    requires(detail::parameter_tensor<T>)
  constexpr auto operator()(const T& w, sloc l = sloc::current()) const {
    int i = 0;
    while (i < n && slot[i] != w.slot) ++i;
    if (i == n) b->fail(why::parameter_is_not_of_this_module__write_g_of_model_w, b->at(l));
    return expr_<dtype_of<T>, shape_of<T>>(b, id[i < n ? i : 0]);
  }
  template <class T, why Reason = why::parameter_is_not_of_this_module__write_g_of_model_w>
    requires(!detail::parameter_tensor<T>)
  mistake<Reason> operator()(const T&) const KILN_MISTAKE(KILN_REASONS_GRADIENT);
};

// grad(y, x): the gradient of the scalar y, of x's type. x is a value, a parameter, a variable or an element. Several:
// auto [ga, gb] = grad(y, a, b), up to 16. Of a module: auto g = grad(y, model), then g(model.w).
template <class Y, class... X>
inline constexpr why gradient_why = detail::check_gradient<Y, X...>();

template <class Y, class X>
  requires(gradient_why<Y, X> == why::ok)
constexpr auto grad(const Y& y, const X& x, sloc l = sloc::current()) {
  const int iy = y.read_(l), one = detail::one_of<dtype_of<Y>>(y.b, l);
  return detail::gradient_node(x, iy, one, l);
}
template <class Y, class M>
inline constexpr why module_gradient_why = detail::check_module_gradient<Y, M>();
template <class Y, detail::module_of_parameters M>
  requires(module_gradient_why<Y, M> == why::ok)
constexpr auto grad(const Y& y, const M& model, sloc l = sloc::current()) {
  module_gradient<M, detail::trainable<M>()> g{y.b};
  const int iy = y.read_(l), one = detail::one_of<dtype_of<Y>>(y.b, l);
  auto one_more = [&]<class T>(const T& w) {
    if constexpr (detail::trains<T>) {
      g.slot[g.n] = w.slot;
      g.id[g.n++] = detail::gradient_node(w, iy, one, l).id;
    }
  };
  detail::each_tensor(model, one_more);
  return g;
}
template <class Y, detail::module_of_parameters M, why Reason = module_gradient_why<Y, M>>
  requires(detail::wrong(Reason))
mistake<Reason> grad(const Y&, const M&) KILN_MISTAKE(KILN_REASONS_GRADIENT);

// A default argument cannot follow a pack, so the arities are written out.
#define KILN_LIST(...) __VA_ARGS__
#define KILN_ARITY(T, A, P, N)                                             \
  template <class Y, KILN_LIST T>                                          \
    requires(gradient_why<Y, KILN_LIST A> == why::ok)                      \
  constexpr auto grad(const Y& y, KILN_LIST P, sloc l = sloc::current()) { \
    return detail::gradients(l, y, KILN_LIST N);                           \
  }
// clang-format off
KILN_ARITY((class A, class B), (A, B), (const A& a, const B& b), (a, b))
KILN_ARITY((class A, class B, class C), (A, B, C), (const A& a, const B& b, const C& c), (a, b, c))
KILN_ARITY((class A, class B, class C, class D), (A, B, C, D), (const A& a, const B& b, const C& c, const D& d), (a, b, c, d))
KILN_ARITY((class A, class B, class C, class D, class E), (A, B, C, D, E), (const A& a, const B& b, const C& c, const D& d, const E& e), (a, b, c, d, e))
KILN_ARITY((class A, class B, class C, class D, class E, class F), (A, B, C, D, E, F), (const A& a, const B& b, const C& c, const D& d, const E& e, const F& f), (a, b, c, d, e, f))
KILN_ARITY((class A, class B, class C, class D, class E, class F, class G), (A, B, C, D, E, F, G), (const A& a, const B& b, const C& c, const D& d, const E& e, const F& f, const G& g), (a, b, c, d, e, f, g))
KILN_ARITY((class A, class B, class C, class D, class E, class F, class G, class H), (A, B, C, D, E, F, G, H), (const A& a, const B& b, const C& c, const D& d, const E& e, const F& f, const G& g, const H& h), (a, b, c, d, e, f, g, h))
KILN_ARITY((class A, class B, class C, class D, class E, class F, class G, class H, class I), (A, B, C, D, E, F, G, H, I), (const A& a, const B& b, const C& c, const D& d, const E& e, const F& f, const G& g, const H& h, const I& i), (a, b, c, d, e, f, g, h, i))
KILN_ARITY((class A, class B, class C, class D, class E, class F, class G, class H, class I, class J), (A, B, C, D, E, F, G, H, I, J), (const A& a, const B& b, const C& c, const D& d, const E& e, const F& f, const G& g, const H& h, const I& i, const J& j), (a, b, c, d, e, f, g, h, i, j))
KILN_ARITY((class A, class B, class C, class D, class E, class F, class G, class H, class I, class J, class K), (A, B, C, D, E, F, G, H, I, J, K), (const A& a, const B& b, const C& c, const D& d, const E& e, const F& f, const G& g, const H& h, const I& i, const J& j, const K& k), (a, b, c, d, e, f, g, h, i, j, k))
KILN_ARITY((class A, class B, class C, class D, class E, class F, class G, class H, class I, class J, class K, class M), (A, B, C, D, E, F, G, H, I, J, K, M), (const A& a, const B& b, const C& c, const D& d, const E& e, const F& f, const G& g, const H& h, const I& i, const J& j, const K& k, const M& m), (a, b, c, d, e, f, g, h, i, j, k, m))
KILN_ARITY((class A, class B, class C, class D, class E, class F, class G, class H, class I, class J, class K, class M, class N), (A, B, C, D, E, F, G, H, I, J, K, M, N), (const A& a, const B& b, const C& c, const D& d, const E& e, const F& f, const G& g, const H& h, const I& i, const J& j, const K& k, const M& m, const N& n), (a, b, c, d, e, f, g, h, i, j, k, m, n))
KILN_ARITY((class A, class B, class C, class D, class E, class F, class G, class H, class I, class J, class K, class M, class N, class O), (A, B, C, D, E, F, G, H, I, J, K, M, N, O), (const A& a, const B& b, const C& c, const D& d, const E& e, const F& f, const G& g, const H& h, const I& i, const J& j, const K& k, const M& m, const N& n, const O& o), (a, b, c, d, e, f, g, h, i, j, k, m, n, o))
KILN_ARITY((class A, class B, class C, class D, class E, class F, class G, class H, class I, class J, class K, class M, class N, class O, class P), (A, B, C, D, E, F, G, H, I, J, K, M, N, O, P), (const A& a, const B& b, const C& c, const D& d, const E& e, const F& f, const G& g, const H& h, const I& i, const J& j, const K& k, const M& m, const N& n, const O& o, const P& p), (a, b, c, d, e, f, g, h, i, j, k, m, n, o, p))
KILN_ARITY((class A, class B, class C, class D, class E, class F, class G, class H, class I, class J, class K, class M, class N, class O, class P, class Q), (A, B, C, D, E, F, G, H, I, J, K, M, N, O, P, Q), (const A& a, const B& b, const C& c, const D& d, const E& e, const F& f, const G& g, const H& h, const I& i, const J& j, const K& k, const M& m, const N& n, const O& o, const P& p, const Q& q), (a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q))
// clang-format on
#undef KILN_ARITY
#undef KILN_LIST
template <class Y, class... X, why Reason = gradient_why<Y, X...>>
  requires(detail::wrong(Reason) && (sizeof...(X) > 1 || !(detail::module_of_parameters<X> && ...)))
mistake<Reason> grad(const Y&, const X&...) KILN_MISTAKE(KILN_REASONS_GRADIENT);

// Derivatives without the value that they are with respect to, or without its direction.
namespace detail {
inline constexpr why lacks_argument = why::derivative_lacks_an_argument__write_grad_l_x_or_vjp_y_x_c_or_jvp_y_x_v_or_hvp_l_x_v;
}
#define KILN_LACKS_ARGUMENT(name, needed)                      \
  template <Operand... X, why Reason = detail::lacks_argument> \
    requires(sizeof...(X) > 0 && sizeof...(X) < needed)        \
  mistake<Reason> name(const X&...) KILN_MISTAKE(KILN_REASONS_GRADIENT);
KILN_LACKS_ARGUMENT(grad, 2)
KILN_LACKS_ARGUMENT(vjp, 3)
KILN_LACKS_ARGUMENT(jvp, 3)
KILN_LACKS_ARGUMENT(hvp, 3)
KILN_LACKS_ARGUMENT(laplacian, 2)
#undef KILN_LACKS_ARGUMENT

// grad(l, {a, b}), grad(l, {1, 2})
namespace detail {
struct list_in_braces {
  template <class A, class... More>
  constexpr list_in_braces(const A&, const More&...) {}  // NOLINT(google-explicit-constructor)
};
}  // namespace detail
template <Operand Y, why Reason = why::gradient_is_of_values_or_of_one_module__write_grad_l_a_b_or_grad_l_model>
mistake<Reason> grad(const Y&, const detail::list_in_braces&) KILN_MISTAKE(KILN_REASONS_GRADIENT);

#define KILN_NO_MATRIX(name)                                                                                              \
  template <class... X, why Reason = why::kiln_makes_no_matrix_of_derivatives__write_jvp_along_several_directions_or_hvp> \
    requires(Operand<X> || ...)                                                                                           \
  mistake<Reason> name(const X&...) KILN_MISTAKE(KILN_REASONS_GRADIENT);
KILN_NO_MATRIX(jacobian)
KILN_NO_MATRIX(hessian)
#undef KILN_NO_MATRIX

// A value and its direction, as nodes. N: the axis of several directions, sh<K>; of one direction sh<>.
template <class N>
struct direction_ {
  builder* b;
  int x, v;
  sloc l;
};

namespace detail {

template <class Y, class X, class C>
constexpr why check_vjp() {
  if constexpr (!Operand<Y> && !Operand<X> && !Operand<C>) {
    return why::not_ours;
  } else {
    if (detail::wrong(detail::smooth_why<Y>())) return detail::smooth_why<Y>();
    if (detail::wrong(detail::smooth_why<X>())) return detail::smooth_why<X>();
    return Operand<C> && std::is_same_v<dtype_of<Y>, dtype_of<C>> && same_shape<shape_of<Y>, shape_of<C>>
               ? why::ok
               : why::cotangent_has_another_type__write_it_with_dtype_and_shape_of_y;
  }
}

// Whether V is a list of directions of X: one axis more.
template <class X, class V>
inline constexpr bool has_many = rank_of<V> == rank_of<X> + 1;
template <class S>
struct rest_of {
  using type = S;
};
template <class S>
  requires(S::rank > 0)
struct rest_of<S> {
  using type = typename rest<S, 1>::type;
};
template <class X, class V>
constexpr why check_direction() {
  if constexpr (!Operand<X> && !Operand<V>) {
    return why::not_ours;
  } else {
    if (detail::wrong(detail::smooth_why<X>())) return detail::smooth_why<X>();
    using S = std::conditional_t<has_many<X, V>, typename rest_of<shape_of<V>>::type, shape_of<V>>;
    return Operand<V> && std::is_same_v<dtype_of<X>, dtype_of<V>> && same_shape<shape_of<X>, S>
               ? why::ok
               : why::direction_has_another_shape__write_that_of_x_or_one_more_leading_axis;
  }
}

template <class X, class V>
constexpr auto direction(const X& x, const V& v, const sloc& l) {
  const int ix = x.read_(l), iv = v.read_(l);
  if constexpr (has_many<X, V>)
    return direction_<sh<extent_at<shape_of<V>, 0>>>{x.b, ix, iv, l};
  else
    return direction_<sh<>>{x.b, ix, iv, l};
}
template <class Y, class N, class... D>
constexpr auto tangent(const Y& y, const direction_<N>& first, const D&... more) {
  using S = cat_t<N, shape_of<Y>>;
  detail::check_gradient_size<S>(y.b, first.l);
  const int iy = y.read_(first.l);
  detail::begin_node<dtype_of<Y>, S>(y.b, op::tangent, first.l);
  y.b->src(iy);
  y.b->src(first.x);
  y.b->src(first.v);
  ((y.b->src(more.x), y.b->src(more.v)), ...);
  return detail::result<dtype_of<Y>, S>(y.b);
}
template <class Y, class N, class... More>
constexpr why check_jvp() {
  if (detail::wrong(detail::smooth_why<Y>())) return detail::smooth_why<Y>();
  return (same_shape<N, More> && ...) ? why::ok : why::direction_has_another_shape__write_that_of_x_or_one_more_leading_axis;
}

}  // namespace detail

// vjp(y, x, c): the gradient of sum(y * c) with respect to x. c has y's type.
template <class Y, class X, class C>
inline constexpr why vjp_why = detail::check_vjp<Y, X, C>();
template <class Y, class X, class C>
  requires(vjp_why<Y, X, C> == why::ok)
constexpr auto vjp(const Y& y, const X& x, const C& c, sloc l = sloc::current()) {
  const int iy = y.read_(l), ic = c.read_(l);
  return detail::gradient_node(x, iy, ic, l);
}
template <class Y, class X, class C, why Reason = vjp_why<Y, X, C>>
  requires(detail::wrong(Reason))
mistake<Reason> vjp(const Y&, const X&, const C&) KILN_MISTAKE(KILN_REASONS_GRADIENT);

// jvp(y, x, v): the derivative of y along the direction v of x, of y's type. v has x's type, or one more leading axis: K
// directions, one result for each. Along directions of several values: jvp(y, wrt(a, va), wrt(b, vb)).
template <class X, class V>
inline constexpr why direction_why = detail::check_direction<X, V>();
template <class X, class V>
  requires(direction_why<X, V> == why::ok)
constexpr auto wrt(const X& x, const V& v, sloc l = sloc::current()) {
  return detail::direction(x, v, l);
}
template <class X, class V, why Reason = direction_why<X, V>>
  requires(detail::wrong(Reason))
mistake<Reason> wrt(const X&, const V&) KILN_MISTAKE(KILN_REASONS_GRADIENT);

template <class Y, class X, class V>
inline constexpr why jvp_why = !Operand<Y> && !Operand<X> && !Operand<V> ? why::not_ours
                               : detail::wrong(detail::smooth_why<Y>())  ? detail::smooth_why<Y>()
                                                                         : direction_why<X, V>;
template <class Y, class X, class V>
  requires(jvp_why<Y, X, V> == why::ok)
constexpr auto jvp(const Y& y, const X& x, const V& v, sloc l = sloc::current()) {
  return detail::tangent(y, detail::direction(x, v, l));
}
template <class Y, class X, class V, why Reason = jvp_why<Y, X, V>>
  requires(detail::wrong(Reason))
mistake<Reason> jvp(const Y&, const X&, const V&) KILN_MISTAKE(KILN_REASONS_GRADIENT);
template <class Y, class N, class... More>
  requires(detail::check_jvp<Y, N, More...>() == why::ok)
constexpr auto jvp(const Y& y, const direction_<N>& first, const direction_<More>&... more) {
  return detail::tangent(y, first, more...);
}
template <class Y, class N, class... More, why Reason = detail::check_jvp<Y, N, More...>()>
  requires(detail::wrong(Reason))
mistake<Reason> jvp(const Y&, const direction_<N>&, const direction_<More>&...) KILN_MISTAKE(KILN_REASONS_GRADIENT);

// hvp(y, x, v): the second derivatives of the scalar y times the direction v, of x's type; v as in jvp.
template <class Y, class X, class V>
inline constexpr why hvp_why = gradient_why<Y, X> != why::ok ? gradient_why<Y, X> : direction_why<X, V>;
template <class Y, class X, class V>
  requires(hvp_why<Y, X, V> == why::ok)
constexpr auto hvp(const Y& y, const X& x, const V& v, sloc l = sloc::current()) {
  const auto g = grad(y, x, l);
  return jvp(g, x, v, l);
}
template <class Y, class X, class V, why Reason = hvp_why<Y, X, V>>
  requires(detail::wrong(Reason))
mistake<Reason> hvp(const Y&, const X&, const V&) KILN_MISTAKE(KILN_REASONS_GRADIENT);

namespace detail {

template <class Y, class X>
constexpr why check_laplacian() {
  if constexpr (!Operand<Y> && !Operand<X>) {
    return why::not_ours;
  } else {
    if (detail::wrong(detail::smooth_why<Y>())) return detail::smooth_why<Y>();
    if (detail::wrong(detail::smooth_why<X>())) return detail::smooth_why<X>();
    if (!std::is_same_v<dtype_of<Y>, dtype_of<X>>) return why::dtypes_differ__write_cast_or_sum_and_matmul_of_a_dtype;
    const record::shape &y = *shape_v<shape_of<Y>>, &x = *shape_v<shape_of<X>>;
    bool fits = y.rank < x.rank;
    for (int i = 0; i < y.rank && fits; ++i) fits = detail::same(y.extents[i], x.extents[i]);
    for (int i = y.rank; i < x.rank && fits; ++i) fits = x.extents[i].text == nullptr;
    return fits ? why::ok : why::laplacian_is_of_a_value_with_the_first_axes_of_x__write_sum_of_the_others;
  }
}

}  // namespace detail

// laplacian(y, x): the sum of second derivatives of y by the axes of x that y lacks, of y's type. y[N] and x[N, 3]: for each of
// N points the sum over its three coordinates. Element i of y depends on x(i) only.
template <class Y, class X>
inline constexpr why laplacian_why = detail::check_laplacian<Y, X>();
template <class Y, class X>
  requires(laplacian_why<Y, X> == why::ok)
constexpr auto laplacian(const Y& y, const X& x, sloc l = sloc::current()) {
  detail::check_gradient_size<shape_of<X>>(x.b, l);
  const int iy = y.read_(l), ix = x.read_(l);
  return expr_<dtype_of<Y>, shape_of<Y>>(y.b, detail::node2<dtype_of<Y>, shape_of<Y>>(y.b, op::laplacian, l, iy, ix));
}
template <class Y, class X, why Reason = laplacian_why<Y, X>>
  requires(detail::wrong(Reason))
mistake<Reason> laplacian(const Y&, const X&) KILN_MISTAKE(KILN_REASONS_GRADIENT);

}  // namespace kiln::dsl
